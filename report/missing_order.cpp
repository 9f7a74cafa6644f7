#include "report/missing_order.h"

#include <optional>

#include <fmt/format.h>

#include "base/strong_id.h"

namespace barracuda::report {
namespace {

const char* name_of(wire::Scope scope) {
  switch (scope) {
    case wire::Scope::kCta:
      return ".cta";
    case wire::Scope::kCluster:
      return ".cluster";
    case wire::Scope::kGpu:
      return ".gpu";
    case wire::Scope::kSys:
      return ".sys";
  }
  return "";
}

const ptx::Site* find_site(const ptx::SiteTable& sites, wire::SiteId id) {
  return index_of(id) < sites.size() ? &sites[index_of(id)] : nullptr;
}

bool orders(const wire::SiteInfo& info) {
  return info.operation == wire::Operation::kFence || info.order == wire::MemoryOrder::kAcquire ||
         info.order == wire::MemoryOrder::kRelease || info.order == wire::MemoryOrder::kAcqRel ||
         info.order == wire::MemoryOrder::kSeqCst;
}

// The event does not carry the scope that was too narrow. It is named only where the functions of
// the two accesses leave no doubt: all that orders there with a narrower scope than needed has the
// same.
std::optional<wire::Scope> narrow_scope(const detector::RaceEvent& race,
                                        const ptx::SiteTable& sites) {
  const ptx::Site* const first = find_site(sites, race.first.site);
  const ptx::Site* const second = find_site(sites, race.second.site);
  std::optional<wire::Scope> found;
  for (const ptx::Site& site : sites) {
    const bool is_near = (first != nullptr && site.function == first->function) ||
                         (second != nullptr && site.function == second->function);
    if (!is_near || !orders(site.info) || site.info.scope >= race.needed_scope) {
      continue;
    }
    if (found && *found != site.info.scope) {
      return std::nullopt;
    }
    found = site.info.scope;
  }
  return found;
}

std::string scope_too_narrow(const detector::RaceEvent& race, const ptx::SiteTable& sites) {
  const std::optional<wire::Scope> scope = narrow_scope(race, sites);
  return fmt::format("the fence's scope {}{}is too narrow, {} is needed",
                     scope ? name_of(*scope) : "", scope ? " " : "", name_of(race.needed_scope));
}

std::string atomic_scope_too_narrow(const detector::RaceEvent& race, const ptx::SiteTable& sites) {
  std::string scopes;
  for (const wire::SiteId id : {race.first.site, race.second.site}) {
    const ptx::Site* const site = find_site(sites, id);
    if (site != nullptr && site->info.order != wire::MemoryOrder::kWeak &&
        site->info.scope < race.needed_scope) {
      scopes = std::string(name_of(site->info.scope)) + " ";
    }
  }
  return fmt::format("the atomic's scope {}is too narrow, {} is needed", scopes,
                     name_of(race.needed_scope));
}

std::string side_name(const Access& access) {
  return !access.is_by_host                             ? fmt::format("launch {}", access.launch)
         : access.operation == AccessOperation::kMemset ? "the memset"
                                                        : "the copy";
}

std::string between_host_and_kernel(const Access& first, const Access& second) {
  return fmt::format("no stream order, event or synchronisation between {} and {}",
                     side_name(first),
                     second.is_by_host && first.is_by_host && first.operation == second.operation
                         ? "the other"
                         : side_name(second));
}

std::string nothing_orders(const detector::RaceEvent& race, const Access& first,
                           const Access& second) {
  switch (race.kind) {
    case detector::RaceKind::kInterBlock:
      return fmt::format("no synchronisation between {} and {}", block_name(first),
                         block_name(second));
    case detector::RaceKind::kIntraBlock:
      return fmt::format("two warps of one block: __syncthreads() is missing (warp {} and warp {})",
                         first.warp, second.warp);
    case detector::RaceKind::kIntraWarp:
      return race.first.site == race.second.site
                 ? "two lanes of one warp in one instruction: nothing orders them, an atomic "
                   "operation or different addresses are needed"
                 : "two lanes of one warp: __syncwarp() is missing";
    case detector::RaceKind::kBranchOrdering:
      return "two branches of one warp: nothing orders one before the other";
    case detector::RaceKind::kInterKernel:
      return fmt::format(
          "no stream order, event or synchronisation between launch {} and launch {}", first.launch,
          second.launch);
    case detector::RaceKind::kKernelCopy:
      return between_host_and_kernel(first, second);
  }
  return "";
}

}  // namespace

std::string block_name(const Access& access) {
  if (access.block[1] == 0 && access.block[2] == 0) {
    return fmt::format("block {}", access.block[0]);
  }
  return fmt::format("block [{},{},{}]", access.block[0], access.block[1], access.block[2]);
}

std::string missing_order(const detector::RaceEvent& race, const ptx::SiteTable& sites,
                          const Access& first, const Access& second) {
  switch (race.missing) {
    case detector::MissingOrder::kNoSynchronisation:
      return nothing_orders(race, first, second);
    case detector::MissingOrder::kScopeTooNarrow:
      return scope_too_narrow(race, sites);
    case detector::MissingOrder::kReleaseFenceMissing:
      return "the write is published without a fence: __threadfence() is missing between it and "
             "the "
             "flag or unlock that follows";
    case detector::MissingOrder::kAcquireFenceMissing:
      return "the flag or lock was seen, but no fence follows: __threadfence() is missing between "
             "it "
             "and the access";
    case detector::MissingOrder::kAtomicScopeTooNarrow:
      return atomic_scope_too_narrow(race, sites);
    case detector::MissingOrder::kMixedSize:
      return "atomic or volatile accesses of different sizes overlap in part";
    case detector::MissingOrder::kProxyFenceMissing:
      return "fence.proxy.async is missing";
    case detector::MissingOrder::kAsyncWaitMissing:
      return "the asynchronous copy is not waited for";
    case detector::MissingOrder::kBarrierOnOnePath:
      return fmt::format(
          "__syncthreads() is missing, or a barrier is on one path only: warp {} came to one "
          "after its access, warp {} to none before its own",
          first.warp, second.warp);
    case detector::MissingOrder::kGridWaitMissing:
      return fmt::format(
          "launch {} may begin before launch {} is over: cudaGridDependencySynchronize() "
          "(griddepcontrol.wait) is missing before the access",
          second.launch, first.launch);
    case detector::MissingOrder::kReadOnlyPath:
      return "a read through the read-only path (ld.global.nc, __ldg) need not see what its own "
             "kernel writes: an ordinary load is needed, whatever synchronisation lies between";
  }
  return "";
}

}  // namespace barracuda::report
