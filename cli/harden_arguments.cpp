#include "cli/harden_arguments.h"

#include <CLI/CLI.hpp>

#include "cli/weak_arguments.h"

namespace barracuda::cli {
namespace {

constexpr const char* kFooter =
    "A run fails as for expose. Runs on the emulated device. What is found is empirically, not\n"
    "formally, right: no run failed with it.\n"
    "Exit status: 66 a fence is missing, no fences cure the program, or it fails without delays;\n"
    "0 none is missing in so many runs; 67 no kernel ran, or the time was over; 64 bad option;\n"
    "126, 127 the program could not be started.\n"
    "\n"
    "  barracuda harden -- ./app input.dat\n"
    "  barracuda harden --stores-only --stable 2000 --fences app.fences -- ./app\n"
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
    app_.add_flag(
        "--cost", command_.cost,
        "count what kernels execute without fences, with all and with those that are kept");
    app_.add_option("--fences", command_.fences, "file for the result, as run --fences takes it");
  }
};

}  // namespace

Command parse_harden(const std::vector<std::string>& words,
                     const std::string& environment_options) {
  return HardenParser().parse(words, environment_options);
}

}  // namespace barracuda::cli
