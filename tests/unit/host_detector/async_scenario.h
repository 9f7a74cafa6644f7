// What scenario.h has not: clusters, mbarriers and asynchronous copies.
#pragma once

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {

using wire::Asynchrony;

inline constexpr std::uint64_t kMbarrier = 256;  // offset in shared memory

inline std::uint64_t shared_of(std::uint32_t rank, std::uint64_t offset) {
  return wire::tagged_address(wire::AddressSpace::kSharedCluster,
                              (std::uint64_t{rank} << 32) | offset);
}

class AsyncScenario : public Scenario {
 public:
  // Before a kernel that copies is launched, the detector has the sites of its module.
  AsyncScenario() { start({}, {.operation = Operation::kCopy}, RecordKind::kOperands); }

  // One launch, of clusters if `cluster` says how many blocks each has.
  AsyncScenario(std::uint32_t ctas, std::uint32_t threads, std::uint32_t cluster = 0)
      : AsyncScenario() {
    cluster == 0 ? launch(ctas, threads) : launch_clusters(ctas, threads, cluster);
  }

  LaunchId launch_clusters(std::uint32_t ctas, std::uint32_t threads, std::uint32_t of) {
    LaunchInfo info{.id = LaunchId{1}};
    info.grid.x = ctas;
    info.block.x = threads;
    info.cluster.x = of;
    detector.begin_launch(info);
    return info.id;
  }

  void cluster_arrive(const Who& who, MemoryOrder order = MemoryOrder::kRelease) {
    event(who, {.operation = Operation::kClusterArrive, .order = order, .scope = Scope::kCluster});
  }

  void cluster_wait(const Who& who) {
    event(who, {.operation = Operation::kClusterWait,
                .order = MemoryOrder::kAcquire,
                .scope = Scope::kCluster});
  }

  void proxy_fence(const Who& who) { event(who, {.operation = Operation::kProxyFence}); }

  // amount and bytes as in record.h.
  SiteId mbarrier(const Who& who, Operation what, std::uint64_t address, std::uint32_t amount,
                  std::uint64_t bytes = 0, Scope scope = Scope::kCta, bool is_unscoped = false) {
    SiteInfo site{.operation = what, .order = MemoryOrder::kRelease, .scope = scope};
    site.is_unscoped = is_unscoped;
    if (what == Operation::kMbarrierInit || what == Operation::kMbarrierInvalidate) {
      site.order = MemoryOrder::kWeak;
    } else if (what == Operation::kMbarrierWait) {
      site.order = MemoryOrder::kAcquire;
    }
    return operands(who, site, {.address = address, .value_read = bytes, .amount = amount});
  }

  SiteId init(const Who& who, std::uint32_t count) {
    return mbarrier(who, Operation::kMbarrierInit, shared(kMbarrier), count);
  }

  SiteId arrive(const Who& who, std::uint64_t bytes = 0) {
    return mbarrier(who, Operation::kMbarrierArrive, shared(kMbarrier), 1, bytes);
  }

  SiteId wait(const Who& who, std::uint32_t parity) {
    return mbarrier(who, Operation::kMbarrierWait, shared(kMbarrier), parity);
  }

  // cp.async of a word, from global memory to shared memory; the site of the write.
  SiteId copy_async(const Who& who, std::uint64_t to, std::uint64_t from) {
    SiteInfo site = word(Operation::kRead);
    site.asynchrony = Asynchrony::kThreadGroup;
    access(who, site, from, 4);
    site.operation = Operation::kWrite;
    return access(who, site, to, 4);
  }

  void commit(const Who& who, Asynchrony asynchrony = Asynchrony::kThreadGroup) {
    SiteInfo site{.operation = Operation::kAsyncCommit};
    site.asynchrony = asynchrony;
    event(who, site);
  }

  void wait_group(const Who& who, std::uint32_t left,
                  Asynchrony asynchrony = Asynchrony::kThreadGroup, bool reads_only = false) {
    SiteInfo site{.operation = Operation::kAsyncWait};
    site.asynchrony = asynchrony;
    site.reads_only = reads_only;
    event(who, site, left);
  }

  // Bulk copies: to an mbarrier, or without one in a bulk group.
  SiteId bulk(const Who& who, std::uint64_t to, std::uint64_t from, std::uint32_t bytes,
              std::uint64_t mbarrier = wire::kNoOperand, std::uint16_t ctas = 0) {
    SiteInfo site{.operation = Operation::kCopy, .proxy = wire::Proxy::kAsync};
    site.asynchrony = mbarrier == wire::kNoOperand ? Asynchrony::kBulkGroup : Asynchrony::kMbarrier;
    return operands(who, site,
                    {.address = to,
                     .value_read = from,
                     .value_written = mbarrier,
                     .flags = ctas,
                     .amount = bytes});
  }

  // A store of it with a mask of the bytes of each sixteen.
  SiteId masked(const Who& who, std::uint64_t to, std::uint64_t from, std::uint32_t bytes,
                std::uint16_t mask) {
    SiteInfo site{.operation = Operation::kCopy, .proxy = wire::Proxy::kAsync};
    site.asynchrony = Asynchrony::kBulkGroup;
    site.constant = wire::kByteMask;
    return operands(who, site,
                    {.address = to,
                     .value_read = from,
                     .value_written = wire::kNoOperand,
                     .flags = mask,
                     .amount = bytes});
  }

  // st.bulk
  SiteId store_in_bulk(const Who& who, std::uint64_t to, std::uint32_t bytes) {
    return operands(who, {.operation = Operation::kCopy},
                    {.address = to,
                     .value_read = wire::kNoOperand,
                     .value_written = wire::kNoOperand,
                     .amount = bytes});
  }

  SiteId operands(const Who& who, const SiteInfo& what, const LaneAccess& lane) {
    SiteInfo site = what;
    if (site.operation != Operation::kCopy) {
      site.element_bytes = 8;
      site.element_count = 1;
    }
    WarpOperation operation = start(who, site, RecordKind::kOperands);
    operation.lanes.fill(lane);
    detector.apply(operation);
    return operation.site;
  }

  [[nodiscard]] bool lacks(MissingOrder missing) const {
    return has_only(Severity::kError) && races()[0].missing == missing;
  }
};

}  // namespace barracuda::detector::test
