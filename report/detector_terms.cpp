#include "report/detector_terms.h"

namespace barracuda::report {

const char* name_of(detector::RaceKind kind) {
  switch (kind) {
    case detector::RaceKind::kInterBlock:
      return "inter-block";
    case detector::RaceKind::kIntraBlock:
      return "intra-block";
    case detector::RaceKind::kIntraWarp:
      return "intra-warp";
    case detector::RaceKind::kBranchOrdering:
      return "branch-ordering";
    case detector::RaceKind::kInterKernel:
      return "inter-kernel";
    case detector::RaceKind::kKernelCopy:
      return "kernel-copy";
    case detector::RaceKind::kUseAfterFree:
      return "use-after-free";
    case detector::RaceKind::kUseBeforeAllocation:
      return "use-before-allocation";
    case detector::RaceKind::kUseAfterExit:
      return "use-after-exit";
  }
  return "";
}

FindingSeverity severity_of(detector::Severity severity) {
  return severity == detector::Severity::kWarning ? FindingSeverity::kWarning
                                                  : FindingSeverity::kError;
}

FindingType type_of(KernelEnd end) {
  switch (end) {
    case KernelEnd::kMemoryError:
      return FindingType::kMemoryError;
    case KernelEnd::kTimeout:
      return FindingType::kTimeout;
    case KernelEnd::kDeadlock:
      return FindingType::kDeadlock;
  }
  return FindingType::kMemoryError;
}

namespace {

AccessOperation operation_of(wire::Operation operation) {
  switch (operation) {
    case wire::Operation::kRead:
    case wire::Operation::kMatrixProduct:
    case wire::Operation::kMbarrierWait:
      return AccessOperation::kRead;
    // An mbarrier's operations change the word that it is.
    case wire::Operation::kMbarrierInit:
    case wire::Operation::kMbarrierInvalidate:
    case wire::Operation::kMbarrierArrive:
    case wire::Operation::kMbarrierExpect:
    case wire::Operation::kMbarrierComplete:
    case wire::Operation::kAsyncArrive:
    case wire::Operation::kWrite:
      return AccessOperation::kWrite;
    case wire::Operation::kAtomic:
    case wire::Operation::kReduction:
      return AccessOperation::kAtomic;
    case wire::Operation::kCopy:
    case wire::Operation::kTensorCopy:
      return AccessOperation::kCopy;
    case wire::Operation::kFence:
    case wire::Operation::kBarrier:
    case wire::Operation::kBarrierArrive:
    case wire::Operation::kWarpBarrier:
    case wire::Operation::kCall:
    case wire::Operation::kReturn:
    case wire::Operation::kExit:
    case wire::Operation::kClusterArrive:
    case wire::Operation::kClusterWait:
    case wire::Operation::kHeap:
    case wire::Operation::kSharedPlace:
    case wire::Operation::kLaunchDependents:
    case wire::Operation::kGridWait:
    case wire::Operation::kProxyFence:
    case wire::Operation::kAsyncCommit:
    case wire::Operation::kAsyncWait:
    case wire::Operation::kBranch:
    case wire::Operation::kSwitch:
    case wire::Operation::kMeet:
      return AccessOperation::kUnknown;
  }
  return AccessOperation::kUnknown;
}

}  // namespace

AccessOperation operation_of(const ptx::Site& site) {
  // They are logged as copies are, for they say their bytes only when they run.
  const bool stores =
      site.instruction.starts_with("st.bulk") || site.instruction.starts_with("tensormap.replace");
  return stores ? AccessOperation::kWrite : operation_of(site.info.operation);
}

AccessOperation operation_of(detector::HostOperation operation) {
  switch (operation) {
    case detector::HostOperation::kCopy:
      return AccessOperation::kCopy;
    case detector::HostOperation::kMemset:
      return AccessOperation::kMemset;
    case detector::HostOperation::kConstants:
      return AccessOperation::kConstants;
    case detector::HostOperation::kAllocation:
      return AccessOperation::kAllocation;
    case detector::HostOperation::kFree:
      return AccessOperation::kFree;
  }
  return AccessOperation::kUnknown;
}

}  // namespace barracuda::report
