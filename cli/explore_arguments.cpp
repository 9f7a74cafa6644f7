#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/command_parsers.h"

namespace barracuda::cli {
namespace {

constexpr std::uint64_t kMostStates = 1'000'000'000'000, kMostMemoryMib = 1'000'000'000;

constexpr const char* kExploreFooter =
    "A test is a .litmus file of PTX instructions (docs/MODELS.md). Models: sc, weak, strong (the\n"
    "GPU models of Sorensen's thesis), device (the emulated device with weak memory), ptx-6.0,\n"
    "ptx-7.5; ptx is the newest. A kernel is asked of sc, device and the PTX models, for data "
    "races\n"
    "of the PTX models only. Exit status: 66 a verdict is not the expected one, 67 a bound was "
    "hit,\n"
    "64 a test cannot be read or has what the model has not.\n"
    "\n"
    "  barracuda explore mp.litmus\n"
    "  barracuda explore --compare weak,strong,ptx tests/litmus/thesis/*.litmus\n"
    "  barracuda explore flag.cu --grid 2 --arg 's32[1]=0' --arg 's32[1]=0' --exists 'x[0]==1'\n";

}  // namespace

void declare_explore(CLI::App& explore, ExploreCommand& into) {
  explore.footer(kExploreFooter);
  explore.add_option("FILE", into.files, "a litmus test, or a kernel in PTX, CUDA or a program")
      ->required();
  declare_explore_kernel(explore, into.kernel);
  explore.add_option("--memory-model", into.model, "the memory model (default: ptx)");
  // Split here: a list of CLI11's own would take the files that come next.
  explore
      .add_option_function<std::string>(
          "--compare",
          [&into](const std::string& given) { into.compare = CLI::detail::split(given, ','); },
          "models whose outcomes to put side by side")
      ->type_name("MODEL,MODEL,...");
  explore.add_option("--expect", into.expect,
                     "the verdict that is expected, 0 or 1, or a file of lines FILE,0|1");
  explore.add_option("--dot", into.dot, "write witnesses of PTX for Graphviz to this file");
  explore.add_option("--svg", into.svg,
                     "write witnesses of PTX as a picture to this file; needs Graphviz's dot");
  explore.add_option("--json", into.json, "write results as JSON Lines to this file");
  explore.add_option("--unroll", into.unroll, "how often a loop is taken (default: 4)")
      ->check(CLI::Range(0, 1000));
  explore.add_option("--states", into.states, "states, or executions, at most (10000000)")
      ->check(CLI::Range(std::uint64_t{1}, kMostStates));
  explore.add_option("--time", into.seconds, "seconds at most, for each test (60)")
      ->check(CLI::Range(0.001, 1e6));
  explore.add_option("--memory", into.memory_mib, "MiB at most, of models with states (4096)")
      ->check(CLI::Range(std::uint64_t{1}, kMostMemoryMib));
  explore.add_flag("--exact", into.exact,
                   "keep whole states, not their hashes; of models with states");
  explore.add_flag(
      "--symmetry", into.symmetry,
      "take states for one in which identical threads of a CTA have changed places; of "
      "models with states");
  explore.add_flag("--shortest", into.shortest,
                   "witnesses of the fewest steps, of models with states; needs more memory");
  explore.add_flag("--lockstep", into.lockstep,
                   "the threads of a CTA are one warp in lock step; of sc, weak and strong");
  explore.add_flag("--progress", into.progress,
                   "whether the program always ends, instead of how; alone, of the PTX models");
  explore.add_flag("--dat3m", into.dat3m,
                   "Dat3M's dialect: a location that only accesses name begins as 0");
}

}  // namespace barracuda::cli
