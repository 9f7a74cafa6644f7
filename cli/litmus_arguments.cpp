#include <utility>

#include <CLI/CLI.hpp>

#include "cli/command_parsers.h"

namespace barracuda::cli {
namespace {

constexpr const char* kLitmusFooter =
    "Beside each outcome stands whether PTX allows it. On a GPU other blocks disturb memory\n"
    "meanwhile, as `barracuda tune` has found it to show most; on the emulated device stores are\n"
    "delayed, loads stale and late.\n"
    "Exit status: 66 an outcome that PTX forbids was seen; 0 none was; 67 there is no GPU, or it\n"
    "was interrupted; 64 bad option, file or test.\n"
    "\n"
    "  barracuda litmus tests/litmus/ptx/mp_*.litmus\n"
    "  barracuda litmus --device gpu --stress none --launches 1000 mp.litmus\n";

constexpr const char* kTuneFooter =
    "Runs message passing, load buffering and store buffering between random pairs of\n"
    "multiprocessors, by the distance of the two locations and by what the other blocks do. The\n"
    "result is kept for this GPU and driver, and litmus uses it.\n"
    "Exit status: 0; 67 there is no GPU, or the time was over; 64 bad option.\n";

}  // namespace

Command parse_litmus(const std::vector<std::string>& words, const std::string& /*environment*/) {
  constexpr std::uint32_t kMost = 1'000'000, kFarthest = 65'536;
  CLI::App app(kLitmusDescription, "litmus");
  LitmusCommand command;
  app.set_help_flag("--help,-h", "print this help");
  app.footer(kLitmusFooter);
  app.add_option("FILE", command.files, "litmus tests")->required();
  app.add_option("--device", command.device, "auto, gpu, or cpu: the emulated device")
      ->check(CLI::IsMember({"auto", "gpu", "cpu"}))
      ->capture_default_str();
  app.add_option("--iterations", command.iterations,
                 "of a launch (default: 1000, emulated device 50)")
      ->check(CLI::Range(1U, kMost));
  app.add_option("--launches", command.launches, "(default: 100, emulated device 20)")
      ->check(CLI::Range(1U, kMost));
  app.add_option("--distance", command.distance, "words between two locations (default: as tuned)")
      ->check(CLI::Range(1U, kFarthest));
  app.add_option("--stress", command.stress,
                 "GPU: what other blocks do: tuned, none, random, systematic, cache")
      ->check(CLI::IsMember({"tuned", "none", "random", "systematic", "cache"}))
      ->capture_default_str();
  app.add_flag("--no-delays", command.no_delays, "emulated device: memory is not weak");
  app.add_option("--seed", command.seed, "of all that is drawn")->capture_default_str();
  app.add_option("--json", command.json, "write results as JSON Lines to this file");
  if (auto message = parse_flags(app, words)) {
    return *std::move(message);
  }
  return command;
}

Command parse_tune(const std::vector<std::string>& words, const std::string& /*environment*/) {
  constexpr std::uint64_t kMostSeconds = 1'000'000;
  CLI::App app(kTuneDescription, "tune");
  TuneCommand command;
  app.set_help_flag("--help,-h", "print this help");
  app.footer(kTuneFooter);
  app.add_option("--time", command.time, "seconds that it may take")
      ->check(CLI::Range(std::uint64_t{1}, kMostSeconds))
      ->capture_default_str();
  app.add_flag("--full", command.full, "sequences of up to five accesses, five times as many runs");
  app.add_option("--seed", command.seed, "of all that is drawn")->capture_default_str();
  app.add_option("--out", command.out, "file for the parameters (default: where litmus looks)");
  app.add_option("--csv", command.csv, "write every point to this file");
  if (auto message = parse_flags(app, words)) {
    return *std::move(message);
  }
  return command;
}

}  // namespace barracuda::cli
