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
  HookScope() noexcept : outermost_(t_depth_++ == 0) {}

  ~HookScope() { --t_depth_; }

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
    std::jmp_buf* const outer = t_escape_;
    t_escape_ = &here;
    bool done = false;
    if (setjmp(here) == 0) {
      done = attempt(work);
    }
    t_escape_ = outer;
    return done;
  }

  // From a failed assertion: out of the protected work of this thread, if it is in any. Skips
  // destructors; the tool is off from then on, so nobody needs what they would have released.
  static void escape() {
    if (t_escape_ != nullptr) {
      std::longjmp(*t_escape_, 1);
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

  inline static thread_local int t_depth_ = 0;
  inline static thread_local std::jmp_buf* t_escape_ = nullptr;
  const bool outermost_;
};

}  // namespace barracuda::preload
