// The order between launches that streams, events and synchronising calls give, and the numbers
// that streams have in reports. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "base/value_wait.h"
#include "host_detector/stream_order.h"
#include "session/device_driver.h"

namespace barracuda::session {

// One node of a graph launch, in an order in which dependencies stand before dependents.
struct GraphStep {
  detector::WorkId work;                  // none: neither a copy nor a kernel that is checked
  std::vector<std::size_t> dependencies;  // indices of earlier steps
  // Events of the program's that it waits for before it begins, or records when it is over.
  Handle waits_for{}, records{};
};

// Of the steps of a graph launch.
struct GraphOrder {
  std::vector<std::vector<detector::WorkId>> after;  // what each is ordered after
  // Each work comes after all that had begun, those before it in the graph too.
  bool is_chain = true;
};

// CU_STREAM_PER_THREAD.
inline constexpr Handle kPerThreadHandle{2};

class StreamTracker {
 public:
  // The stream that a handle means to this thread. 0 is the legacy default stream.
  detector::StreamKey key_of(Handle stream);

  void created(Handle stream, bool non_blocking);
  void destroyed(Handle stream);
  void event_recorded(Handle event, detector::StreamKey stream);
  void event_waited(detector::StreamKey stream, Handle event);
  void value_written(detector::StreamKey stream, std::uint64_t address, std::uint64_t value);
  // What comes into the stream is ordered after all the writes so far that may end the wait. False
  // if there is none: what it waits for is not known.
  [[nodiscard]] bool value_awaited(detector::StreamKey stream, const ValueWait& wait);
  void stream_synchronized(detector::StreamKey stream);
  void event_synchronized(Handle event);
  void event_forgotten(Handle event);
  void device_synchronized();

  std::vector<detector::WorkId> launch(detector::StreamKey stream, detector::WorkId id);
  detector::ProgrammaticOrder launch_programmatic(detector::StreamKey stream, detector::LaunchId id,
                                                  detector::CopyId fresh);
  // Notes whether the next kernel of a stream may let others begin before it is over, and returns
  // whether the one before it may: of one that is not known, true.
  bool lets_dependents_begin(detector::StreamKey stream, bool next);
  // A kernel that is not checked.
  void launch_unchecked(detector::StreamKey stream);
  detector::CopyOrder copy(detector::StreamKey stream, detector::CopyId fresh);
  // What the host has waited for so far.
  std::vector<detector::WorkId> host_waited();
  // Replays of one executable graph follow each other whatever their streams; the number of one is
  // never used again.
  GraphOrder graph_launch(detector::StreamKey stream, std::uint64_t executable,
                          std::span<const GraphStep> steps);

  // Whether what has been put into streams so far makes it likely that everything to come is
  // ordered after what is put into this one: all of it was put into streams that wait for each
  // other.
  [[nodiscard]] bool has_no_rival(detector::StreamKey stream) const;
  // The same guess from what the program does: for some time no stream was created, and each work
  // came after all that had begun before it.
  [[nodiscard]] bool is_sequential() const;
  // So far, without those of graphs' steps.
  [[nodiscard]] std::uint64_t streams_created() const;
  // Every other work that has begun was over before this.
  [[nodiscard]] bool is_after_all(detector::WorkId work) const;
  [[nodiscard]] bool is_before(detector::WorkId first, detector::WorkId second) const;
  // The host has waited for it, and so everything that begins from now on comes after it.
  [[nodiscard]] bool host_waited_for(detector::WorkId work) const;

  // 0 is the default stream.
  [[nodiscard]] std::uint64_t number_of(detector::StreamKey stream) const;

 private:
  // Something is put into it. The lock is held.
  void use(detector::StreamKey stream) {
    uses_legacy_ = uses_legacy_ || stream == detector::kLegacyStream;
  }

  // The same of what has a number.
  void use(detector::StreamKey stream, detector::WorkId work) {
    use(stream);
    last_[stream] = work;
  }

  // It has its place in the order. The lock is held.
  void placed(detector::WorkId work) {
    in_sequence_ = order_.is_after_all(work) ? in_sequence_ + 1 : 0;
  }

  // One of the values that streams have written to an address, the last ones.
  struct WrittenValue {
    std::uint64_t value = 0, event = 0;
  };

  std::uint64_t add_stream(detector::StreamKey stream, bool non_blocking);

  mutable std::mutex mutex_;
  detector::StreamOrder order_;
  boost::unordered_flat_map<detector::StreamKey, std::uint64_t> numbers_;
  std::uint64_t next_number_ = 1;
  boost::unordered_flat_map<detector::StreamKey, detector::WorkId> last_;  // of those with a number
  boost::unordered_flat_set<detector::StreamKey> lets_none_begin_;  // so does the last kernel
  boost::unordered_flat_map<std::uint64_t, std::deque<WrittenValue>> written_;  // by address
  std::uint64_t next_value_ = 1;
  std::uint64_t left_behind_ = 0;  // streams destroyed whose work the host had not waited for
  bool has_non_blocking_ = false;  // so far; those of graphs' steps are none of the program's
  bool uses_legacy_ = false;       // so far
  std::uint64_t in_sequence_ = 0;  // works since one was beside another, or a stream was created
};

}  // namespace barracuda::session
