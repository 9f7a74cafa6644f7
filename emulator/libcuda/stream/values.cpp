// Stream memory operations: values that streams write into memory, and wait for.
#include <atomic>
#include <cstdint>
#include <span>

#include "base/value_wait.h"
#include "emulator/libcuda/calls.h"
#include "emulator/libcuda/memory/allocation.h"
#include "emulator/libcuda/stream/queue.h"
#include "emulator/libcuda/stream/stream.h"

namespace barracuda::emulator::driver {
namespace {

template <typename Word>
std::atomic_ref<Word> word_at(CUdeviceptr address) {
  return std::atomic_ref(*reinterpret_cast<Word*>(address));  // NOLINT(performance-no-int-to-ptr)
}

bool is_word(CUdeviceptr address, std::size_t bytes) {
  return address % bytes == 0 && find_memory(address).has_value();
}

template <typename Word>
CUresult write_value(CUstream handle, CUdeviceptr address, Word value, unsigned flags) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_for_work(handle, stream));
  RETURN_IF(!is_word(address, sizeof(Word)) || flags > CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER,
            CUDA_ERROR_INVALID_VALUE);
  return enqueue(stream, Call([=] {
                   if (is_word(address, sizeof(Word))) {
                     word_at<Word>(address).store(value);
                   }
                 }));
}

template <typename Word>
CUresult wait_for_value(CUstream handle, CUdeviceptr address, Word value, unsigned flags) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_for_work(handle, stream));
  const unsigned condition = flags & ~static_cast<unsigned>(CU_STREAM_WAIT_VALUE_FLUSH);
  RETURN_IF(!is_word(address, sizeof(Word)) || condition > CU_STREAM_WAIT_VALUE_NOR,
            CUDA_ERROR_INVALID_VALUE);
  const ValueWait wait{.address = address,
                       .value = value,
                       .bytes = sizeof(Word),
                       .condition = static_cast<ValueCondition>(condition)};
  return enqueue(stream, Await{[=] {
                   return !is_word(address, sizeof(Word)) ||  // freed since: nobody can write it
                          wait.is_met(word_at<Word>(address).load());
                 }});
}

CUresult perform(CUstream stream, const CUstreamBatchMemOpParams& each) {
  switch (each.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return wait_for_value(stream, each.waitValue.address, each.waitValue.value,
                            each.waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return wait_for_value(stream, each.waitValue.address, each.waitValue.value64,
                            each.waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return write_value(stream, each.writeValue.address, each.writeValue.value,
                         each.writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return write_value(stream, each.writeValue.address, each.writeValue.value64,
                         each.writeValue.flags);
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return CUDA_SUCCESS;  // all writes are seen here as soon as they are made
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned flags) {
  return write_value(stream, address, value, flags);
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned flags) {
  return write_value(stream, address, value, flags);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned flags) {
  return wait_for_value(stream, address, value, flags);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned flags) {
  return wait_for_value(stream, address, value, flags);
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count,
                               CUstreamBatchMemOpParams* operations, unsigned flags) {
  constexpr unsigned kMostOperations = 255;  // cuda.h
  RETURN_IF(flags != 0 || count > kMostOperations || (operations == nullptr && count != 0),
            CUDA_ERROR_INVALID_VALUE);
  for (const CUstreamBatchMemOpParams& each : std::span(operations, count)) {
    RETURN_IF_FAILED(perform(stream, each));
  }
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver
