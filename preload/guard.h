// Keeps the tool's own trouble away from the program: a HookScope stands in every hook. Its run()
// does nothing inside another hook (the driver calling itself) or when the tool is off, and ends
// the work at a failed assertion or an exception, which switch the tool off.
#pragma once

#include <csetjmp>
#include <exception>

#include "preload/process.h"

namespace barracuda::preload {

class HookScope {
 public:
  HookScope() noexcept : outermost_(g_depth++ == 0) {}

  ~HookScope() { --g_depth; }

  HookScope(const HookScope&) = delete;
  HookScope& operator=(const HookScope&) = delete;

  // Whether `work` has run to its end.
  template <typename Work>
  bool run(const Work& work) const noexcept {
    if (!outermost_ || tool_is_off()) {
      return false;
    }
    return protect([&work] { work(process_session()); });
  }

  [[nodiscard]] bool is_outermost() const { return outermost_; }

  // Runs `work`; false if an assertion failed in it or an exception left it.
  template <typename Work>
  [[gnu::noinline]] static bool protect(const Work& work) noexcept {
    std::jmp_buf here;
    std::jmp_buf* const outer = g_escape;
    g_escape = &here;
    bool done = false;
    if (setjmp(here) == 0) {
      done = attempt(work);
    }
    g_escape = outer;
    return done;
  }

  // From a failed assertion: out of the protected work of this thread, if it is in any. Skips
  // destructors; the tool is off from then on, so nobody needs what they would have released.
  static void escape() {
    if (g_escape != nullptr) {
      std::longjmp(*g_escape, 1);
    }
  }

 private:
  template <typename Work>
  [[gnu::noinline]] static bool attempt(const Work& work) noexcept {
    try {
      work();
      return true;
    } catch (const std::exception& error) {
      tool_failed(error.what());
    } catch (...) {
      tool_failed("an unknown exception");
    }
    return false;
  }

  inline static thread_local int g_depth = 0;
  inline static thread_local std::jmp_buf* g_escape = nullptr;
  const bool outermost_;
};

}  // namespace barracuda::preload
