#include "site_names.h"

namespace barracuda::ptx {

std::string_view name_of(wire::Operation operation) {
  switch (operation) {
    using enum wire::Operation;
    case kRead:
      return "read";
    case kWrite:
      return "write";
    case kAtomic:
      return "atomic";
    case kReduction:
      return "reduction";
    case kFence:
      return "fence";
    case kBarrier:
      return "barrier";
    case kBarrierArrive:
      return "barrier-arrive";
    case kWarpBarrier:
      return "warp-barrier";
    case kCall:
      return "call";
    case kReturn:
      return "return";
    case kExit:
      return "exit";
    case kClusterArrive:
      return "cluster-arrive";
    case kClusterWait:
      return "cluster-wait";
    case kLaunchDependents:
      return "launch-dependents";
    case kGridWait:
      return "grid-wait";
    case kProxyFence:
      return "proxy-fence";
    case kMbarrierInit:
      return "mbarrier-init";
    case kMbarrierInvalidate:
      return "mbarrier-invalidate";
    case kMbarrierArrive:
      return "mbarrier-arrive";
    case kMbarrierExpect:
      return "mbarrier-expect";
    case kMbarrierComplete:
      return "mbarrier-complete";
    case kMbarrierWait:
      return "mbarrier-wait";
    case kAsyncArrive:
      return "async-arrive";
    case kAsyncCommit:
      return "async-commit";
    case kAsyncWait:
      return "async-wait";
    case kCopy:
      return "copy";
    case kTensorCopy:
      return "tensor-copy";
    case kBranch:
      return "branch";
    case kSwitch:
      return "switch";
    case kMeet:
      return "meet";
    case kMatrixProduct:
      return "matrix-product";
    case kHeap:
      return "heap";
    case kSharedPlace:
      return "shared-places";
  }
  return "?";
}

std::string_view name_of(wire::Proxy proxy) {
  switch (proxy) {
    using enum wire::Proxy;
    case kGeneric:
      return "generic";
    case kReadOnly:
      return "read-only";
    case kAsync:
      return "async";
    case kTensorMap:
      return "tensor-map";
    case kSurface:
      return "surface";
  }
  return "?";
}

std::string_view name_of(wire::Asynchrony asynchrony) {
  switch (asynchrony) {
    using enum wire::Asynchrony;
    case kNone:
      return "none";
    case kThreadGroup:
      return "thread-group";
    case kBulkGroup:
      return "bulk-group";
    case kMbarrier:
      return "mbarrier";
    case kMatrixGroup:
      return "matrix-group";
    case kUnwaited:
      return "unwaited";
    case kTensorCore:
      return "tensor-core";
  }
  return "?";
}

std::string_view name_of(wire::FenceScope scope) {
  switch (scope) {
    using enum wire::FenceScope;
    case kNone:
      return "none";
    case kBlock:
      return "block";
    case kGlobal:
      return "global";
  }
  return "?";
}

}  // namespace barracuda::ptx
