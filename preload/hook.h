// What a hook needs: the driver's function that it stands before.
#pragma once

#include <cstdint>
#include <type_traits>

#include "preload/driver_library.h"
#include "preload/guard.h"
#include "preload/hooks.h"
#include "session/session.h"

namespace barracuda::preload {

template <typename Signature>
class Original;

// Calls the driver's own function. One that this driver does not have answers "not supported".
template <typename... Arguments>
class Original<CUresult(Arguments...)> {
 public:
  explicit Original(const char* exported_name)
      : name_(exported_name),
        function_(reinterpret_cast<Function*>(unhooked_driver_function(exported_name))) {}

  CUresult operator()(Arguments... arguments) const {
    HookCall* const call = HookCall::current();
    if (call != nullptr) {
      call->note_answer(name_, CUDA_ERROR_UNKNOWN);
    }
    const CUresult status =
        function_ == nullptr ? CUDA_ERROR_NOT_SUPPORTED : function_(arguments...);
    if (call != nullptr) {
      call->note_answer(name_, status);
    }
    return status;
  }

  [[nodiscard]] bool exists() const { return function_ != nullptr; }

 private:
  using Function = CUresult(Arguments...);
  const char* name_;  // a literal
  Function* function_;
};

// The driver's function that a hook stands before; hooks.def has its name.
template <auto Hook>
class OriginalOf : public Original<std::remove_pointer_t<decltype(Hook)>> {
 public:
  OriginalOf() : Original<std::remove_pointer_t<decltype(Hook)>>(kHookedName<Hook>) {}
};

// A function of the driver that the tool calls of its own accord.
#define DRIVER_FUNCTION(name) (::barracuda::preload::Original<decltype(::name)>(#name))

// The session knows handles as numbers.
template <typename T>
session::Handle handle_of(T* handle) {
  return reinterpret_cast<session::Handle>(handle);
}

// What stream 0 means to a function: its _ptsz and _ptds forms take the thread's own default
// stream.
enum class DefaultStream : std::uint8_t { kLegacy, kPerThread };

inline session::Handle stream_handle(CUstream stream, DefaultStream meaning) {
  return stream == nullptr && meaning == DefaultStream::kPerThread ? session::kPerThreadHandle
                                                                   : handle_of(stream);
}

}  // namespace barracuda::preload
