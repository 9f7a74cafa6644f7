// How much memory detection takes for each byte that a program touches: replays recorded runs
// (`barracuda run --record`) and prints the most that was held at once beside the bytes of global
// memory, and of all blocks' shared memory, that some thread has touched. Bulk copies do not count.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <variant>

#include "benchmarks/footprint.h"
#include "trace/process_replay.h"
#include "trace/reader.h"

namespace barracuda::trace {
namespace {

// False if the file, or what a process wrote to it, cannot be read to the end.
bool measure(const std::string& path) {
  using detector::allocated_bytes;
  const auto reader = Reader::open(path);
  if (!reader) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), reader.error().message.c_str());
    return false;
  }
  constexpr std::uint64_t kEventsASample = 1024;
  bool is_whole = true;
  for (const Stream& stream : reader->streams()) {
    ProcessReplay process({});
    const double before = allocated_bytes();
    double most = before;
    std::uint64_t events = 0;
    const auto replayed = reader->visit(stream,
                                        [&](const Event& event) {
                                          if (events++ % kEventsASample == 0) {
                                            most = std::max(most, allocated_bytes());
                                          }
                                          return process.take(event);
                                        },
                                        {});
    if (!process.begin()) {
      continue;  // what `barracuda run` itself has written
    }
    if (!replayed || !process.is_over()) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(),
                   !replayed ? replayed.error().message.c_str() : "a process has no end");
      is_whole = false;
      continue;
    }
    detector::Footprint footprint;
    static_cast<void>(
        reader->visit(stream,
                      [&](const Event& event) {
                        if (const auto* const described = std::get_if<SiteDescribed>(&event)) {
                          footprint.add(described->site.info);
                        } else if (const auto* const applied = std::get_if<RecordApplied>(&event)) {
                          footprint.add(applied->launch, applied->record);
                        }
                        return true;
                      },
                      {}));
    const double global = footprint.global_bytes(), shared = footprint.shared_bytes();
    std::printf("%s: %.1f MB for %.2f MB of global and %.2f MB of shared memory: %.1f\n",
                path.c_str(), (most - before) / 1e6, global / 1e6, shared / 1e6,
                (most - before) / std::max(1.0, global + shared));
  }
  return is_whole;
}

}  // namespace
}  // namespace barracuda::trace

int main(int argument_count, char** arguments) {
  bool is_fine = argument_count > 1;
  if (!is_fine) {
    std::fprintf(stderr, "usage: %s TRACE...\n", arguments[0]);
  }
  for (const char* const path :
       std::span(arguments, static_cast<std::size_t>(argument_count)).subspan(1)) {
    is_fine = barracuda::trace::measure(path) && is_fine;
  }
  return is_fine ? 0 : 1;
}
