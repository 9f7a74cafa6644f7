#include "report/race_report.h"

namespace barracuda::report {

std::string name_of(FindingType type) {
  switch (type) {
    case FindingType::kRace:
      return "race";
    case FindingType::kBarrierDivergence:
      return "barrier-divergence";
    case FindingType::kMemoryError:
      return "memory-error";
    case FindingType::kTimeout:
      return "timeout";
    case FindingType::kDeadlock:
      return "deadlock";
    case FindingType::kAsyncRegister:
      return "async-register";
  }
  return "";
}

std::string name_of(detector::SyncWhen when) {
  switch (when) {
    case detector::SyncWhen::kBefore:
      return "before";
    case detector::SyncWhen::kUnclear:
      return "unclear";
    case detector::SyncWhen::kAfter:
      return "after";
  }
  return "";
}

}  // namespace barracuda::report
