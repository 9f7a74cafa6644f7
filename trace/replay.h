// A trace → what a report is made of, by giving a detector again what the live one was given.
// Needs neither a device nor the program. The same options give the same findings.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/expected.h"
#include "host_detector/detector.h"
#include "report/run_data.h"
#include "trace/event.h"
#include "trace/reader.h"

namespace barracuda::trace {

struct ReplayedProcess {
  std::uint32_t process = 0;
  report::RunData run;  // what is missing in the trace is one of its problems
};

struct Replayed {
  std::vector<ReplayedProcess> processes;  // by number, as `run` merges them
  std::optional<ProgramEnded> program;     // if it was recorded under `run`
  bool was_stopped = false;                // by `progress`
};

// Hears how much of the file has been replayed; false stops.
using Progress = std::function<bool(std::uint64_t bytes)>;

// The options of the recorded run. Errors: nothing in the file says them, or its records have
// another form than this version reads.
Expected<RunOptions> recorded_options(const Reader& reader);

// Errors: a process whose records have another form.
Expected<Replayed> replay(const Reader& reader, const detector::DetectorOptions& options,
                          const Progress& progress);

}  // namespace barracuda::trace
