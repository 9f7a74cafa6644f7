#include "session/stream_tracker.h"

#include <atomic>

#include "base/assert.h"
#include "base/held_lock.h"
#include "base/strong_id.h"

namespace barracuda::session {
namespace {

using detector::CopyId;
using detector::EventKey;
using detector::LaunchId;
using detector::StreamKey;
using detector::WorkId;

// CU_STREAM_LEGACY.
constexpr Handle kLegacyHandle{1};

// A program that uses several streams to have kernels beside each other does so before long.
constexpr std::uint64_t kLongSequence = 16;

std::uint64_t thread_number() {
  static std::atomic<std::uint64_t> next = 1;
  thread_local const std::uint64_t number = next.fetch_add(1);
  return number;
}

}  // namespace

StreamKey StreamTracker::key_of(Handle stream) {
  const bool per_thread = stream == kPerThreadHandle;
  if (stream == Handle{} || stream == kLegacyHandle) {
    return detector::kLegacyStream;
  }
  const StreamKey key = per_thread ? StreamKey{thread_number(), StreamKey::Kind::kPerThread}
                                   : StreamKey{index_of(stream), StreamKey::Kind::kHandle};
  const HeldLock lock(mutex_);
  if (!numbers_.contains(key)) {
    add_stream(key, false);
  }
  return key;
}

std::uint64_t StreamTracker::add_stream(StreamKey stream, bool non_blocking) {
  ASSERT(stream != detector::kLegacyStream);  // it is number 0
  has_non_blocking_ = has_non_blocking_ || non_blocking;
  in_sequence_ = 0;
  order_.create_stream(stream, non_blocking);
  return numbers_[stream] = next_number_++;
}

void StreamTracker::created(Handle stream, bool non_blocking) {
  const HeldLock lock(mutex_);
  add_stream(StreamKey{index_of(stream)}, non_blocking);
}

void StreamTracker::destroyed(Handle stream) {
  const HeldLock lock(mutex_);
  const StreamKey key{index_of(stream)};
  const auto last = last_.find(key);
  if (last != last_.end()) {
    left_behind_ += order_.host_waited_for(last->second) ? 0 : 1;
    last_.erase(last);
  }
  order_.destroy_stream(key);
  numbers_.erase(key);
}

void StreamTracker::event_recorded(Handle event, StreamKey stream) {
  const HeldLock lock(mutex_);
  order_.record_event(EventKey{index_of(event)}, stream);
}

void StreamTracker::event_waited(StreamKey stream, Handle event) {
  const HeldLock lock(mutex_);
  order_.wait_event(stream, EventKey{index_of(event)});
}

void StreamTracker::value_written(StreamKey stream, std::uint64_t address, std::uint64_t value) {
  constexpr std::size_t kMostValues = 256;  // of an address
  const HeldLock lock(mutex_);
  std::deque<WrittenValue>& values = written_[address];
  if (values.size() == kMostValues) {
    order_.forget_event({values.front().event, EventKey::Kind::kValue});
    values.pop_front();
  }
  values.push_back({.value = value, .event = next_value_++});
  order_.record_event({values.back().event, EventKey::Kind::kValue}, stream);
}

bool StreamTracker::value_awaited(StreamKey stream, const ValueWait& wait) {
  const HeldLock lock(mutex_);
  const auto known = written_.find(wait.address);
  bool is_known = false;
  if (known != written_.end()) {
    for (const WrittenValue& written : known->second) {
      if (wait.is_met(written.value)) {
        order_.wait_event(stream, {written.event, EventKey::Kind::kValue});
        is_known = true;
      }
    }
  }
  return is_known;
}

void StreamTracker::stream_synchronized(StreamKey stream) {
  const HeldLock lock(mutex_);
  order_.synchronize_stream(stream);
}

void StreamTracker::event_forgotten(Handle event) {
  const HeldLock lock(mutex_);
  order_.forget_event(EventKey{index_of(event)});
}

void StreamTracker::event_synchronized(Handle event) {
  const HeldLock lock(mutex_);
  order_.synchronize_event(EventKey{index_of(event)});
}

void StreamTracker::device_synchronized() {
  const HeldLock lock(mutex_);
  order_.synchronize_device();
}

std::vector<WorkId> StreamTracker::launch(StreamKey stream, WorkId id) {
  const HeldLock lock(mutex_);
  use(stream, id);
  std::vector<WorkId> after = order_.launch(stream, id);
  placed(id);
  return after;
}

detector::ProgrammaticOrder StreamTracker::launch_programmatic(StreamKey stream, LaunchId id,
                                                               CopyId fresh) {
  const HeldLock lock(mutex_);
  use(stream, id);
  detector::ProgrammaticOrder order = order_.launch_programmatic(stream, id, fresh);
  placed(id);
  return order;
}

bool StreamTracker::lets_dependents_begin(StreamKey stream, bool next) {
  const HeldLock lock(mutex_);
  const bool before = !lets_none_begin_.contains(stream);
  if (next) {
    lets_none_begin_.erase(stream);
  } else {
    lets_none_begin_.insert(stream);
  }
  return before;
}

void StreamTracker::launch_unchecked(StreamKey stream) {
  const HeldLock lock(mutex_);
  lets_none_begin_.erase(stream);
  use(stream);
  order_.launch_unknown(stream);
}

detector::CopyOrder StreamTracker::copy(StreamKey stream, CopyId fresh) {
  const HeldLock lock(mutex_);
  use(stream);
  detector::CopyOrder order = order_.copy(stream, fresh);
  last_[stream] = order.id;
  placed(order.id);
  return order;
}

std::vector<WorkId> StreamTracker::host_waited() {
  const HeldLock lock(mutex_);
  return order_.host_waited();
}

// Each step runs in a stream of its own that waits for its dependencies, and the graph's stream
// then waits for all of them.
GraphOrder StreamTracker::graph_launch(StreamKey stream, std::uint64_t executable,
                                       std::span<const GraphStep> steps) {
  const HeldLock lock(mutex_);
  use(stream);
  const EventKey replay{executable, EventKey::Kind::kGraphEnd};
  order_.wait_event(stream, replay);
  const EventKey begin{0, EventKey::Kind::kGraphBegin};
  const auto end_of = [](std::size_t step) { return EventKey{step, EventKey::Kind::kGraphStep}; };
  const auto stream_of = [](std::size_t step) {
    return StreamKey{step, StreamKey::Kind::kGraphStep};
  };
  GraphOrder order{.after = std::vector<std::vector<WorkId>>(steps.size())};
  order_.record_event(begin, stream);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StreamKey own = stream_of(i);
    order_.create_stream(own, true);
    order_.wait_event(own, begin);
    for (const std::size_t dependency : steps[i].dependencies) {
      ASSERT(dependency < i);
      order_.wait_event(own, end_of(dependency));
    }
    if (steps[i].waits_for != Handle{}) {
      order_.wait_event(own, EventKey{index_of(steps[i].waits_for)});
    }
    if (steps[i].work != WorkId{}) {
      order.after[i] = order_.launch(own, steps[i].work);
      order.is_chain = order.is_chain && order_.is_after_all(steps[i].work);
      placed(steps[i].work);
      last_[stream] = steps[i].work;
    }
    order_.record_event(end_of(i), own);
    if (steps[i].records != Handle{}) {
      order_.record_event(EventKey{index_of(steps[i].records)}, own);
    }
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    order_.wait_event(stream, end_of(i));
    order_.destroy_stream(stream_of(i));
  }
  order_.record_event(replay, stream);
  return order;
}

