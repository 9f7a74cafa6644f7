// What the steps of a function do to its registers, and over which of them a register holds a value
// that is still wanted. A step is what one PTX instruction was decoded to; step 0 is the function's
// entry. Within a step all is read before anything is written.
#pragma once

#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "emulator/decode/symbols.h"

namespace barracuda::emulator {

// Where control goes after a step.
struct StepEnd {
  std::vector<std::uint32_t> targets;  // steps, of branches
  bool goes_on = true;                 // to the next one
};

// From the begin of step `first` to the end of step `last`.
struct Stretch {
  std::uint32_t first = 0, last = 0;
};

class RegisterUses {
 public:
  // The number of a new register.
  std::uint32_t add(RegisterClass register_class) {
    classes_.push_back(register_class);
    return static_cast<std::uint32_t>(classes_.size()) - 1;
  }

  void next_step() { ++step_; }

  void read(std::uint32_t number) {
    ASSERT(number < classes_.size());
    accesses_.push_back({number, step_, Access::kRead});
  }

  // Not `always`: only under a predicate, which leaves the others' values.
  void write(std::uint32_t number, bool always) {
    ASSERT(number < classes_.size());
    accesses_.push_back({number, step_, always ? Access::kWrite : Access::kPredicatedWrite});
  }

  [[nodiscard]] const std::vector<RegisterClass>& classes() const { return classes_; }

  [[nodiscard]] std::uint32_t steps() const { return step_ + 1; }

  // For each register, in order and apart from each other. A value that is read before any write
  // does not count: the register's stretch begins where it is first touched. One end for each step.
  [[nodiscard]] std::vector<std::vector<Stretch>> stretches(const std::vector<StepEnd>& ends) const;

 private:
  struct Access {
    enum class Kind : std::uint8_t { kRead, kWrite, kPredicatedWrite };
    using enum Kind;
    std::uint32_t number = 0, step = 0;
    Kind kind = kRead;
  };

  std::vector<RegisterClass> classes_;
  std::vector<Access> accesses_;  // in the order of the steps
  std::uint32_t step_ = 0;
};

}  // namespace barracuda::emulator
