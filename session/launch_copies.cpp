// Copies, memsets, allocations and frees in the order of streams, and what launches read of
// constants: LaunchTracker's part for them.
#include <utility>

#include "base/held_lock.h"
#include "session/launch_tracker.h"
#include "session/python_place.h"

namespace barracuda::session {
namespace {

using detector::CopyId;
using detector::HostOperation;

CopyRequest request_of(HostOperation operation, const MemoryRange& range) {
  return {.operation = operation,
          .accesses = {{.address = range.address, .row_bytes = range.bytes, .is_written = true}}};
}

}  // namespace

// Of a kernel that may begin before the one before it is over, nobody may come between.
void LaunchTracker::read_constants(const LaunchRequest& request, detector::StreamKey stream) {
  if (request.constants.empty() || request.is_programmatic) {
    return;
  }
  CopyRequest constants{.operation = HostOperation::kConstants};
  for (const MemoryRange& range : request.constants) {
    constants.accesses.push_back({.address = range.address, .row_bytes = range.bytes});
  }
  begin_copy(open_copy(constants, stream), stream);
}

detector::CopyInfo LaunchTracker::open_copy(const CopyRequest& copy, detector::StreamKey stream) {
  CopyBook::Call call;
  {
    const HeldLock lock(book_mutex_);
    call = copies_.open(copy.operation, streams_.number_of(stream));
    if (call.is_new && recorder_ != nullptr) {
      recorder_->copy_described(copies_.record(call.number));
    }
  }
  detector::CopyInfo info;
  info.operation = copy.operation;
  info.call = call.number;
  for (const detector::MemoryRows& rows : copy.accesses) {
    if (rows.rows <= kMaximumCopyRows) {
      info.accesses.push_back(rows);
    } else {
      problems_.add("a copy or memset of more than a million rows was not checked");
    }
  }
  return info;
}

CopyId LaunchTracker::begin_copy(detector::CopyInfo info, detector::StreamKey stream) {
  const CopyId fresh = copies_.next_id();
  detector::CopyOrder order = streams_.copy(stream, fresh);
  if (order.id != fresh) {
    copies_.take_back(fresh);
  }
  info.id = order.id;
  info.ordered_after = std::move(order.ordered_after);
  info.host_waited = std::move(order.host_waited);
  unlogged_.begin(info);
  pipeline_.begin_copy(info);
  return info.id;
}

CopyId LaunchTracker::freed(const MemoryRange& range, Handle stream) {
  note_python_place();
  const detector::StreamKey key = streams_.key_of(stream);
  const HeldLock lock(mutex_);
  return closed_.empty() ? begin_copy(open_copy(request_of(HostOperation::kFree, range), key), key)
                         : CopyId{};
}

// Not with the number of the copies before it: who comes after it waits for the frees as well.
void LaunchTracker::allocated(const MemoryRange& range, Handle stream,
                              std::vector<CopyId> freed_by) {
  note_python_place();
  const detector::StreamKey key = streams_.key_of(stream);
  const HeldLock lock(mutex_);
  if (!closed_.empty()) {
    return;
  }
  detector::CopyInfo info = open_copy(request_of(HostOperation::kAllocation, range), key);
  info.id = copies_.next_id();
  info.ordered_after = streams_.launch(key, info.id);
  info.host_waited = streams_.host_waited();
  info.freed_by = std::move(freed_by);
  pipeline_.begin_copy(info);
}

void LaunchTracker::copied(const CopyRequest& copy) {
  note_python_place();
  const detector::StreamKey stream = streams_.key_of(copy.stream);
  if (copy.host_order == HostOrder::kWorkBefore) {
    streams_.stream_synchronized(stream);
  }
  {
    const HeldLock lock(mutex_);
    if (closed_.empty() && !copy.accesses.empty()) {
      begin_copy(open_copy(copy, stream), stream);
    }
  }
  if (copy.host_order == HostOrder::kCopy) {
    streams_.stream_synchronized(stream);
  }
}

std::vector<report::CopyRecord> LaunchTracker::copies_named_in(
    const detector::Findings& findings) const {
  const HeldLock lock(book_mutex_);
  return copies_.named_in(findings);
}

}  // namespace barracuda::session
