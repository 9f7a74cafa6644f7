#include "session/memory_tracker.h"

#include "base/assert.h"

namespace barracuda::session {

void MemoryTracker::forget(const MemoryRange& range) {
  ASSERT(range.address != 0 && range.bytes != 0);
  pipeline_.forget(range.address, range.bytes);
}

void MemoryTracker::before_free(std::uint64_t address) {
  const auto range = allocations_.find(address);
  if (!range || contexts_.is_closed()) {
    return;
  }
  contexts_.drain_current();
  forget(*range);
  allocations_.remove(address);
}

void MemoryTracker::before_stream_free(std::uint64_t address, Handle stream) {
  const auto range = allocations_.find(address);
  if (range && !contexts_.is_closed() && !driver_.stream_is_capturing(stream)) {
    allocations_.remove(address, copies_.freed(*range, stream));
  }
}

void MemoryTracker::allocated(const MemoryRange& range, const std::string& description) {
  places_.note(range.address);
  allocations_.add(range.address, range.bytes, description);
  contexts_.prepare_launches();
  if (!contexts_.is_closed() && !allocations_.take_frees(range).empty()) {
    contexts_.drain_current();  // a pool that gave it up did not wait for less
    forget(range);
  }
}

void MemoryTracker::stream_allocated(const MemoryRange& range, Handle stream,
                                     const char* function) {
  places_.note(range.address);
  allocations_.add(range.address, range.bytes, function);
  if (!contexts_.is_closed() && !driver_.stream_is_capturing(stream)) {
    copies_.allocated(range, stream, allocations_.take_frees(range));
  }
}

void MemoryTracker::before_unload(const LoadedModule& module) {
  contexts_.drain_current();
  for (const DeviceVariable& variable : module.image->variables) {
    const auto range = driver_.variable(module.handle, module.is_library, variable.name);
    if (range && allocations_.find(range->address)) {
      forget(*range);
      allocations_.remove(range->address);
    }
  }
}

}  // namespace barracuda::session
