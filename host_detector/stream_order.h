// Which launches are over before a launch starts: stream order, events, synchronising calls and the
// rules of the legacy default stream (CUDA Programming Guide, "Implicit synchronization"). All host
// threads count as one: an order that one host thread established holds for launches of the others.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <boost/container_hash/hash.hpp>

#include "host_detector/copy.h"

namespace barracuda::detector {

// Of which kind, and which of them: what the program has a handle for is named by that.
template <typename KindOf>
struct NumberedKey {
  using Kind = KindOf;
  std::uint64_t number = 0;
  Kind kind = Kind::kHandle;

  friend bool operator==(const NumberedKey&, const NumberedKey&) = default;

  friend std::size_t hash_value(const NumberedKey& key) {
    auto seed = static_cast<std::size_t>(key.kind);
    boost::hash_combine(seed, key.number);
    return seed;
  }
};

enum class StreamKind : std::uint8_t {
  kHandle,     // 0: the legacy default stream
  kPerThread,  // a thread's own default stream
  kGraphStep,  // of a launch of a graph, whose steps run beside each other
};

using StreamKey = NumberedKey<StreamKind>;
inline constexpr StreamKey kLegacyStream{};

enum class EventKind : std::uint8_t {
  kHandle,
  kGraphBegin,  // of the graph that is being launched
  kGraphStep,   // one of its steps is over
  kGraphEnd,    // the last launch of an executable graph is over
  kValue,       // a stream has written a value into memory, for others to wait for
};

using EventKey = NumberedKey<EventKind>;

// What CopyInfo must hold of the order of a copy.
struct CopyOrder {
  CopyId id{};
  std::vector<WorkId> ordered_after, host_waited;
};

// What LaunchInfo must hold of the order of a programmatic launch.
struct ProgrammaticOrder {
  std::vector<WorkId> ordered_after;
  LaunchId prerequisite{};
  WorkId prerequisite_over;
};

class StreamOrder {
 public:
  StreamOrder();
  ~StreamOrder();
  StreamOrder(const StreamOrder&) = delete;
  StreamOrder& operator=(const StreamOrder&) = delete;

  void create_stream(StreamKey stream, bool non_blocking);
  void destroy_stream(StreamKey stream);
  // What LaunchInfo::ordered_after must hold for a launch, or a copy that shares no number, put
  // into `stream` now.
  std::vector<WorkId> launch(StreamKey stream, WorkId id);
  // The same for a programmatic one; `fresh` is the number that its prerequisite's end may have. It
  // has a prerequisite if a kernel was the last that came into its stream and may still run.
  ProgrammaticOrder launch_programmatic(StreamKey stream, LaunchId id, CopyId fresh);
  // A kernel that is not checked was put into `stream`. It orders others: in the legacy stream it
  // stands between those of blocking streams.
  void launch_unknown(StreamKey stream);
  // For a copy put into `stream` now; `fresh` is its number, unless it can share that of the copies
  // just before it.
  CopyOrder copy(StreamKey stream, CopyId fresh);
  [[nodiscard]] const std::vector<WorkId>& host_waited() const;
  // The host has waited for it.
  [[nodiscard]] bool host_waited_for(WorkId work) const;
  // As LaunchOrder says, of what was put into streams.
  [[nodiscard]] bool is_before(WorkId first, WorkId second) const;
  [[nodiscard]] bool is_after_all(WorkId work) const;
  void record_event(EventKey event, StreamKey stream);
  void wait_event(StreamKey stream, EventKey event);
  void synchronize_stream(StreamKey stream);
  void synchronize_event(EventKey event);
  // The event will not be waited for any more.
  void forget_event(EventKey event);
  void synchronize_device();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace barracuda::detector
