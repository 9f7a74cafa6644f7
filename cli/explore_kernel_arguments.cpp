#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command_parsers.h"

namespace barracuda::cli {
namespace {

constexpr const char* kGroup = "Of kernels (.ptx, .cu, or a program)";

// Split here: a list of CLI11's own would take the files that come next.
void add_extent(CLI::App& explore, const char* name, std::array<std::uint32_t, 3>& extent,
                const char* text) {
  explore
      .add_option_function<std::string>(
          name,
          [&extent, name](const std::string& given) {
            const std::vector<std::string> parts = CLI::detail::split(given, ',');
            for (std::size_t i = 0; i < parts.size(); ++i) {
              if (i >= extent.size() || !CLI::detail::lexical_cast(parts[i], extent.at(i)) ||
                  extent.at(i) == 0) {
                throw CLI::ValidationError(name, "X[,Y[,Z]] is expected, all at least 1");
              }
            }
          },
          text)
      ->type_name("X[,Y[,Z]]")
      ->group(kGroup);
}

}  // namespace

void declare_explore_kernel(CLI::App& explore, ExploredKernel& into) {
  explore.add_option("--kernel", into.kernel, "its name (default: the only one)")->group(kGroup);
  add_extent(explore, "--grid", into.grid, "blocks of the grid (default: 1)");
  add_extent(explore, "--block", into.block, "threads of a block (default: 1)");
  explore.add_option("--shared", into.shared_bytes, "bytes of dynamic shared memory (default: 0)")
      ->group(kGroup);
  explore.add_option("--arg", into.arguments, "a parameter, as barracuda kernel takes it")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->group(kGroup);
  explore
      .add_option_function<std::string>(
          "--threads",
          [&into](const std::string& given) { into.threads = CLI::detail::split(given, ','); },
          "only these threads (default: all that touch memory)")
      ->type_name("BLOCK:THREAD,...")
      ->group(kGroup);
  explore
      .add_option("--exists", into.exists,
                  "whether it may end so: 'out[0]==1 && x[1]!=0'; without it and without --final, "
                  "whether there is a data race")
      ->group(kGroup);
  explore.add_flag("--final", into.shows_all, "all that global memory may hold at the end")
      ->group(kGroup);
  explore
      .add_flag("--races", into.races,
                "look for data races besides; of a litmus test: instead of its condition")
      ->group(kGroup);
}

}  // namespace barracuda::cli
