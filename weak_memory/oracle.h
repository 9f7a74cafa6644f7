// What says that a run failed. The program's own runs without weakness are the measure: what they
// agree in is expected of every other run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weak_memory/experiment.h"

namespace barracuda::weak_memory {

// Of a check that a shell was to run: it cannot be executed, or is not there.
constexpr bool is_no_command(int check_status) {
  return check_status == 126 || check_status == 127;
}

enum class Failure : std::uint8_t { kNone, kCrash, kCudaError, kHang, kStatus, kCheck, kOutput };

// "crash", "cuda-error", "hang", "status", "check", "output": the names of the JSON report.
const char* name_of(Failure failure);
// "a crash", "wrong output" …: for reports.
const char* description_of(Failure failure);

enum class CompareOutput : std::uint8_t {
  kIfStable,  // with that of the reference runs, if they agreed
  kAlways,    // the same, but it is a failure of a reference run to differ from the first
  kNever,
  kText,  // with a given text
};

struct OracleRules {
  int expected_status = 0;
  CompareOutput compare = CompareOutput::kIfStable;
  std::string expected_output;  // for kText
};

class Oracle {
 public:
  explicit Oracle(OracleRules rules) : rules_(std::move(rules)) {}

  // The runs without weakness, once, before judge().
  void learn(const std::vector<Outcome>& references);

  // The first rule that the run breaks. Of an outcome that is not lost.
  [[nodiscard]] Failure judge(const Outcome& outcome) const;

  [[nodiscard]] bool compares_output() const { return compares_output_; }

  // The reference runs' output was looked at and differed from run to run.
  [[nodiscard]] bool is_output_unstable() const { return is_output_unstable_; }

 private:
  OracleRules rules_;
  std::string expected_;
  bool compares_output_ = false;
  bool is_output_unstable_ = false;
};

}  // namespace barracuda::weak_memory
