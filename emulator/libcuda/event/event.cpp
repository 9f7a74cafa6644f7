#include "emulator/libcuda/event/event.h"

#include <chrono>
#include <mutex>

#include "emulator/libcuda/handle_table.h"
#include "emulator/libcuda/stream/stream.h"

namespace barracuda::emulator::driver {
namespace {

struct Event {
  Context* context = nullptr;
  unsigned flags = CU_EVENT_DEFAULT;
  std::atomic<std::int64_t> nanoseconds{0};  // 0: never recorded
  std::mutex mutex;
  CapturePoint point{};  // if it was last recorded in a captured stream

  CapturePoint captured() {
    const std::lock_guard lock(mutex);
    return point;
  }

  void set_captured(CapturePoint captured) {
    const std::lock_guard lock(mutex);
    point = std::move(captured);
  }
};

HandleTable<Event, CUevent>& events() {
  static auto* const instance = new HandleTable<Event, CUevent>;
  return *instance;
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

CUresult check(CUevent handle) {
  if (const CUresult status = require_context(); status != CUDA_SUCCESS) {
    return status;
  }
  const std::shared_ptr<Event> event = events().find(handle);
  if (event == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  return event->captured().capture == nullptr ? CUDA_SUCCESS : CUDA_ERROR_CAPTURED_EVENT;
}

// Calls `use` with what the handles stand for, if no other flag than the known one is set.
template <typename Use>
CUresult in_stream(CUstream stream_handle, CUevent handle, unsigned flags, unsigned known,
                   const Use& use) {
  if (const CUresult status = require_context(); status != CUDA_SUCCESS) {
    return status;
  }
  const std::shared_ptr<Stream> stream = find_stream(stream_handle);
  const std::shared_ptr<Event> event = events().find(handle);
  if (stream == nullptr || event == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  return (flags & ~known) != 0 ? CUDA_ERROR_INVALID_VALUE : use(*stream, *event);
}

}  // namespace

bool is_event(CUevent handle) {
  return events().find(handle) != nullptr;
}

void release_events(const Context& context) {
  events().erase_if([&](const Event& event) { return event.context == &context; });
}

CUresult cuEventCreate(CUevent* result, unsigned flags) {
  constexpr unsigned kKnown =
      CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if (const CUresult status = require_context(); status != CUDA_SUCCESS) {
    return status;
  }
  if (result == nullptr || (flags & ~kKnown) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  auto event = std::make_shared<Event>();
  event->context = current_context();
  event->flags = flags;
  *result = events().insert(std::move(event));
  return CUDA_SUCCESS;
}

CUresult record_event(CUevent handle) {
  const std::shared_ptr<Event> event = events().find(handle);
  if (event == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  event->set_captured({});
  event->nanoseconds = now();
  return CUDA_SUCCESS;
}

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned flags) {
  return in_stream(stream_handle, handle, flags, CU_EVENT_RECORD_EXTERNAL,
                   [&](Stream& stream, Event& event) {
                     if (!stream.is_capturing) {
                       return flags == 0 ? submit(stream_handle, EventRecordWork{handle})
                                         : CUDA_ERROR_ILLEGAL_STATE;
                     }
                     if (flags != 0) {
                       return capture(stream, EventRecordWork{handle});
                     }
                     CapturePoint point;
                     const CUresult status = capture_point(stream, point);
                     if (status == CUDA_SUCCESS) {
                       event.set_captured(std::move(point));
                     }
                     return status;
                   });
}

// All work before an event has ended: only a captured stream must be told.
CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned flags) {
  return in_stream(stream_handle, handle, flags, CU_EVENT_WAIT_EXTERNAL,
                   [&](Stream& stream, Event& event) {
                     if (flags == 0) {
                       return wait_for(stream, event.captured());
                     }
                     return stream.is_capturing ? capture(stream, EventWaitWork{handle})
                                                : CUDA_ERROR_ILLEGAL_STATE;
                   });
}

CUresult cuEventQuery(CUevent handle) {
  return check(handle);
}

CUresult cuEventSynchronize(CUevent handle) {
  return check(handle);
}

CUresult cuEventDestroy_v2(CUevent handle) {
  return events().extract(handle) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  if (milliseconds == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::shared_ptr<Event> first = events().find(start);
  const std::shared_ptr<Event> second = events().find(end);
  for (Event* const event : {first.get(), second.get()}) {
    if (event != nullptr && event->captured().capture != nullptr) {
      return CUDA_ERROR_CAPTURED_EVENT;
    }
    if (event == nullptr || event->nanoseconds == 0 ||
        (event->flags & CU_EVENT_DISABLE_TIMING) != 0) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
  }
  *milliseconds = static_cast<float>(second->nanoseconds - first->nanoseconds) * 1e-6F;
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver
