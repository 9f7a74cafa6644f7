// Which launches are over before a launch starts: stream order, events, synchronising calls and the
// rules of the legacy default stream (CUDA Programming Guide, "Implicit synchronization"). All host
// threads count as one: an order that one host thread established holds for launches of the others.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host_detector/copy.h"

namespace barracuda::detector {

enum class StreamKey : std::uint64_t {};  // the handle; kLegacyStream and kPerThreadStream are ours
enum class EventKey : std::uint64_t {};
inline constexpr StreamKey kLegacyStream{0};

// What CopyInfo must hold of the order of a copy.
struct CopyOrder {
  LaunchId id{};
  std::vector<LaunchId> ordered_after, host_waited;
};

// What LaunchInfo must hold of the order of a programmatic launch.
struct ProgrammaticOrder {
  std::vector<LaunchId> ordered_after;
  LaunchId prerequisite{}, prerequisite_over{};
};

class StreamOrder {
 public:
  StreamOrder();
  ~StreamOrder();
  StreamOrder(const StreamOrder&) = delete;
  StreamOrder& operator=(const StreamOrder&) = delete;

  void create_stream(StreamKey stream, bool non_blocking);
  void destroy_stream(StreamKey stream);
  // What LaunchInfo::ordered_after must hold for a launch put into `stream` now.
  std::vector<LaunchId> launch(StreamKey stream, LaunchId id);
  // The same for a programmatic one; `fresh` is the number that its prerequisite's end may have. It
  // has a prerequisite if a kernel was the last that came into its stream and may still run.
  ProgrammaticOrder launch_programmatic(StreamKey stream, LaunchId id, LaunchId fresh);
  // A kernel that nobody looks after was put into `stream`.
  void launch_unknown(StreamKey stream);
  // For a copy put into `stream` now; `fresh` is its number, unless it can share that of the copies
  // just before it.
  CopyOrder copy(StreamKey stream, LaunchId fresh);
  [[nodiscard]] const std::vector<LaunchId>& host_waited() const;
  void record_event(EventKey event, StreamKey stream);
  void wait_event(StreamKey stream, EventKey event);
  void synchronize_stream(StreamKey stream);
  void synchronize_event(EventKey event);
  // Nobody will wait for it any more.
  void forget_event(EventKey event);
  void synchronize_device();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace barracuda::detector
