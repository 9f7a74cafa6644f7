#include "trace/replay.h"

#include <algorithm>

#include <fmt/format.h>

#include "device_logger/record.h"
#include "trace/process_replay.h"

namespace barracuda::trace {
namespace {

Expected<void> check_protocol(const StreamBegin& begin) {
  if (begin.protocol != wire::kProtocolVersion) {
    return unexpected(
        {.message = fmt::format("it was recorded by barracuda {}, whose records have version {}; "
                                "this command reads version {}: replay it with that version",
                                begin.tool_version, begin.protocol, wire::kProtocolVersion)});
  }
  return {};
}

// The first event of a stream.
std::optional<Event> first_event(const Reader& reader, const Stream& stream) {
  std::optional<Event> first;
  const auto take = [&first](const Event& event) {
    first = event;
    return false;
  };
  // An error after it is found when the stream is replayed.
  (void)reader.visit(stream, take, {});
  return first;
}

void add_problem(ReplayedProcess& replayed, const StreamBegin& begin, const std::string& why) {
  replayed.run.problems.push_back(fmt::format(
      "the trace of process {} ({}) ends early: {}; what came then is not in this report",
      begin.process, begin.program, why));
}

}  // namespace

Expected<RunOptions> recorded_options(const Reader& reader) {
  for (const Stream& stream : reader.streams()) {
    const auto event = first_event(reader, stream);
    if (!event) {
      continue;
    }
    if (const auto* const program = std::get_if<ProgramEnded>(&*event)) {
      return program->options;
    }
    if (const auto* const begin = std::get_if<StreamBegin>(&*event)) {
      if (const auto checked = check_protocol(*begin); !checked) {
        return unexpected(checked.error());
      }
      return begin->options;
    }
  }
  return unexpected({.message = "nothing in it says how it was recorded"});
}

Expected<Replayed> replay(const Reader& reader, const detector::DetectorOptions& options,
                          const Progress& progress) {
  Replayed all;
  std::uint64_t done = 0;
  const auto at_block = [&](std::uint64_t bytes) {
    done += bytes;
    all.was_stopped = all.was_stopped || (progress && !progress(done));
    return !all.was_stopped;
  };
  for (const Stream& stream : reader.streams()) {
    const auto first = first_event(reader, stream);
    if (first && std::holds_alternative<ProgramEnded>(*first)) {
      all.program = std::get<ProgramEnded>(*first);
      continue;
    }
    ProcessReplay process(options);
    const auto visited =
        reader.visit(stream, [&](const Event& event) { return process.take(event); }, at_block);
    if (all.was_stopped) {
      return all;
    }
    if (const auto& begun = process.begin()) {
      if (const auto checked = check_protocol(*begun); !checked) {
        return unexpected(checked.error());
      }
    }
    const StreamBegin begin = process.begin().value_or(
        StreamBegin{.tool_version = "", .program = "?", .rank = {}, .options = {}});
    ReplayedProcess& replayed =
        all.processes.emplace_back(ReplayedProcess{.process = begin.process, .run = {}});
    replayed.run = process.run_data();
    replayed.run.process = {
        .program = begin.program,
        .pid = begin.process,
        .rank = begin.rank ? std::int64_t{*begin.rank} : report::Process::kNoRank};
    if (!visited) {
      add_problem(replayed, begin, visited.error().message);
    } else if (!process.problem().empty()) {
      add_problem(replayed, begin, process.problem());
    } else if (!process.is_over()) {
      add_problem(replayed, begin,
                  stream.has_gap ? fmt::format("block {} is missing", stream.blocks.size())
                                 : "it has no end, as if the process was killed");
    }
  }
  std::ranges::stable_sort(all.processes, {}, &ReplayedProcess::process);
  return all;
}

}  // namespace barracuda::trace
