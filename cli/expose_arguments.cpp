#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/number_text.h"
#include "cli/weak_arguments.h"

namespace barracuda::cli {
namespace {

constexpr const char* kFooter =
    "A run fails if it crashes, meets a CUDA error, hangs, ends with another status, fails the "
    "check\n"
    "or prints something else than the runs without delays. Runs on the emulated device; with\n"
    "--device gpu on the GPU, where the program is rewritten and answers are rates of runs.\n"
    "Exit status: 66 a failure was exposed, or the program fails without delays; 0 no failure in "
    "so\n"
    "many runs, which does not mean that the program is correct; 67 no kernel ran, or the time "
    "was\n"
    "over; 64 bad option; 126, 127 the program could not be started.\n"
    "\n"
    "  barracuda expose -- ./app input.dat\n"
    "  barracuda expose --check 'cmp %o expected.txt' --runs 200 -- ./app\n"
    "  barracuda run --weakness app.weakness -- ./app     the same failure again\n";

std::optional<std::vector<double>> probabilities_of(std::string_view text) {
  std::vector<double> all;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto value = parse_number<double>(text.substr(0, comma));
    if (!value || !(*value > 0 && *value <= 1)) {
      return std::nullopt;
    }
    all.push_back(*value);
    if (comma == text.size()) {
      return all;
    }
    text.remove_prefix(comma + 1);
  }
}

class ExposeParser : public WeakParser<ExposeCommand> {
 public:
  ExposeParser() : WeakParser(kExposeDescription, kFooter, "expose") {
    const auto number = CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000});
    app_.add_option("--runs", command_.runs, "runs of each random stage")
        ->check(number)
        ->capture_default_str();
    app_.add_option("--p", probabilities_, "probabilities of the random stages, in turn")
        ->capture_default_str();
    app_.add_option("--per-race", command_.per_race, "directed runs for each race, at most")
        ->check(number)
        ->capture_default_str();
    app_.add_option("--plan", command_.plan,
                    "file for the plan that repeats the failure (default: PROGRAM.weakness)");
    app_.add_flag("--random", command_.random, "no runs that races direct");
    app_.add_flag("--stress", command_.stress,
                  "on a GPU: stress memory and shuffle blocks, too, --runs of each environment");
    app_.add_flag("--all", command_.all, "go on after the first failure");
    app_.add_flag("--no-root-cause", command_.no_root_cause, "do not look for the missing fence");
    app_.add_flag("--flush-lengths", command_.flush_lengths,
                  "print how many drains found how many stores");
  }

  Command parse(const std::vector<std::string>& words, const std::string& environment_options) {
    if (auto message = common_.parse(words, environment_options)) {
      return *std::move(message);
    }
    auto probabilities = probabilities_of(probabilities_);
    if (!probabilities) {
      return common_.error(
          fmt::format("--p={}: probabilities are above 0 and at most 1, with commas between them",
                      probabilities_));
    }
    command_.probabilities = std::move(*probabilities);
    return command_;
  }

 private:
  std::string probabilities_ = "1,0.75,0.5,0.25";
};

}  // namespace

Command parse_expose(const std::vector<std::string>& words,
                     const std::string& environment_options) {
  return ExposeParser().parse(words, environment_options);
}

}  // namespace barracuda::cli
