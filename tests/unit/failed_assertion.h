// For tests that break an invariant on purpose.
#pragma once

#include <csetjmp>
#include <string>
#include <string_view>

#include "base/assert.h"

// Of LeakSanitizer; null without it.
extern "C" [[gnu::weak]] void __lsan_disable();
extern "C" [[gnu::weak]] void __lsan_enable();

namespace barracuda::test {

inline thread_local std::jmp_buf g_escape;
inline thread_local std::string g_failed;

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
  const bool has_leak_sanitizer = __lsan_disable != nullptr;
  if (has_leak_sanitizer) {
    __lsan_disable();
  }
  if (setjmp(g_escape) == 0) {
    work();
  }
  if (has_leak_sanitizer) {
    __lsan_enable();
  }
  set_assertion_handler(nullptr);
  return g_failed;
}

}  // namespace barracuda::test
