// Streams and events: the order that they give between launches.
#include "preload/hook.h"

namespace barracuda::preload {
namespace {

using session::Session;

template <auto Hook, typename... Arguments>
CUresult create(CUstream* stream, unsigned flags, Arguments... more) {
  return call_and_note_success<Hook>(
      [&](Session& session) {
        session.streams().created(handle_of(*stream), (flags & CU_STREAM_NON_BLOCKING) != 0);
      },
      stream, flags, more...);
}

// cuStreamSynchronize and cuStreamQuery: success says that all work of the stream is over.
template <auto Hook>
CUresult wait_for_stream(CUstream stream) {
  return call_and_note<Hook>(
      [&](Session& session, CUresult status) {
        if (status == CUDA_SUCCESS) {
          session.streams().stream_synchronized(session.streams().key_of(stream_handle(stream)));
        }
        session.contexts().observe(status);
      },
      stream);
}

template <auto Hook>
CUresult wait_for_event(CUevent event) {
  return call_and_note<Hook>(
      [&](Session& session, CUresult status) {
        if (status == CUDA_SUCCESS) {
          session.streams().event_synchronized(handle_of(event));
        }
        session.contexts().observe(status);
      },
      event);
}

// A time between two events is told only when both are over, as cuEventQuery would say of each.
template <auto Hook>
CUresult read_time(float* milliseconds, CUevent start, CUevent end) {
  return call_and_note<Hook>(
      [&](Session& session, CUresult status) {
        if (status == CUDA_SUCCESS) {
          session.streams().event_synchronized(handle_of(start));
          session.streams().event_synchronized(handle_of(end));
        }
        session.contexts().observe(status);
      },
      milliseconds, start, end);
}

template <auto Hook>
CUresult wait_in_stream(CUstream stream, CUevent event, unsigned flags) {
  return call_and_note_success<Hook>(
      [&](Session& session) {
        const session::Handle handle = stream_handle(stream);
        if (!session.driver().stream_is_capturing(handle)) {
          session.streams().event_waited(session.streams().key_of(handle), handle_of(event));
        }
      },
      stream, event, flags);
}

// The order is noted first: another thread may wait for the event as soon as the driver knows it.
// What a capture records becomes an edge of its graph instead.
template <auto Hook, typename... Arguments>
CUresult record(CUevent event, CUstream stream, Arguments... more) {
  return note_and_call<Hook>(
      [&](Session& session) {
        const session::Handle handle = stream_handle(stream);
        if (!session.driver().stream_is_capturing(handle)) {
          session.streams().event_recorded(handle_of(event), session.streams().key_of(handle));
        }
      },
      event, stream, more...);
}

}  // namespace

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return create<&cuStreamCreate>(stream, flags);
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return create<&cuStreamCreateWithPriority>(stream, flags, priority);
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  return note_and_call<&cuStreamDestroy_v2>(
      [&](Session& session) { session.streams().destroyed(handle_of(stream)); }, stream);
}

CUresult cuStreamSynchronize(CUstream stream) {
  return wait_for_stream<&cuStreamSynchronize>(stream);
}

CUresult cuStreamQuery(CUstream stream) {
  return wait_for_stream<&cuStreamQuery>(stream);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return wait_in_stream<&cuStreamWaitEvent>(stream, event, flags);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return record<&cuEventRecord>(event, stream);
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return record<&cuEventRecordWithFlags>(event, stream, flags);
}

CUresult cuEventSynchronize(CUevent event) {
  return wait_for_event<&cuEventSynchronize>(event);
}

CUresult cuEventQuery(CUevent event) {
  return wait_for_event<&cuEventQuery>(event);
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return read_time<&cuEventElapsedTime>(milliseconds, start, end);
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return read_time<&cuEventElapsedTime_v2>(milliseconds, start, end);
}

// The next event may get the handle of one that is gone, and was never recorded.
CUresult cuEventDestroy_v2(CUevent event) {
  return note_and_call<&cuEventDestroy_v2>(
      [&](Session& session) { session.streams().event_forgotten(handle_of(event)); }, event);
}

// A copy between contexts comes after all work and before all that is to come.
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, std::size_t bytes) {
  return call_and_note<&cuMemcpyPeer>(
      [](Session& session, CUresult status) {
        if (status == CUDA_SUCCESS) {
          session.streams().device_synchronized();
        }
        session.contexts().observe(status);
      },
      to, to_context, from, from_context, bytes);
}

}  // namespace barracuda::preload
