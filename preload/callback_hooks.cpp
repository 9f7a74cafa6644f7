// Functions of the host that run in the order of a stream. When one starts, the work before it in
// the stream is over, as if an event recorded there had been waited for (CUDA runtime API,
// cudaLaunchHostFunc). Inside one the program must not wait for the device, and neither do we.
#include <atomic>
#include <memory>
#include <utility>

#include "base/assert.h"
#include "base/strong_id.h"
#include "preload/hook.h"

namespace barracuda::preload {
namespace {

using session::Session;

thread_local bool g_in_callback = false;

// Events that only we know. The driver's are addresses, which are even.
session::Handle next_marker() {
  static std::atomic<std::uint64_t> last{1};
  return session::Handle{last += 2};
}

bool is_marker(session::Handle event) {
  return index_of(event) % 2 != 0;
}

// What a call of the program's function is made of. Lives until it has been called.
template <typename Function>
struct Callback {
  Function function = nullptr;
  void* data = nullptr;
  session::Handle before{};  // as an event: the work before it in its stream
};

template <typename Function, typename Call>
void call_back(void* data, const Call& call) {
  const std::unique_ptr<Callback<Function>> callback(static_cast<Callback<Function>*>(data));
  if (session::Session* const session = existing_session(); session != nullptr && !tool_is_off()) {
    HookScope::protect(Loss::kOrder, [&] {
      ASSERT(is_marker(callback->before));  // what is forgotten is no event of the program's
      session->streams().event_synchronized(callback->before);
      session->streams().event_forgotten(callback->before);
    });
  }
  const bool outer = std::exchange(g_in_callback, true);
  call(callback->function, callback->data);
  g_in_callback = outer;
}

void call_host_function(void* data) {
  call_back<CUhostFn>(data, [](CUhostFn function, void* own) { function(own); });
}

void call_stream_callback(CUstream stream, CUresult status, void* data) {
  call_back<CUstreamCallback>(
      data, [&](CUstreamCallback function, void* own) { function(stream, status, own); });
}

// `submit` gives the driver our function in place of the program's, or the program's own.
template <typename Function, typename Submit>
CUresult launch_callback(CUstream stream, Function function, void* data, Function ours,
                         const Submit& submit) {
  const HookScope scope;
  std::unique_ptr<Callback<Function>> callback;
  scope.run([&](Session& session) {
    const session::Handle handle = stream_handle(stream);
    if (function != nullptr && !session.driver().stream_is_capturing(handle)) {
      callback = std::make_unique<Callback<Function>>(
          Callback<Function>{.function = function, .data = data, .before = next_marker()});
      session.streams().event_recorded(callback->before, session.streams().key_of(handle));
    }
  });
  if (callback == nullptr) {
    return submit(function, data);
  }
  // The function may have run, and the callback gone, when the driver's call returns.
  Callback<Function>* const given = callback.release();
  const CUresult status = submit(ours, given);
  if (status != CUDA_SUCCESS) {
    delete given;
  }
  return status;
}

}  // namespace

bool in_host_callback() {
  return g_in_callback;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  static const OriginalOf<&cuLaunchHostFunc> original;
  return launch_callback(stream, function, data, &call_host_function,
                         [&](CUhostFn given, void* own) { return original(stream, given, own); });
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback function, void* data,
                             unsigned flags) {
  static const OriginalOf<&cuStreamAddCallback> original;
  return launch_callback(
      stream, function, data, &call_stream_callback,
      [&](CUstreamCallback given, void* own) { return original(stream, given, own, flags); });
}

}  // namespace barracuda::preload
