#include "weak_memory/repair/edit.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

namespace barracuda::weak_memory {
namespace {

using wire::MemoryOrder;
using wire::Scope;

constexpr std::uint64_t kBarrierWeight = 8, kSysWeight = 4, kGpuScWeight = 3, kGpuWeight = 2,
                        kCtaWeight = 1;
constexpr std::uint64_t kLoopWeight = 10;
constexpr std::uint32_t kMostLoops = 6;

std::uint64_t weight_of(MemoryOrder order, Scope scope) {
  if (scope == Scope::kSys) {
    return kSysWeight;
  }
  if (scope == Scope::kCta) {
    return kCtaWeight;
  }
  return order == MemoryOrder::kSeqCst ? kGpuScWeight : kGpuWeight;
}

struct Weight {
  std::uint64_t operator()(const ptx::InsertFence& insert) const {
    return weight_of(insert.fence.order, insert.fence.scope);
  }

  std::uint64_t operator()(const ptx::ReplaceFence& replace) const {
    return weight_of(replace.fence.order, replace.fence.scope);
  }

  std::uint64_t operator()(const ptx::ChangeScope& change) const {
    return weight_of(MemoryOrder::kAcqRel, change.scope);
  }

  std::uint64_t operator()(const ptx::ChangeOrder& change) const {
    return change.order == MemoryOrder::kWeak || change.order == MemoryOrder::kRelaxed
               ? 1
               : weight_of(change.order, change.scope);
  }

  std::uint64_t operator()(const ptx::InsertSync& insert) const {
    return insert.kind == ptx::SyncKind::kWarpBarrier ? kCtaWeight : kBarrierWeight;
  }

  std::uint64_t operator()(const ptx::RemoveFence& /*remove*/) const { return 0; }
};

const char* thread_scope(Scope scope) {
  switch (scope) {
    case Scope::kCta:
      return "cuda::thread_scope_block";
    case Scope::kCluster:
      return "the scope .cluster";
    case Scope::kGpu:
      return "cuda::thread_scope_device";
    case Scope::kSys:
      return "cuda::thread_scope_system";
  }
  return "";
}

std::string fence_call(const ptx::Fence& fence) {
  switch (fence.scope) {
    case Scope::kCta:
      return "__threadfence_block()";
    case Scope::kCluster:
      return fmt::format("asm volatile(\"fence.{}.cluster;\" ::: \"memory\")",
                         ptx::word_of(fence.order));
    case Scope::kGpu:
      return "__threadfence()";
    case Scope::kSys:
      return "__threadfence_system()";
  }
  return "";
}

struct Spelling {
  std::string operator()(const ptx::InsertFence& insert) const { return fence_call(insert.fence); }

  std::string operator()(const ptx::ReplaceFence& replace) const {
    return fence_call(replace.fence);
  }

  std::string operator()(const ptx::ChangeScope& change) const {
    return before.starts_with("fence") || before.starts_with("membar")
               ? fence_call({.order = MemoryOrder::kAcqRel, .scope = change.scope})
               : thread_scope(change.scope);
  }

  std::string operator()(const ptx::ChangeOrder& change) const {
    return change.order == MemoryOrder::kWeak
               ? std::string("an ordinary load, without __ldg() and const __restrict__")
               : fmt::format("cuda::memory_order_{}, {}", ptx::word_of(change.order),
                             thread_scope(change.scope));
  }

  std::string operator()(const ptx::InsertSync& insert) const {
    switch (insert.kind) {
      case ptx::SyncKind::kWarpBarrier:
        return "__syncwarp()";
      case ptx::SyncKind::kBlockBarrier:
        return "__syncthreads()";
      case ptx::SyncKind::kClusterBarrier:
        return "cooperative_groups::this_cluster().sync()";
      case ptx::SyncKind::kAsyncProxy:
        return "asm volatile(\"fence.proxy.async;\" ::: \"memory\")";
      case ptx::SyncKind::kCopies:
        return "asm volatile(\"cp.async.wait_all;\" ::: \"memory\")";
      case ptx::SyncKind::kEarlierGrid:
        return "cudaGridDependencySynchronize()";
    }
    return "";
  }

  std::string operator()(const ptx::RemoveFence& /*remove*/) const { return ""; }

  std::string_view before;
};

}  // namespace

std::uint64_t cost_of(const Edit& edit) {
  std::uint64_t cost = std::visit(Weight{}, change_of(edit));
  for (std::uint32_t loop = 0; loop < std::min(edit.loops, kMostLoops); ++loop) {
    cost *= kLoopWeight;
  }
  return cost;
}

std::string cuda_spelling(const Edit& edit) {
  return std::visit(Spelling{.before = edit.before}, change_of(edit));
}

}  // namespace barracuda::weak_memory
