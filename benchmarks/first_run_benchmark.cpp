// What a first run waits for: seconds of NVIDIA's compiler for a module with the tool's
// instrumentation, as a whole and kernel by kernel (docs/decisions/split-modules.md).
//   barracuda.benchmark.first_run COMPILER ARCHITECTURE PTX-FILE [KERNELS]
// COMPILER is barracuda-compiler, ARCHITECTURE sm_90 or another; of KERNELS kernels (16) the parts
// are compiled. One thread compiles at a time.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "jit/compiler.h"
#include "ptx/instrument.h"
#include "ptx/parse.h"
#include "ptx/split.h"

namespace barracuda {
namespace {

template <typename Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <typename T>
T value_of(Expected<T> made) {
  if (!made) {
    std::fprintf(stderr, "%s\n", made.error().to_string().c_str());
    std::exit(EXIT_FAILURE);
  }
  return std::move(*made);
}

class Benchmark {
 public:
  Benchmark(std::string compiler, const std::string& architecture)
      : compiler_(std::move(compiler)), flags_{"--gpu-name=" + architecture} {}

  // Of one text; says so where it is not compiled.
  [[nodiscard]] double compile(const std::string& text) const {
    jit::Compilation compilation;
    const double seconds = seconds_of([&] { compilation = compiler_.compile(text, flags_, 1); });
    if (compilation.verdict != jit::Verdict::kCompiled) {
      std::printf("NOT COMPILED: %s\n", compilation.message.c_str());
    }
    return seconds;
  }

  void run(const std::string& text, std::size_t wanted) const {
    std::vector<ptx::Module> units;
    units.push_back(value_of(ptx::parse(text)));
    ptx::InstrumentedModule made;
    const double instrumented =
        seconds_of([&] { made = value_of(ptx::instrument(std::move(units), {})); });
    const auto start = std::chrono::steady_clock::now();
    const auto divided = value_of(ptx::SplitModule::read(made.text));
    const std::string base = divided->base();
    const std::chrono::duration<double> split = std::chrono::steady_clock::now() - start;
    std::printf("%zu kernels, %zu by themselves, %.2f MB of PTX, %.2f with the tool's\n",
                made.kernels.size(), divided->part_count(), static_cast<double>(text.size()) / 1e6,
                static_cast<double>(made.text.size()) / 1e6);
    std::printf("instrumented in %.3f s, taken apart in %.3f s\n", instrumented, split.count());
    std::printf("without the tool %.2f s, as a whole %.2f s, base %.2f s\n", compile(text),
                compile(made.text), compile(base));
    double all = 0, most = 0;
    std::size_t count = 0;
    for (const ptx::Kernel& kernel : made.kernels) {
      if (divided->has_part(kernel.name) && count < wanted) {
        const double seconds = compile(divided->part(kernel.name).text);
        all += seconds;
        most = std::max(most, seconds);
        ++count;
      }
    }
    std::printf("%zu kernels by themselves %.2f s, the slowest %.2f s\n", count, all, most);
  }

 private:
  jit::Compiler compiler_;
  std::vector<std::string> flags_;
};

}  // namespace
}  // namespace barracuda

int main(int count, char** values) {
  using namespace barracuda;  // NOLINT(google-build-using-namespace): main has no other place
  const std::span arguments(values, static_cast<std::size_t>(count));
  if (count < 4) {
    std::fprintf(stderr, "usage: %s COMPILER ARCHITECTURE PTX-FILE [KERNELS]\n", arguments[0]);
    return EXIT_FAILURE;
  }
  const std::size_t kernels = count > 4 ? std::stoul(arguments[4]) : 16;
  Benchmark(arguments[1], arguments[2]).run(value_of(read_file(arguments[3])), kernels);
  return EXIT_SUCCESS;
}
