#include "emulator/libcuda/stream/stream.h"

#include <atomic>
#include <mutex>
#include <vector>

#include "base/early_return.h"
#include "emulator/libcuda/stream/queue.h"

namespace barracuda::emulator::driver {
namespace {

constexpr int kGreatestPriority = -5;

struct Streams {
  HandleTable<Stream, CUstream> live;
  std::shared_ptr<Stream> legacy = std::make_shared<Stream>();
  std::mutex per_thread_mutex;
  std::vector<std::unique_ptr<Stream>> per_thread;
  std::atomic<std::uint64_t> next_id{3};

  Streams() { legacy->id = 1; }
};

// Never freed: work may be submitted while the thread's own objects are destroyed.
constinit thread_local Stream* t_default_stream = nullptr;

Streams& streams() {
  static auto* const instance = new Streams;
  return *instance;
}

std::shared_ptr<Stream> default_stream_of_thread() {
  if (t_default_stream == nullptr) {
    const std::lock_guard lock(streams().per_thread_mutex);
    streams().per_thread.push_back(std::make_unique<Stream>());
    t_default_stream = streams().per_thread.back().get();
    t_default_stream->id = 2;
  }
  return {std::shared_ptr<void>(), t_default_stream};
}

CUresult create(CUstream* result, unsigned flags, int priority) {
  RETURN_IF_FAILED(require_context());
  if (result == nullptr || (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  auto stream = std::make_shared<Stream>();
  stream->context = current_context();
  stream->flags = flags;
  stream->priority =
      priority > 0 ? 0 : (priority < kGreatestPriority ? kGreatestPriority : priority);
  stream->id = streams().next_id++;
  *result = streams().live.insert(std::move(stream));
  return CUDA_SUCCESS;
}

// The stream of a query, or the status that the query answers.
CUresult look_up(CUstream handle, std::shared_ptr<Stream>& stream) {
  RETURN_IF_FAILED(require_context());
  stream = find_stream(handle);
  return stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

template <typename Value, typename Read>
CUresult query(CUstream handle, Value* result, const Read& read) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(look_up(handle, stream));
  return store_result(result, read(*stream));
}

}  // namespace

std::shared_ptr<Stream> find_stream(CUstream handle) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY) {
    return streams().legacy;
  }
  if (handle == CU_STREAM_PER_THREAD) {
    return default_stream_of_thread();
  }
  return streams().live.find(handle);
}

bool is_legacy(const Stream& stream) {
  return &stream == streams().legacy.get();
}

CUresult find_for_work(CUstream handle, std::shared_ptr<Stream>& stream) {
  const CUresult status = look_up(handle, stream);
  if (status == CUDA_SUCCESS && is_legacy(*stream)) {
    return check_legacy_stream();
  }
  return status == CUDA_SUCCESS && stream->is_capturing
             ? spoil_capture(*stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
             : status;
}

void release_streams(const Context& context) {
  streams().live.for_each([&](Stream& stream) {
    if (stream.context == &context) {
      forget_captured(stream);
    }
  });
  streams().live.erase_if([&](const Stream& stream) { return stream.context == &context; });
}

CUresult cuStreamCreate(CUstream* result, unsigned flags) {
  return create(result, flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream* result, unsigned flags, int priority) {
  return create(result, flags, priority);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
  const std::shared_ptr<Stream> stream = streams().live.extract(handle);
  RETURN_IF(stream == nullptr, CUDA_ERROR_INVALID_HANDLE);
  forget_captured(*stream);
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_for_work(handle, stream));
  wait_for_stream(*stream);
  return current_context()->failure;
}

CUresult cuStreamQuery(CUstream handle) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_for_work(handle, stream));
  const bool is_over = poll_stream(*stream);
  const CUresult failure = current_context()->failure;
  return failure == CUDA_SUCCESS && !is_over ? CUDA_ERROR_NOT_READY : failure;
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data,
                             unsigned flags) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_for_work(handle, stream));
  RETURN_IF(callback == nullptr || flags != 0, CUDA_ERROR_INVALID_VALUE);
  return enqueue(stream, Call([=] { callback(handle, CUDA_SUCCESS, data); }));
}

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  return query(handle, priority, [](const Stream& stream) { return stream.priority; });
}

CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
  return query(handle, flags, [](const Stream& stream) { return stream.flags; });
}

CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  return query(handle, id, [](const Stream& stream) { return stream.id; });
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
  return query(handle, device, [](const Stream&) { return CUdevice{0}; });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  return query(handle, context, [](const Stream& stream) {
    return (stream.context == nullptr ? current_context() : stream.context)->handle();
  });
}

CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(look_up(to, stream));
  return look_up(from, stream);
}

CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  return query(handle, value, [attribute](const Stream& stream) {
    CUstreamAttrValue answer{};
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
      answer.priority = stream.priority;
    } else if (attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) {
      answer.syncPolicy = CU_SYNC_POLICY_AUTO;
    }
    return answer;
  });
}

CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID /*attribute*/,
                              const CUstreamAttrValue* value) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(look_up(handle, stream));
  return value == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver
