// ASSERT documents what must hold and checks it in every build; DEBUG_ASSERT only in debug builds,
// for what is too hot: what is asked at every access, and is_valid(), which looks at all of an
// object. A failed assertion is our bug: it prints one line and aborts, or, inside a guest process,
// calls the handler that preload/ installed (switch the tool off, status 70). What a program, its
// kernels, a trace or any other input can do wrong is no assertion.
//
// In a guest process the work of a hook is left by longjmp, without destructors, and the program's
// call goes on without the tool (preload/guard.h). So that nobody then waits for ever, nothing
// ASSERTs
//   - under a mutex that is not locked by HeldLock, which a failed assertion releases. The emulated
//     device's are not: it is the program's device with the tool or without. It runs kernels under
//     locks of streams; an assertion there ends the process with the report, status 70;
//   - while what the way without the tool reads is half changed (ModuleRegistry's tables), or in
//     what that way itself executes outside of the guard (LaunchTracker::begin_unlogged).
// DEBUG_ASSERT may stand anywhere: those builds are ours. A thread of the pipeline's stops where it
// is (Pipeline::State::abandon_detection); what this misses: with several detector threads on a
// GPU, the one that shares the work out waits for a thread that has stopped, and hooks that already
// wait for detection wait with it.
#pragma once

namespace barracuda {

// Called with the one-line description of a failed assertion. It may return: the assertion then
// aborts. Null restores the default.
using AssertionHandler = void (*)(const char* description);
void set_assertion_handler(AssertionHandler handler) noexcept;

[[noreturn, gnu::cold]] void assertion_failed(const char* condition, const char* file,
                                              int line) noexcept;

}  // namespace barracuda

#define ASSERT(condition)                              \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::barracuda::assertion_failed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#  define DEBUG_ASSERT(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#else
#  define DEBUG_ASSERT(condition) ASSERT(condition)
#endif
