// ASSERT documents what must hold and checks it in every build; DEBUG_ASSERT only in debug builds,
// for what is too hot. A failed assertion is our bug: it prints one line and aborts, or, inside a
// guest process, calls the handler that the session installed (switch the tool off, status 70).
#pragma once

namespace barracuda {

// Called with the one-line description of a failed assertion. It may return: the assertion then
// aborts. Null restores the default.
using AssertionHandler = void (*)(const char* description);
void set_assertion_handler(AssertionHandler handler) noexcept;

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace barracuda

#define ASSERT(condition)                              \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::barracuda::assertion_failed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#  define DEBUG_ASSERT(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#else
#  define DEBUG_ASSERT(condition) ASSERT(condition)
#endif
