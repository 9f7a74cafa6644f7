// For tests that break an invariant on purpose.
#pragma once

#include <csetjmp>
#include <string>
#include <string_view>

#include "base/assert.h"
#if defined(__SANITIZE_ADDRESS__)
#  include <sanitizer/lsan_interface.h>
#endif

namespace barracuda::test {

inline thread_local std::jmp_buf g_escape;
inline thread_local std::string g_failed;

// Work that is left without destructors does not give back its memory.
inline void expect_leaks([[maybe_unused]] bool are_expected) {
#if defined(__SANITIZE_ADDRESS__)
  are_expected ? __lsan_disable() : __lsan_enable();
#endif
}

// What fails in `work`, as "condition at file:line"; empty if nothing does. The work is left as a
// hook's is (preload/guard.h), without destructors.
template <typename Work>
[[gnu::noinline]] std::string failed_assertion(const Work& work) {
  g_failed.clear();
  set_assertion_handler([](const char* description) {
    constexpr std::string_view kPrefix = "BARRACUDA: assertion failed: ";
    g_failed = description;
    g_failed.erase(0, kPrefix.size());
    std::longjmp(g_escape, 1);
  });
  expect_leaks(true);
  if (setjmp(g_escape) == 0) {
    work();
  }
  expect_leaks(false);
  set_assertion_handler(nullptr);
  return g_failed;
}

}  // namespace barracuda::test
