// The option seeds=N: one program under several schedules of the emulated device, and one report of
// what any of them found. Each run is a `run` of its own in a process of its own, which leaves its
// report in a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "report/race_report.h"

namespace barracuda::cli {

// The schedule of run `number`, from 0, as options: round robin, reversed, then random ones.
Options options_of_run(const Options& options, std::uint64_t number);
// "schedule=reversed", "seed=2".
std::string schedule_of_run(std::uint64_t number);

// What runs of one program found: its kernels are counted once.
report::Report merge_runs(std::vector<report::Report> runs);

enum class SeedOrder : std::uint8_t {
  kOneByOne,  // the runs may write to the same files
  kParallel,
};

// Only `first` has this process's standard streams; what `others` print is shown where one leaves
// no report. The exit status for main.
int run_seeds(const RunCommand& first, const RunCommand& others, SeedOrder order);

}  // namespace barracuda::cli
