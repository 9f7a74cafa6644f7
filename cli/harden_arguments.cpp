#include <CLI/CLI.hpp>

#include "cli/weak_arguments.h"

namespace barracuda::cli {
namespace {

constexpr const char* kFooter =
    "A run fails as for expose. Runs on the emulated device; with --device gpu on the GPU, in the\n"
    "environments in which the program fails most without any fence. What is found is "
    "empirically,\n"
    "not formally, right: no run failed with it.\n"
    "Exit status: 66 a fence is missing, no fences cure the program, or it fails without delays;\n"
    "0 none is missing in so many runs; 67 no kernel ran, or the time was over; 64 bad option;\n"
    "126, 127 the program could not be started.\n"
    "\n"
    "  barracuda harden -- ./app input.dat\n"
    "  barracuda harden --stores-only --stable 2000 --fences app.fences -- ./app\n"
    "  barracuda harden --device gpu --stress --time 1h -- ./app\n"
    "  barracuda run --fences app.fences -- ./app     with the fences that were found\n";

class HardenParser : public WeakParser<HardenCommand> {
 public:
  HardenParser() : WeakParser(kHardenDescription, kFooter, "harden") {
    const auto number = CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000});
    app_.add_option("--iterations", command_.iterations,
                    "runs behind each answer; doubled when the result was not stable")
        ->check(number)
        ->capture_default_str();
    app_.add_option("--stable", command_.stable, "runs without a failure behind the result")
        ->check(number)
        ->capture_default_str();
    app_.add_flag("--keep-fences", command_.keep_fences,
                  "leave the program's own fences, and do not ask whether they are needed");
    app_.add_flag("--stress", command_.stress,
                  "on a GPU: the environments are those of expose --stress, not delayed stores "
                  "alone");
    app_.add_option("--jobs", command_.jobs, "runs at a time (default: one a core; on a GPU 4)")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{64}));
    app_.add_flag("--cost", command_.cost,
                  "what kernels execute, or on a GPU their time and energy, without fences, with "
                  "its own, with all and with those that are kept");
    app_.add_option("--fences", command_.fences, "file for the result, as run --fences takes it");
  }
};

}  // namespace

Command parse_harden(const std::vector<std::string>& words,
                     const std::string& environment_options) {
  return HardenParser().parse(words, environment_options);
}

}  // namespace barracuda::cli
