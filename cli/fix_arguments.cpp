#include <CLI/CLI.hpp>

#include "cli/weak_arguments.h"

namespace barracuda::cli {
namespace {

constexpr const char* kFooter =
    "Runs the program on the emulated device with several schedules, tries edits for each race "
    "that\n"
    "is found, keeps those without which a race comes back, and runs the repaired program with "
    "late\n"
    "stores and stale loads.\n"
    "Exit status: 66 there is something to be fixed; 0 no race was found; 67 no kernel ran, or "
    "the\n"
    "time was over, or it was interrupted; 64 bad option; 126, 127 the program could not be "
    "started.\n"
    "\n"
    "  barracuda fix -- ./app input.dat\n"
    "  barracuda fix --diff app.patch -- ./app     patch -p0 < app.patch\n"
    "  barracuda fix --write -- ./app              edits the source files themselves\n";

class FixParser : public WeakParser<FixCommand> {
 public:
  FixParser() : WeakParser(kFixDescription, kFooter, "fix") {
    app_.add_option("--seeds", command_.seeds, "schedules behind each answer")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1000}))
        ->capture_default_str();
    app_.add_option("--per-race", command_.per_race,
                    "runs with late stores and stale loads for each race, before and after")
        ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1'000'000}))
        ->capture_default_str();
    app_.add_option("--diff", command_.diff, "write the changes of the source to this file");
    app_.add_flag("--write", command_.write, "change the source files themselves");
    app_.add_option("--ptx", command_.ptx_folder,
                    "write the repaired program's PTX into this folder");
    app_.add_option("--litmus", command_.litmus,
                    "write the slice of a race, before and after, as litmus tests: to this file "
                    "and its .repaired, or of each race into this folder (NAME/)");
    app_.add_flag("--no-barriers", command_.no_barriers,
                  "no edits that make the threads of a block wait");
  }
};

}  // namespace

Command parse_fix(const std::vector<std::string>& words, const std::string& environment_options) {
  return FixParser().parse(words, environment_options);
}

}  // namespace barracuda::cli
