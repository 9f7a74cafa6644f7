#include "weak_memory/oracle.h"

#include <algorithm>

#include "base/assert.h"

namespace barracuda::weak_memory {
namespace {

bool has_finding(const report::Report& report, std::initializer_list<report::FindingType> types) {
  return std::ranges::any_of(report.findings, [types](const report::Finding& finding) {
    return std::ranges::find(types, finding.type) != types.end();
  });
}

}  // namespace

const char* name_of(Failure failure) {
  switch (failure) {
    case Failure::kNone:
      return "none";
    case Failure::kCrash:
      return "crash";
    case Failure::kCudaError:
      return "cuda-error";
    case Failure::kHang:
      return "hang";
    case Failure::kStatus:
      return "status";
    case Failure::kCheck:
      return "check";
    case Failure::kOutput:
      return "output";
  }
  return "";
}

const char* description_of(Failure failure) {
  switch (failure) {
    case Failure::kNone:
      return "no failure";
    case Failure::kCrash:
      return "a crash";
    case Failure::kCudaError:
      return "a CUDA error";
    case Failure::kHang:
      return "a hang";
    case Failure::kStatus:
      return "another exit status";
    case Failure::kCheck:
      return "a check that fails";
    case Failure::kOutput:
      return "wrong output";
  }
  return "";
}

void Oracle::learn(const std::vector<Outcome>& references) {
  ASSERT(!references.empty());
  expected_ =
      rules_.compare == CompareOutput::kText ? rules_.expected_output : references.front().output;
  const bool agree = std::ranges::all_of(
      references, [this](const Outcome& run) { return run.output == expected_; });
  is_output_unstable_ = rules_.compare == CompareOutput::kIfStable && !agree;
  compares_output_ = rules_.compare != CompareOutput::kNever && !is_output_unstable_;
}

Failure Oracle::judge(const Outcome& outcome) const {
  using report::FindingType;
  ASSERT(outcome.lost.empty());
  // A run that is over its time is ended by a signal, which is not a crash of its own.
  if (outcome.is_over_time) {
    return Failure::kHang;
  }
  if (report::signal_of(outcome.status) != 0) {
    return Failure::kCrash;
  }
  if (has_finding(outcome.report, {FindingType::kMemoryError})) {
    return Failure::kCudaError;
  }
  if (has_finding(outcome.report, {FindingType::kDeadlock, FindingType::kTimeout})) {
    return Failure::kHang;
  }
  if (outcome.status != rules_.expected_status) {
    return Failure::kStatus;
  }
  if (outcome.check_status != 0) {
    return Failure::kCheck;
  }
  return compares_output_ && outcome.output != expected_ ? Failure::kOutput : Failure::kNone;
}

}  // namespace barracuda::weak_memory
