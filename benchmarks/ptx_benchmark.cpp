// How fast the PTX front end is: parse, print, and all of parse + instrument + print, in MB/s of
// input, best of several rounds. Usage: barracuda.benchmark.ptx [--rounds N] FILE.ptx …
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "ptx/instrument.h"
#include "ptx/parse.h"
#include "ptx/print.h"

namespace {

using namespace barracuda;  // NOLINT(google-build-using-namespace)

constexpr int kDefaultRounds = 5;

[[noreturn]] void fail(const Diagnostic& problem) {
  fmt::print(stderr, "{}\n", problem.to_string());
  std::exit(1);
}

ptx::Module parsed(const std::string& text) {
  auto module = ptx::parse(text);
  if (!module) {
    fail(module.error());
  }
  return std::move(*module);
}

double best_seconds(int rounds, const std::function<void()>& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count());
  }
  return best;
}

void measure(const std::string& path, int rounds) {
  auto text = read_file(path);
  if (!text) {
    fail(text.error());
  }
  while (text->ends_with('\0')) {
    text->pop_back();
  }
  const double megabytes = static_cast<double>(text->size()) / 1e6;
  const double parse = best_seconds(rounds, [&] { (void)parsed(*text); });
  const ptx::Module module = parsed(*text);
  const double print = best_seconds(rounds, [&] { (void)ptx::print(module); });
  std::uint32_t logged = 0;
  std::uint32_t instructions = 0;
  const double whole = best_seconds(rounds, [&] {
    std::vector<ptx::Module> units;
    units.push_back(parsed(*text));
    auto instrumented = ptx::instrument(std::move(units), {});
    if (!instrumented) {
      fail(instrumented.error());
    }
    logged = instrumented->logged_instructions;
    instructions = instrumented->instructions;
  });
  fmt::print("{:<40} {:>8.2f} {:>10.1f} {:>10.1f} {:>12.1f} {:>9} of {}\n",
             path.substr(path.size() - std::min<std::size_t>(path.size(), 40)), megabytes,
             megabytes / parse, megabytes / print, megabytes / whole, logged, instructions);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc);
  int rounds = kDefaultRounds;
  if (files.size() >= 2 && files.front() == "--rounds") {
    rounds = std::max(1, std::atoi(files[1].c_str()));
    files.erase(files.begin(), files.begin() + 2);
  }
  if (files.empty()) {
    fmt::print(stderr, "usage: {} [--rounds N] FILE.ptx …\n", argv[0]);
    return 64;
  }
  fmt::print("{:<40} {:>8} {:>10} {:>10} {:>12} {:>9}\n", "file", "MB", "parse MB/s", "print MB/s",
             "whole MB/s", "logged instructions");
  for (const std::string& file : files) {
    measure(file, rounds);
  }
  return 0;
}
