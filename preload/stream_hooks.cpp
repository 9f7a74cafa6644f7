// Streams and events: the order that they give between launches.
#include "preload/hook.h"

namespace barracuda::preload {
namespace {

using session::Session;

void note_created(const HookScope& scope, CUresult status, const CUstream* stream, unsigned flags) {
  if (status == CUDA_SUCCESS) {
    scope.run([&](Session& session) {
      session.streams().created(handle_of(*stream), (flags & CU_STREAM_NON_BLOCKING) != 0);
    });
  }
}

// cuStreamSynchronize and cuStreamQuery: success says that all work of the stream is over.
CUresult wait_for_stream(const Original<decltype(stream_synchronize)>& original, CUstream stream,
                         DefaultStream meaning) {
  const HookScope scope;
  const CUresult status = original(stream);
  scope.run([&](Session& session) {
    if (status == CUDA_SUCCESS) {
      session.streams().stream_synchronized(
          session.streams().key_of(stream_handle(stream, meaning)));
    }
    session.observe(status);
  });
  return status;
}

CUresult wait_for_event(const Original<decltype(event_synchronize)>& original, CUevent event) {
  const HookScope scope;
  const CUresult status = original(event);
  scope.run([&](Session& session) {
    if (status == CUDA_SUCCESS) {
      session.streams().event_synchronized(handle_of(event));
    }
    session.observe(status);
  });
  return status;
}

CUresult wait_in_stream(const Original<decltype(stream_wait_event)>& original, CUstream stream,
                        CUevent event, unsigned flags, DefaultStream meaning) {
  const HookScope scope;
  const CUresult status = original(stream, event, flags);
  if (status == CUDA_SUCCESS) {
    scope.run([&](Session& session) {
      const session::Handle handle = stream_handle(stream, meaning);
      if (!session.driver().stream_is_capturing(handle)) {
        session.streams().event_waited(session.streams().key_of(handle), handle_of(event));
      }
    });
  }
  return status;
}

// `submit` makes the driver's call. The order is noted first: another thread may wait for the event
// as soon as the driver knows it. What a capture records becomes an edge of its graph instead.
template <typename Submit>
CUresult record(CUevent event, CUstream stream, DefaultStream meaning, const Submit& submit) {
  const HookScope scope;
  scope.run([&](Session& session) {
    const session::Handle handle = stream_handle(stream, meaning);
    if (!session.driver().stream_is_capturing(handle)) {
      session.streams().event_recorded(handle_of(event), session.streams().key_of(handle));
    }
  });
  return submit();
}

}  // namespace

CUresult stream_create(CUstream* stream, unsigned flags) {
  static const OriginalOf<&stream_create> original;
  const HookScope scope;
  const CUresult status = original(stream, flags);
  note_created(scope, status, stream, flags);
  return status;
}

CUresult stream_create_with_priority(CUstream* stream, unsigned flags, int priority) {
  static const OriginalOf<&stream_create_with_priority> original;
  const HookScope scope;
  const CUresult status = original(stream, flags, priority);
  note_created(scope, status, stream, flags);
  return status;
}

CUresult stream_destroy(CUstream stream) {
  static const OriginalOf<&stream_destroy> original;
  const HookScope scope;
  scope.run([&](Session& session) { session.streams().destroyed(handle_of(stream)); });
  return original(stream);
}

CUresult stream_synchronize(CUstream stream) {
  static const OriginalOf<&stream_synchronize> original;
  return wait_for_stream(original, stream, DefaultStream::kLegacy);
}

CUresult stream_synchronize_ptsz(CUstream stream) {
  static const OriginalOf<&stream_synchronize_ptsz> original;
  return wait_for_stream(original, stream, DefaultStream::kPerThread);
}

CUresult stream_query(CUstream stream) {
  static const OriginalOf<&stream_query> original;
  return wait_for_stream(original, stream, DefaultStream::kLegacy);
}

CUresult stream_query_ptsz(CUstream stream) {
  static const OriginalOf<&stream_query_ptsz> original;
  return wait_for_stream(original, stream, DefaultStream::kPerThread);
}

CUresult stream_wait_event(CUstream stream, CUevent event, unsigned flags) {
  static const OriginalOf<&stream_wait_event> original;
  return wait_in_stream(original, stream, event, flags, DefaultStream::kLegacy);
}

CUresult stream_wait_event_ptsz(CUstream stream, CUevent event, unsigned flags) {
  static const OriginalOf<&stream_wait_event_ptsz> original;
  return wait_in_stream(original, stream, event, flags, DefaultStream::kPerThread);
}

CUresult event_record(CUevent event, CUstream stream) {
  static const OriginalOf<&event_record> original;
  return record(event, stream, DefaultStream::kLegacy, [&] { return original(event, stream); });
}

CUresult event_record_ptsz(CUevent event, CUstream stream) {
  static const OriginalOf<&event_record_ptsz> original;
  return record(event, stream, DefaultStream::kPerThread, [&] { return original(event, stream); });
}

CUresult event_record_with_flags(CUevent event, CUstream stream, unsigned flags) {
  static const OriginalOf<&event_record_with_flags> original;
  return record(event, stream, DefaultStream::kLegacy,
                [&] { return original(event, stream, flags); });
}

CUresult event_record_with_flags_ptsz(CUevent event, CUstream stream, unsigned flags) {
  static const OriginalOf<&event_record_with_flags_ptsz> original;
  return record(event, stream, DefaultStream::kPerThread,
                [&] { return original(event, stream, flags); });
}

CUresult event_synchronize(CUevent event) {
  static const OriginalOf<&event_synchronize> original;
  return wait_for_event(original, event);
}

CUresult event_query(CUevent event) {
  static const OriginalOf<&event_query> original;
  return wait_for_event(original, event);
}

}  // namespace barracuda::preload
