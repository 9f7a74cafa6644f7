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

// The driver's function that a hook stands before, in the form that this thread has called.
template <auto Hook, typename Signature = std::remove_pointer_t<decltype(Hook)>>
class OriginalOf;

template <auto Hook, typename... Arguments>
class OriginalOf<Hook, CUresult(Arguments...)> {
 public:
  CUresult operator()(Arguments... arguments) const {
    return HookCall::current()->is_per_thread() ? per_thread_(arguments...) : plain_(arguments...);
  }

 private:
  static_assert(kHookedForms<Hook>.plain != nullptr, "no hook");
  Original<CUresult(Arguments...)> plain_{kHookedForms<Hook>.plain};
  Original<CUresult(Arguments...)> per_thread_{kHookedForms<Hook>.per_thread};
};

// What most hooks do, by when: `note` gets the session, if there is one and the program itself has
// made the call.

// Notes, then calls the driver: what is to be known before the driver has done it.
template <auto Hook, typename Note, typename... Arguments>
CUresult note_and_call(const Note& note, Arguments... arguments) {
  static const OriginalOf<Hook> original;
  const HookScope scope;
  scope.run(note);
  return original(arguments...);
}

// Calls the driver, then notes how it answered: note(session, status).
template <auto Hook, typename Note, typename... Arguments>
CUresult call_and_note(const Note& note, Arguments... arguments) {
  static const OriginalOf<Hook> original;
  const HookScope scope;
  const CUresult status = original(arguments...);
  scope.run([&](session::Session& session) { note(session, status); });
  return status;
}

// Calls the driver, and notes what it has done; nothing if it has refused.
template <auto Hook, typename Note, typename... Arguments>
CUresult call_and_note_success(const Note& note, Arguments... arguments) {
  static const OriginalOf<Hook> original;
  const HookScope scope;
  const CUresult status = original(arguments...);
  if (status == CUDA_SUCCESS) {
    scope.run(note);
  }
  return status;
}

// A function of the driver that the tool calls of its own accord.
#define DRIVER_FUNCTION(name) (::barracuda::preload::Original<decltype(::name)>(#name))

// The session knows handles as numbers.
template <typename T>
session::Handle handle_of(T* handle) {
  return session::Handle{reinterpret_cast<std::uint64_t>(handle)};
}

// The stream that the hooked call is about: its _ptsz and _ptds forms take stream 0 for the
// thread's own default stream.
inline session::Handle stream_handle(CUstream stream) {
  return stream == nullptr && HookCall::current()->is_per_thread() ? session::kPerThreadHandle
                                                                   : handle_of(stream);
}

}  // namespace barracuda::preload
