#include "cli/version.h"

#include <string_view>

#include <fmt/format.h>

#include "cli/commit.h"  // cmake/write_commit.cmake

namespace barracuda::cli {

std::string version_text() {
  constexpr std::string_view kCompiler = BARRACUDA_PTX_COMPILER_VERSION;
  return fmt::format(
      "barracuda {}\n"
      "commit {}\n"
      "built with CUDA {}, {}\n"
      "for programs of CUDA 11, 12 and 13; the emulated device is as CUDA 11.8, 12.9 and 13.0\n",
      BARRACUDA_VERSION, BARRACUDA_COMMIT, BARRACUDA_CUDA_VERSION,
      kCompiler.empty() ? "without a PTX compiler" : fmt::format("PTX compiler {}", kCompiler));
}

}  // namespace barracuda::cli
