// How far a command is: one line on a terminal, once it takes a while. Nothing in a file or a pipe.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace barracuda::cli {

class StatusLine {
 public:
  // `text` is asked for only if the line is due. Cheap enough for the middle of a search.
  void tell(const std::function<std::string()>& text);

  // Takes the line away, before something else is printed.
  void end();

  [[nodiscard]] std::chrono::seconds age() const {
    return std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kQuiet{2};
  static constexpr std::chrono::milliseconds kBetween{200};

  Clock::time_point start_ = Clock::now(), next_ = start_ + kQuiet;
  bool is_shown_ = false;
};

// While it lives and there is a terminal, whatever waits is interrupted twice a second (EINTR), so
// that the line can say that it still waits. One at a time.
class WaitInterrupts {
 public:
  WaitInterrupts();
  ~WaitInterrupts();
  WaitInterrupts(const WaitInterrupts&) = delete;
  WaitInterrupts& operator=(const WaitInterrupts&) = delete;
};

}  // namespace barracuda::cli
