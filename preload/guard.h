// Keeps the tool's own trouble away from the program: a HookScope stands in every hook. Its run()
// does nothing inside another hook (the driver calling itself) or when the tool is off, and ends
// the work at a failed assertion, which switches the tool off, or at an exception, which costs what
// the work's Loss says (hook_failure.h). The program's signals, and who would cancel the thread,
// wait until the work is over.
#pragma once

#include <csetjmp>
#include <pthread.h>

#include "base/assert.h"
#include "base/signals_blocked.h"
#include "preload/hook_failure.h"
#include "preload/process.h"
#include "preload/process_end.h"

namespace barracuda::preload {

// A cancelled thread unwinds like an exception, which may neither be caught nor end in the middle
// of our work.
class CancellationDisabled {
 public:
  CancellationDisabled() { (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }

  ~CancellationDisabled() { (void)pthread_setcancelstate(before_, nullptr); }

  CancellationDisabled(const CancellationDisabled&) = delete;
  CancellationDisabled& operator=(const CancellationDisabled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

class HookScope {
 public:
  HookScope() noexcept : outermost_(g_depth++ == 0) {}

  ~HookScope() {
    DEBUG_ASSERT(g_depth > 0);
    --g_depth;
  }

  HookScope(const HookScope&) = delete;
  HookScope& operator=(const HookScope&) = delete;

  // Whether `work` has run to its end.
  template <typename Work>
  bool run(const Work& work) const noexcept {
    return run(Loss::kOrder, work);
  }

  template <typename Work>
  bool run(Loss loss, const Work& work) const noexcept {
    if (!outermost_ || tool_is_off()) {
      return false;
    }
    wait_if_dying();
    return protect(loss, [&work] { work(process_session()); });
  }

  // Whatever state the tool is in, for what an instrumented kernel cannot do without; where there
  // is a session at all. False only if the work has failed.
  template <typename Work>
  bool run_always(const Work& work) const noexcept {
    session::Session* const session = existing_session();
    if (!outermost_ || session == nullptr) {
      return true;
    }
    wait_if_dying();
    return protect(Loss::kCoverage, [&work, session] { work(*session); });
  }

  [[nodiscard]] bool is_outermost() const { return outermost_; }

  // Runs `work`; false if an assertion failed in it or an exception left it.
  template <typename Work>
  [[gnu::noinline]] static bool protect(Loss loss, const Work& work) noexcept {
    const SignalsBlocked while_at_work;
    const CancellationDisabled until_done;
    std::jmp_buf here;
    std::jmp_buf* const outer = g_escape;
    const int depth = g_depth;
    HookCall* const call = HookCall::current();
    g_escape = &here;
    bool done = false;
    if (setjmp(here) == 0) {
      done = attempt(loss, work);
      DEBUG_ASSERT(g_depth == depth && HookCall::current() == call);
    } else {  // hooks that the work was in have not been left one by one
      g_depth = depth;
      HookCall::return_to(call);
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
  [[gnu::noinline]] static bool attempt(Loss loss, const Work& work) noexcept {
    try {
      if (HookCall* const call = HookCall::current(); call != nullptr && loss != Loss::kNothing) {
        call->fail_if_told(HookCall::FailurePoint::kWork);
      }
      work();
      return true;
    } catch (...) {
      work_failed(loss, current_exception_text());
    }
    return false;
  }

  inline static thread_local int g_depth = 0;
  inline static thread_local std::jmp_buf* g_escape = nullptr;
  const bool outermost_;
};

}  // namespace barracuda::preload
