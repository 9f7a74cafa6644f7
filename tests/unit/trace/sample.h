// Events and traces to test with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "trace/event.h"

namespace barracuda::trace {

// Any event, every field of it random.
class RandomEvents {
 public:
  explicit RandomEvents(std::uint64_t seed) : random_(seed) {}

  Event next();

 private:
  std::mt19937_64 random_;
  std::vector<std::byte> record_;  // what the last event's span points to
};

std::vector<std::byte> encoded(const Event& event);

inline constexpr std::uint32_t kProcess = 4711;

// The events of a process in which two warps write one word without order. Without an end.
std::vector<Event> race_events();
RunEnd race_end();

// Writes them as one stream, `events_in_block` to a block (0: as many as fit).
void write_trace(const std::string& path, const std::vector<Event>& events,
                 std::size_t events_in_block);

}  // namespace barracuda::trace