// The legacy stream and the blocking ones wait for each other. Of two others nothing is known, and
// one alone has none beside it as long as the legacy stream is not used.
bool StreamTracker::has_no_rival(StreamKey stream) const {
  const HeldLock lock(mutex_);
  if (stream == detector::kLegacyStream) {
    return !has_non_blocking_;
  }
  const bool is_only_one = numbers_.size() == 1 && left_behind_ == 0;
  return is_only_one && !(has_non_blocking_ && uses_legacy_);
}

bool StreamTracker::is_sequential() const {
  const HeldLock lock(mutex_);
  return in_sequence_ >= kLongSequence;
}

std::uint64_t StreamTracker::streams_created() const {
  const HeldLock lock(mutex_);
  return next_number_ - 1;
}

bool StreamTracker::is_after_all(WorkId work) const {
  const HeldLock lock(mutex_);
  return order_.is_after_all(work);
}

bool StreamTracker::is_before(WorkId first, WorkId second) const {
  const HeldLock lock(mutex_);
  return order_.is_before(first, second);
}

bool StreamTracker::host_waited_for(WorkId work) const {
  const HeldLock lock(mutex_);
  return order_.host_waited_for(work);
}

std::uint64_t StreamTracker::number_of(StreamKey stream) const {
  const HeldLock lock(mutex_);
  const auto found = numbers_.find(stream);
  return found == numbers_.end() ? 0 : found->second;
}

}  // namespace barracuda::session
