#include "emulator/libcuda/event/event.h"

#include <chrono>
#include <mutex>
#include <span>

#include "base/early_return.h"
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
  Ticket ticket;         // else by this work

  CapturePoint captured() {
    const std::lock_guard lock(mutex);
    return point;
  }

  void set_captured(CapturePoint captured) {
    const std::lock_guard lock(mutex);
    point = std::move(captured);
    ticket = nullptr;
  }

  Ticket recorded() {
    const std::lock_guard lock(mutex);
    return ticket;
  }

  void set_recorded(Ticket by) {
    const std::lock_guard lock(mutex);
    point = {};
    ticket = std::move(by);
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

CUresult check(CUevent handle, Ticket& ticket) {
  RETURN_IF_FAILED(require_context());
  const std::shared_ptr<Event> event = events().find(handle);
  RETURN_IF(event == nullptr, CUDA_ERROR_INVALID_HANDLE);
  ticket = event->recorded();
  return event->captured().capture == nullptr ? CUDA_SUCCESS : CUDA_ERROR_CAPTURED_EVENT;
}

// Calls `use` with what the handles stand for, if no other flag than the known one is set.
template <typename Use>
CUresult in_stream(CUstream stream_handle, CUevent handle, unsigned flags, unsigned known,
                   const Use& use) {
  RETURN_IF_FAILED(require_context());
  const std::shared_ptr<Stream> stream = find_stream(stream_handle);
  const std::shared_ptr<Event> event = events().find(handle);
  RETURN_IF(stream == nullptr || event == nullptr, CUDA_ERROR_INVALID_HANDLE);
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
  RETURN_IF_FAILED(require_context());
  RETURN_IF(result == nullptr || (flags & ~kKnown) != 0, CUDA_ERROR_INVALID_VALUE);
  auto event = std::make_shared<Event>();
  event->context = current_context();
  event->flags = flags;
  *result = events().insert(std::move(event));
  return CUDA_SUCCESS;
}

CUresult record_event(CUevent handle) {
  const std::shared_ptr<Event> event = events().find(handle);
  RETURN_IF(event == nullptr, CUDA_ERROR_INVALID_HANDLE);
  event->nanoseconds = now();
  return CUDA_SUCCESS;
}

void set_ticket(CUevent handle, const Ticket& ticket) {
  if (const std::shared_ptr<Event> event = events().find(handle)) {
    event->set_recorded(ticket);
  }
}

Ticket ticket_of(CUevent handle) {
  const std::shared_ptr<Event> event = events().find(handle);
  return event == nullptr ? nullptr : event->recorded();
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

CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned flags) {
  return in_stream(stream_handle, handle, flags, CU_EVENT_WAIT_EXTERNAL,
                   [&](Stream& stream, Event& event) {
                     if (flags == 0) {
                       const CUresult status = wait_for(stream, event.captured());
                       const Ticket before = event.recorded();
                       return status != CUDA_SUCCESS || is_over(before) || stream.is_capturing
                                  ? status
                                  : enqueue(find_stream(stream_handle), Work(EmptyWork{}),
                                            std::span(&before, 1));
                     }
                     return stream.is_capturing ? capture(stream, EventWaitWork{handle})
                                                : CUDA_ERROR_ILLEGAL_STATE;
                   });
}

CUresult cuEventQuery(CUevent handle) {
  Ticket ticket;
  RETURN_IF_FAILED(check(handle, ticket));
  const bool is_over = poll(ticket);
  const CUresult failure = current_context()->failure;
  return failure == CUDA_SUCCESS && !is_over ? CUDA_ERROR_NOT_READY : failure;
}

CUresult cuEventSynchronize(CUevent handle) {
  Ticket ticket;
  RETURN_IF_FAILED(check(handle, ticket));
  wait_for(ticket);
  return current_context()->failure;
}

CUresult cuEventDestroy_v2(CUevent handle) {
  return events().extract(handle) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  RETURN_IF(milliseconds == nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::shared_ptr<Event> first = events().find(start);
  const std::shared_ptr<Event> second = events().find(end);
  for (Event* const event : {first.get(), second.get()}) {
    RETURN_IF(event != nullptr && event->captured().capture != nullptr, CUDA_ERROR_CAPTURED_EVENT);
    const bool is_recorded =
        event != nullptr && (event->nanoseconds != 0 || !is_over(event->recorded()));
    RETURN_IF(!is_recorded || (event->flags & CU_EVENT_DISABLE_TIMING) != 0,
              CUDA_ERROR_INVALID_HANDLE);
    RETURN_IF(!poll(event->recorded()), CUDA_ERROR_NOT_READY);
  }
  *milliseconds = static_cast<float>(second->nanoseconds - first->nanoseconds) * 1e-6F;
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver
