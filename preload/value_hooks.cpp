// Stream memory operations: a stream that waits for a value comes after the streams that have
// written it. They are no accesses: nothing is checked of the word itself.
#include <cstdint>
#include <span>

#include "base/value_wait.h"
#include "preload/hook.h"

namespace barracuda::preload {
namespace {

using session::Session;

// Whether the stream is captured: then the call becomes a node of a graph, which is not followed.
bool note_capture(Session& session, session::Handle stream) {
  if (!session.driver().stream_is_capturing(stream)) {
    return false;
  }
  session.problems().add(
      "a stream writes or waits for a value while it is captured: the order that this gives its "
      "graph is not known");
  return true;
}

void note_write(Session& session, CUstream stream, CUdeviceptr address, std::uint64_t value) {
  const session::Handle handle = stream_handle(stream);
  if (!note_capture(session, handle)) {
    session.streams().value_written(session.streams().key_of(handle), address, value);
  }
}

void note_wait(Session& session, CUstream stream, const ValueWait& wait) {
  const session::Handle handle = stream_handle(stream);
  if (!note_capture(session, handle) &&
      !session.streams().value_awaited(session.streams().key_of(handle), wait)) {
    session.problems().add(
        "a stream waits for a value that no stream has written before (cuStreamWaitValue32 or its "
        "kin): what comes behind it may be ordered after more than is known");
  }
}

ValueWait wait_for(CUdeviceptr address, std::uint64_t value, std::uint32_t bytes, unsigned flags) {
  return {.address = address,
          .value = value,
          .bytes = bytes,
          .condition = static_cast<ValueCondition>(flags & CU_STREAM_WAIT_VALUE_NOR)};
}

// The order is noted first: another thread may wait for the value as soon as the driver knows it.
template <auto Hook, typename Word>
CUresult write_value(CUstream stream, CUdeviceptr address, Word value, unsigned flags) {
  return note_and_call<Hook>([&](Session& session) { note_write(session, stream, address, value); },
                             stream, address, value, flags);
}

template <auto Hook, typename Word>
CUresult wait_for_value(CUstream stream, CUdeviceptr address, Word value, unsigned flags) {
  return call_and_note_success<Hook>(
      [&](Session& session) {
        note_wait(session, stream, wait_for(address, value, sizeof(Word), flags));
      },
      stream, address, value, flags);
}

void note_operation(Session& session, CUstream stream, const CUstreamBatchMemOpParams& each) {
  switch (each.operation) {
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      note_write(session, stream, each.writeValue.address, each.writeValue.value);
      break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      note_write(session, stream, each.writeValue.address, each.writeValue.value64);
      break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      note_wait(session, stream,
                wait_for(each.waitValue.address, each.waitValue.value, 4, each.waitValue.flags));
      break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      note_wait(session, stream,
                wait_for(each.waitValue.address, each.waitValue.value64, 8, each.waitValue.flags));
      break;
    case CU_STREAM_MEM_OP_BARRIER:  // of the stream's own writes
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
    default:
      break;
  }
}

template <auto Hook>
CUresult perform(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations,
                 unsigned flags) {
  return note_and_call<Hook>(
      [&](Session& session) {
        for (const CUstreamBatchMemOpParams& each :
             std::span(operations, operations == nullptr ? 0 : count)) {
          note_operation(session, stream, each);
        }
      },
      stream, count, operations, flags);
}

}  // namespace

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                              unsigned flags) {
  return write_value<&cuStreamWriteValue32>(stream, address, value, flags);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned flags) {
  return write_value<&cuStreamWriteValue32_v2>(stream, address, value, flags);
}

CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                              unsigned flags) {
  return write_value<&cuStreamWriteValue64>(stream, address, value, flags);
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned flags) {
  return write_value<&cuStreamWriteValue64_v2>(stream, address, value, flags);
}

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                             unsigned flags) {
  return wait_for_value<&cuStreamWaitValue32>(stream, address, value, flags);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned flags) {
  return wait_for_value<&cuStreamWaitValue32_v2>(stream, address, value, flags);
}

CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                             unsigned flags) {
  return wait_for_value<&cuStreamWaitValue64>(stream, address, value, flags);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned flags) {
  return wait_for_value<&cuStreamWaitValue64_v2>(stream, address, value, flags);
}

CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations,
                            unsigned flags) {
  return perform<&cuStreamBatchMemOp>(stream, count, operations, flags);
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count,
                               CUstreamBatchMemOpParams* operations, unsigned flags) {
  return perform<&cuStreamBatchMemOp_v2>(stream, count, operations, flags);
}

}  // namespace barracuda::preload
