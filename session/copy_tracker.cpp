#include "session/copy_tracker.h"

#include <utility>

#include "base/held_lock.h"
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

void CopyTracker::read_constants(std::span<const MemoryRange> constants,
                                 detector::StreamKey stream) {
  if (constants.empty()) {
    return;
  }
  CopyRequest read{.operation = HostOperation::kConstants};
  for (const MemoryRange& range : constants) {
    read.accesses.push_back({.address = range.address, .row_bytes = range.bytes});
  }
  begin(open(read, stream), stream);
}

detector::CopyInfo CopyTracker::open(const CopyRequest& copy, detector::StreamKey stream) {
  detector::CopyInfo info;
  info.operation = copy.operation;
  info.call = books_.open(copy.operation, streams_.number_of(stream));
  for (const detector::MemoryRows& rows : copy.accesses) {
    if (rows.rows <= kMaximumCopyRows) {
      info.accesses.push_back(rows);
    } else {
      problems_.add("a copy or memset of more than a million rows was not checked");
    }
  }
  return info;
}

CopyId CopyTracker::begin(detector::CopyInfo info, detector::StreamKey stream) {
  const CopyId fresh = books_.next_copy();
  detector::CopyOrder order = streams_.copy(stream, fresh);
  if (order.id != fresh) {
    books_.take_back(fresh);
  }
  info.id = order.id;
  info.ordered_after = std::move(order.ordered_after);
  info.host_waited = std::move(order.host_waited);
  in_flight_.unlogged().begin(info);
  pipeline_.begin_copy(info);
  return info.id;
}

CopyId CopyTracker::freed(const MemoryRange& range, Handle stream) {
  note_python_place();
  const detector::StreamKey key = streams_.key_of(stream);
  const HeldLock lock(in_flight_.mutex());
  return in_flight_.closed().empty()
             ? begin(open(request_of(HostOperation::kFree, range), key), key)
             : CopyId{};
}

// Not with the number of the copies before it: who comes after it waits for the frees as well.
void CopyTracker::allocated(const MemoryRange& range, Handle stream, std::vector<CopyId> freed_by) {
  note_python_place();
  const detector::StreamKey key = streams_.key_of(stream);
  const HeldLock lock(in_flight_.mutex());
  if (!in_flight_.closed().empty()) {
    return;
  }
  detector::CopyInfo info = open(request_of(HostOperation::kAllocation, range), key);
  info.id = books_.next_copy();
  info.ordered_after = streams_.launch(key, info.id);
  info.host_waited = streams_.host_waited();
  info.freed_by = std::move(freed_by);
  in_flight_.unlogged().begin(info);
  pipeline_.begin_copy(info);
}

void CopyTracker::copied(const CopyRequest& copy) {
  note_python_place();
  const detector::StreamKey stream = streams_.key_of(copy.stream);
  if (copy.host_order == HostOrder::kWorkBefore) {
    streams_.stream_synchronized(stream);
  }
  {
    const HeldLock lock(in_flight_.mutex());
    if (in_flight_.closed().empty() && !copy.accesses.empty()) {
      begin(open(copy, stream), stream);
    }
  }
  if (copy.host_order == HostOrder::kCopy) {
    streams_.stream_synchronized(stream);
  }
}

}  // namespace barracuda::session
