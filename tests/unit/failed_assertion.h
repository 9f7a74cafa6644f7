// For tests that break an invariant on purpose.
#pragma once

#include <csetjmp>
#include <string>
#include <string_view>

#include "base/assert.h"

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
  if (setjmp(g_escape) == 0) {
    work();
  }
  set_assertion_handler(nullptr);
  return g_failed;
}

}  // namespace barracuda::test
