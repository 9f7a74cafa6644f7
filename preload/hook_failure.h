// What is thrown in the tool while it is at work in a hook, and what that costs. The program's call
// goes on as if the hook were not there, the report counts it and names the function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace barracuda::preload {

// Of work that was not done to its end.
enum class Loss : std::uint8_t {
  // Nothing that is not done again.
  kNothing,
  // What this call was about is not known: a module, the name of an allocation.
  kCoverage,
  // What the program ordered is not known any more, or where memory begins anew: races that the
  // tool would find from now on may be none. What was launched stands, later launches are not
  // checked.
  kOrder,
  // The report itself: the tool is switched off, with status 70.
  kReport,
};

// A call of a hooked function, on its thread's stack.
class HookCall {
 public:
  // is_per_thread: the name is that of a form for the thread's own default stream.
  HookCall(const char* name, const void* caller, bool is_per_thread = false) noexcept;
  ~HookCall();
  HookCall(const HookCall&) = delete;
  HookCall& operator=(const HookCall&) = delete;

  // The innermost of this thread; null outside of hooks.
  static HookCall* current() { return g_current; }

  // Those inside it have been left without their destructors.
  static void return_to(HookCall* call) { g_current = call; }

  [[nodiscard]] const char* name() const { return name_; }

  [[nodiscard]] bool is_per_thread() const { return is_per_thread_; }

  // A place in the code that has made the call.
  [[nodiscard]] const void* caller() const { return caller_; }

  // The driver's function of this name is called, and what it has answered by then: at first that
  // it failed, for the emulated device may throw.
  void note_answer(const char* name, int status) noexcept;

  // What the driver's own function has answered, if it was called.
  [[nodiscard]] std::optional<int> answer() const { return answer_; }

  // For tests of the tool, where BARRACUDA_FAIL_HOOK=NAME:edge:N or NAME:work:N is set: throws in
  // the N-th call of that function on, once in each, at its edge or in the first work that it would
  // miss.
  enum class FailurePoint : std::uint8_t { kNone, kEdge, kWork };
  void fail_if_told(FailurePoint here);

 private:
  inline static thread_local HookCall* g_current = nullptr;

  const char* const name_;
  const bool is_per_thread_;
  const void* const caller_;
  HookCall* const outer_;
  FailurePoint told_ = FailurePoint::kNone;
  std::optional<int> answer_;
};

// Of the exception that is being handled.
std::string current_exception_text();

// Counts it for the report, and does what the loss asks for. `what` was thrown.
void work_failed(Loss loss, const std::string& what) noexcept;

// For the report: a sentence for each function and exception.
std::vector<std::string> hook_failures();

}  // namespace barracuda::preload
