#include "tests/oracle/host_detector/random_async.h"

#include <array>
#include <bit>
#include <optional>

#include "device_logger/matrix_descriptor.h"
#include "device_logger/tensor_reads.h"

namespace barracuda::oracle {
namespace {

using wire::Asynchrony;
using wire::MemoryOrder;
using wire::Operation;
using wire::RecordKind;
using wire::Scope;

constexpr std::uint64_t kGlobalBase = 0x10000;
constexpr std::uint64_t kMbarriers = 512;  // offset in shared memory

std::uint64_t global(std::uint64_t offset) {
  return wire::tagged_address(wire::AddressSpace::kGlobal, kGlobalBase + offset);
}

std::uint64_t shared(std::uint64_t offset) {
  return wire::tagged_address(wire::AddressSpace::kShared, offset);
}

std::uint64_t shared_of(std::uint32_t rank, std::uint64_t offset) {
  return wire::tagged_address(wire::AddressSpace::kSharedCluster,
                              (std::uint64_t{rank} << 32) | offset);
}

class AsyncMaker {
 public:
  AsyncMaker(const Choice& choice, const detector::WarpOperation& who, const TraceShape& shape,
             const ReferenceDetector& state)
      : choice_(choice),
        who_(who),
        shape_(shape),
        state_(state),
        launch_(static_cast<std::uint32_t>(who.launch)),
        mbarrier_(kMbarriers + 8 * (choice.where / 4 % 2)) {}

  std::vector<AsyncRecord> make() {
    const std::uint32_t kind = choice_.how % 22;
    if (kind < 3) {
      cluster_barrier();
    } else if (kind < 5) {
      init();
    } else if (kind < 8) {
      mbarrier();
    } else if (kind < 10) {
      wait_for_mbarrier();
    } else if (kind < 12) {
      copy_by_thread();
    } else if (kind < 15) {
      group();
    } else if (kind < 18) {
      copy();
    } else if (kind < 19) {
      async_arrive();
    } else if (kind < 20) {
      proxy_fence();
    } else {
      matrix_product();
    }
    return made_;
  }

 private:
  void emit(detector::WarpOperation operation, RecordKind kind, const wire::SiteInfo& site) {
    operation.kind = kind;
    if (operation.mask != 0) {
      made_.push_back({operation, site});
    }
  }

  void event(const wire::SiteInfo& site, std::uint32_t operand) {
    detector::WarpOperation operation = who_;
    operation.event_operand = operand;
    emit(operation, RecordKind::kEvent, site);
  }

  [[nodiscard]] wire::SiteInfo word(Operation operation, MemoryOrder order, Scope scope) const {
    wire::SiteInfo site{.operation = operation, .order = order, .scope = scope};
    site.element_bytes = 8;
    site.element_count = 1;
    return site;
  }

  [[nodiscard]] Scope scope() const {
    return choice_.lanes / 8 % 2 == 0 ? Scope::kCta : Scope::kCluster;
  }

  // Of an mbarrier; what says no scope has that of a CTA.
  [[nodiscard]] wire::SiteInfo scoped(Operation operation, MemoryOrder order) const {
    wire::SiteInfo site = word(operation, order, scope());
    site.is_unscoped = site.scope == Scope::kCta && choice_.how / 22 % 2 != 0;
    return site;
  }

  void cluster_barrier() {
    using State = ReferenceDetector::ClusterBarrierState;
    std::array<std::uint32_t, 3> lanes{};
    for (std::uint32_t rest = who_.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      lanes[static_cast<std::size_t>(
          state_.cluster_barrier_state({launch_, who_.cta, who_.warp, lane}))] |= 1U << lane;
    }
    const std::uint32_t waiting = lanes[static_cast<std::size_t>(State::kCanWait)];
    detector::WarpOperation operation = who_;
    operation.mask = waiting != 0 ? waiting : lanes[static_cast<std::size_t>(State::kCanArrive)];
    const bool is_relaxed = waiting == 0 && choice_.where % 4 == 0;
    emit(operation, RecordKind::kEvent,
         {.operation = waiting != 0 ? Operation::kClusterWait : Operation::kClusterArrive,
          .order = waiting != 0 ? MemoryOrder::kAcquire
                   : is_relaxed ? MemoryOrder::kRelaxed
                                : MemoryOrder::kRelease,
          .scope = Scope::kCluster});
  }

  void proxy_fence() {
    wire::SiteInfo site{.operation = Operation::kProxyFence};
    if (choice_.where % 4 >= 2) {  // of tensor maps
      site.proxy = wire::Proxy::kTensorMap;
      site.order = choice_.where % 4 == 2 ? MemoryOrder::kRelease : MemoryOrder::kAcquire;
      site.scope = choice_.lanes % 4 == 0 ? Scope::kCta : Scope::kGpu;
      site.aligned = choice_.where % 4 == 2 && choice_.lanes % 8 == 1;
    }
    event(site, 0);
  }

  // A copy by a map in memory, of which nothing else is known.
  void copy_by_map(detector::WarpOperation operation) {
    const bool loads = choice_.lanes / 64 % 2 == 0;
    if (loads && !state_.mbarrier_counts(launch_, who_.cta, mbarrier_)) {
      return;
    }
    one_lane(operation);
    wire::SiteInfo read = word(Operation::kRead, MemoryOrder::kWeak, Scope::kSys);
    read.element_bytes = 16;
    read.element_count = 8;
    read.proxy = wire::Proxy::kTensorMap;
    read.asynchrony = loads ? Asynchrony::kMbarrier : Asynchrony::kBulkGroup;
    operation.lanes.fill({.address = global(0)});
    emit(operation, RecordKind::kScattered, read);
    wire::SiteInfo site = word(Operation::kTensorCopy, MemoryOrder::kWeak, Scope::kSys);
    site.proxy = wire::Proxy::kAsync;
    site.asynchrony = read.asynchrony;
    operation.lanes.fill(
        {.address = shared(0), .value_written = loads ? shared(mbarrier_) : wire::kNoOperand});
    emit(operation, RecordKind::kTensorCopy, site);
    if (!loads) {
      end_group(Asynchrony::kBulkGroup, choice_.lanes / 256);
    }
  }

  void one_lane(detector::WarpOperation& operation) const {
    operation.mask = std::uint32_t{1} << std::countr_zero(operation.mask);
  }

  void init() {
    detector::WarpOperation operation = who_;
    one_lane(operation);
    const bool is_valid = state_.mbarrier_counts(launch_, who_.cta, mbarrier_).has_value();
    if (is_valid && choice_.where % 4 != 0) {
      return;
    }
    for (detector::LaneAccess& lane : operation.lanes) {
      lane = {.address = shared(mbarrier_), .amount = is_valid ? 0 : 1 + choice_.lanes / 2 % 3};
    }
    emit(operation, RecordKind::kOperands,
         word(is_valid ? Operation::kMbarrierInvalidate : Operation::kMbarrierInit,
              MemoryOrder::kWeak, Scope::kSys));
  }

  // The other CTA of the cluster.
  [[nodiscard]] std::optional<std::uint32_t> other_cta() const {
    if (!shape_.clusters || (who_.cta ^ 1U) >= shape_.ctas ||
        !state_.is_alive(launch_, who_.cta ^ 1U)) {
      return std::nullopt;
    }
    return who_.cta ^ 1U;
  }

  // Arrivals, and bytes that are expected or come.
  void mbarrier() {
    const auto other = choice_.where % 3 == 0 ? other_cta() : std::nullopt;
    const std::uint32_t cta = other.value_or(who_.cta);
    auto counts = state_.mbarrier_counts(launch_, cta, mbarrier_);
    if (!counts) {
      return;
    }
    detector::WarpOperation operation = who_;
    const std::uint64_t address = other ? shared_of(*other % 2, mbarrier_) : shared(mbarrier_);
    if (choice_.where / 8 % 4 == 0 || counts->pending == 0) {
      one_lane(operation);
      const bool comes = counts->bytes > 0 || (counts->bytes == 0 && choice_.lanes % 2 == 0);
      const auto bytes = static_cast<std::uint64_t>(counts->bytes == 0 ? 16
                                                    : comes            ? counts->bytes
                                                                       : -counts->bytes);
      for (detector::LaneAccess& lane : operation.lanes) {
        lane = {.address = address, .value_read = bytes};
      }
      emit(operation, RecordKind::kOperands,
           scoped(comes ? Operation::kMbarrierComplete : Operation::kMbarrierExpect,
                  MemoryOrder::kRelaxed));
      return;
    }
    arrive(operation, address, *counts);
  }

  void arrive(detector::WarpOperation& operation, std::uint64_t address,
              ReferenceDetector::MbarrierCounts counts) {
    const bool drops = choice_.lanes / 16 % 8 == 0;
    const std::uint64_t bytes = choice_.lanes / 128 % 4 == 0 ? 16 : 0;
    const std::uint32_t amount = 1 + (choice_.lanes / 512 % 4 == 0 ? 1 : 0);
    std::uint32_t can = 0;
    for (std::uint32_t rest = operation.mask; rest != 0; rest &= rest - 1) {
      if (amount > counts.pending || (drops && amount >= counts.expected)) {
        continue;
      }
      can |= rest & (~rest + 1);
      counts.pending -= amount;
      counts.expected -= drops ? amount : 0;
      counts.bytes += static_cast<std::int64_t>(bytes);
      if (counts.pending == 0 && counts.bytes == 0) {
        counts.pending = counts.expected;
      }
    }
    operation.mask = can;
    for (detector::LaneAccess& lane : operation.lanes) {
      lane = {.address = address,
              .value_read = bytes,
              .flags = drops ? wire::kLaneDrops : std::uint16_t{0},
              .amount = amount};
    }
    emit(operation, RecordKind::kOperands,
         scoped(Operation::kMbarrierArrive,
                choice_.lanes % 4 == 0 ? MemoryOrder::kRelaxed : MemoryOrder::kRelease));
  }

  void wait_for_mbarrier() {
    const auto counts = state_.mbarrier_counts(launch_, who_.cta, mbarrier_);
    if (!counts) {
      return;
    }
    const auto complete = static_cast<std::uint32_t>(counts->phase - 1);
    const std::uint32_t newest = (complete + 1) % 2;
    detector::WarpOperation operation = who_;
    for (detector::LaneAccess& lane : operation.lanes) {
      lane = {.address = shared(mbarrier_),
              .amount = choice_.where % 4 == 0   ? newest ^ 1U
                        : choice_.where % 4 == 1 ? wire::kUnknownParity
                                                 : newest};
    }
    if (complete == 0 && operation.lanes[0].amount != newest) {
      return;  // would not have returned true
    }
    emit(operation, RecordKind::kOperands,
         scoped(Operation::kMbarrierWait,
                choice_.lanes % 8 == 0 ? MemoryOrder::kRelaxed : MemoryOrder::kAcquire));
  }

  // cp.async: what it reads and what it writes.
  void copy_by_thread() {
    const std::uint32_t width = choice_.lanes % 4 == 0 ? 8 : 4;
    detector::WarpOperation read = who_, write = who_;
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      const std::uint32_t stride = choice_.where / 64 * width;
      const std::uint64_t place = std::uint64_t{lane % 4} * stride % 32;
      read.lanes[lane] = {.address = global(choice_.where / 4 % 3 * 8 + place)};
      write.lanes[lane] = {.address = shared(choice_.lanes / 4 % 3 * 8 + place)};
    }
    wire::SiteInfo site = word(Operation::kRead, MemoryOrder::kWeak, Scope::kSys);
    site.element_bytes = static_cast<std::uint8_t>(width);
    site.asynchrony = Asynchrony::kThreadGroup;
    emit(read, RecordKind::kScattered, site);
    site.operation = Operation::kWrite;
    emit(write, RecordKind::kScattered, site);
    end_group(Asynchrony::kThreadGroup, choice_.lanes / 16);
  }

  void group_event(Operation operation, Asynchrony asynchrony, std::uint32_t left,
                   bool reads_only) {
    wire::SiteInfo site{.operation = operation};
    site.asynchrony = asynchrony;
    site.reads_only = reads_only;
    event(site, left);
  }

  void group() {
    const bool is_bulk = choice_.lanes / 4 % 2 != 0;
    const Asynchrony asynchrony = is_bulk ? Asynchrony::kBulkGroup : Asynchrony::kThreadGroup;
    constexpr std::array kLeft{0U, 0U, 1U, 2U, wire::kWaitAll};
    const std::uint32_t left = is_bulk ? choice_.where / 8 % 2 : kLeft[choice_.where / 8 % 5];
    if (choice_.where % 8 < 3) {
      group_event(Operation::kAsyncCommit, asynchrony, 0, false);
    } else {
      group_event(Operation::kAsyncWait, asynchrony, left, is_bulk && choice_.lanes / 8 % 2 == 0);
    }
  }

  // As programs do: the copies of a group, its end and a wait follow each other closely.
  void end_group(Asynchrony asynchrony, std::uint32_t how) {
    if (how % 4 == 0) {
      return;
    }
    group_event(Operation::kAsyncCommit, asynchrony, 0, false);
    if (how % 4 >= 2) {
      group_event(Operation::kAsyncWait, asynchrony, how % 4 - 2,
                  asynchrony == Asynchrony::kBulkGroup && how / 4 % 2 == 0);
    }
  }

  void async_arrive() {
    auto counts = state_.mbarrier_counts(launch_, who_.cta, mbarrier_);
    if (!counts) {
      return;
    }
    const std::uint32_t amount = choice_.where % 2;
    if (choice_.lanes / 32 % 2 == 0) {
      copy_by_thread();
    }
    detector::WarpOperation operation = who_;
    operation.mask = 0;
    for (std::uint32_t rest = who_.mask; rest != 0; rest &= rest - 1) {
      if (amount <= counts->pending) {
        operation.mask |= rest & (~rest + 1);
        counts->pending -= amount;
        if (counts->pending == 0 && counts->bytes == 0) {
          counts->pending = counts->expected;
        }
      }
    }
    for (detector::LaneAccess& lane : operation.lanes) {
      lane = {.address = shared(mbarrier_), .amount = amount};
    }
    wire::SiteInfo site = word(Operation::kAsyncArrive, MemoryOrder::kRelaxed, Scope::kCta);
    if (amount == 1 && choice_.lanes / 128 % 2 == 0) {  // a commit of tcgen05
      site = word(Operation::kAsyncArrive, MemoryOrder::kRelease, Scope::kCluster);
      site.asynchrony = Asynchrony::kTensorCore;
    }
    emit(operation, RecordKind::kOperands, site);
    if (choice_.lanes / 32 % 4 == 3) {
      copy_by_thread();
    }
  }

  // st.bulk
  void store_in_bulk(detector::WarpOperation& operation) {
    wire::SiteInfo site = word(Operation::kCopy, MemoryOrder::kWeak, Scope::kSys);
    site.element_bytes = 1;
    operation.lanes.fill({.address = shared(choice_.lanes / 16 % 3 * 8),
                          .value_read = wire::kNoOperand,
                          .value_written = wire::kNoOperand,
                          .amount = 8 * (1 + choice_.lanes / 4 % 4)});
    emit(operation, RecordKind::kOperands, site);
  }

  // Bulk copies, st.async, red.async; by few lanes, as programs do.
  void copy() {
    detector::WarpOperation operation = who_;
    if (choice_.lanes % 4 != 0) {
      one_lane(operation);
    }
    if (choice_.how / 22 % 4 == 2 && choice_.where % 2 != 0) {
      store_in_bulk(operation);
      return;
    }
    if (choice_.how / 22 % 4 == 3 && choice_.where % 2 != 0) {
      copy_by_map(operation);
      return;
    }
    wire::SiteInfo site = word(Operation::kCopy, MemoryOrder::kWeak, Scope::kSys);
    site.element_bytes = 4;
    site.proxy = wire::Proxy::kAsync;
    const std::uint32_t bytes = 4 * (1 + choice_.lanes / 4 % 4);
    const std::uint32_t from = choice_.where / 4 % 3 * 8;
    const std::uint32_t to = choice_.lanes / 16 % 3 * 8;
    const bool by_group = choice_.lanes / 64 % 2 == 0;
    const auto other = choice_.where % 2 == 0 ? other_cta() : std::nullopt;
    const bool is_valid_here = state_.mbarrier_counts(launch_, who_.cta, mbarrier_).has_value();
    const bool is_valid_there =
        other && state_.mbarrier_counts(launch_, *other, mbarrier_).has_value();
    detector::LaneAccess lane{.amount = bytes};
    if (by_group) {
      site.asynchrony = Asynchrony::kBulkGroup;
      lane.address = global(to);
      lane.value_read = shared(from);
      lane.value_written = wire::kNoOperand;
      if (choice_.lanes / 128 % 2 == 0) {  // cp.reduce.async.bulk
        site.order = MemoryOrder::kRelaxed;
        site.scope = Scope::kGpu;
      } else if (choice_.how / 22 % 2 != 0) {
        site.constant = wire::kByteMask;
        site.element_bytes = 1;
        lane.flags = static_cast<std::uint16_t>(choice_.lanes / 256);
      }
    } else if (is_valid_there && choice_.lanes / 128 % 2 == 0) {  // st.async, red.async
      site.asynchrony = Asynchrony::kMbarrier;
      site.proxy = wire::Proxy::kGeneric;
      lane = {.address = shared_of(*other % 2, to),
              .value_read = wire::kNoOperand,
              .value_written = shared_of(*other % 2, mbarrier_),
              .amount = 4};
      if (choice_.lanes / 256 % 2 == 0) {
        site.order = MemoryOrder::kRelaxed;
        site.scope = Scope::kCluster;
      }
    } else if (is_valid_here || is_valid_there) {
      site.asynchrony = Asynchrony::kMbarrier;
      lane.value_read = global(from);
      if (is_valid_here && is_valid_there && choice_.lanes / 256 % 2 == 0) {
        lane.flags = 3;
      }
      const bool goes_there = lane.flags == 0 && is_valid_there;
      lane.address = goes_there ? shared_of(*other % 2, to) : shared(to);
      lane.value_written = goes_there ? shared_of(*other % 2, mbarrier_) : shared(mbarrier_);
    } else {
      return;
    }
    operation.lanes.fill(lane);
    emit(operation, RecordKind::kOperands, site);
    if (by_group) {
      end_group(Asynchrony::kBulkGroup, choice_.lanes / 256);
    }
  }

  // tcgen05.mma of the smallest matrices, by each lane.
  void tensor_product() {
    const bool is_sparse = choice_.lanes % 3 == 0;
    const wire::TensorReads reads{.has_tensor_memory = choice_.lanes % 2 != 0,
                                  .is_sparse = is_sparse};
    const std::uint32_t transposed = choice_.lanes / 2 % 4;
    constexpr std::uint64_t kVersion = std::uint64_t{1} << 46;
    wire::SiteInfo site = word(Operation::kMatrixProduct, MemoryOrder::kWeak, Scope::kSys);
    site.element_bytes = 16;
    site.proxy = wire::Proxy::kAsync;
    site.asynchrony = Asynchrony::kTensorCore;
    site.constant = reads.packed();
    detector::WarpOperation operation = who_;
    operation.lanes.fill({.address = shared(0),
                          .value_read = reads.has_tensor_memory
                                            ? wire::kNoOperand
                                            : kVersion | descriptor(choice_.lanes / 8),
                          .value_written = kVersion | descriptor(choice_.lanes / 32),
                          .amount = 1U << 4 | std::uint32_t{is_sparse} << 2 | transposed << 15 |
                                    1U << 17 | 4U << 24});
    emit(operation, RecordKind::kOperands, site);
  }

  // A wgmma of the smallest matrices, or the end of its group and a wait by themselves.
  void matrix_product() {
    if (choice_.where % 4 == 1) {
      tensor_product();
      return;
    }
    if (choice_.where % 4 != 0) {
      const wire::ProductShape shape{.columns = 8,
                                     .has_registers = choice_.lanes % 2 != 0,
                                     .a = major(choice_.lanes / 2),
                                     .b = major(choice_.lanes / 4),
                                     .is_sparse = choice_.lanes % 3 == 0};
      wire::SiteInfo site = word(Operation::kMatrixProduct, MemoryOrder::kWeak, Scope::kSys);
      site.element_bytes = 16;
      site.proxy = wire::Proxy::kAsync;
      site.asynchrony = Asynchrony::kMatrixGroup;
      site.constant = shape.packed();
      detector::WarpOperation operation = who_;
      one_lane(operation);
      operation.lanes.fill(
          {.address = shared(0),
           .value_read = shape.has_registers ? wire::kNoOperand : descriptor(choice_.lanes / 8),
           .value_written = descriptor(choice_.lanes / 32)});
      emit(operation, RecordKind::kOperands, site);
    }
    end_group(Asynchrony::kMatrixGroup, choice_.lanes / 128);
  }

  static wire::MatrixMajor major(std::uint32_t choice) {
    return choice % 2 == 0 ? wire::MatrixMajor::kDepth : wire::MatrixMajor::kRows;
  }

  // Within the first bytes of shared memory, which other accesses use too: rows lie on each other.
  static std::uint64_t descriptor(std::uint32_t choice) {
    const std::uint64_t start = choice % 2, leading = choice / 2 % 2;
    return start | leading << 16;
  }

  const Choice& choice_;
  const detector::WarpOperation& who_;
  const TraceShape& shape_;
  const ReferenceDetector& state_;
  std::uint32_t launch_;
  std::uint64_t mbarrier_;
  std::vector<AsyncRecord> made_;
};

}  // namespace

std::vector<AsyncRecord> async_records(const Choice& choice, const detector::WarpOperation& who,
                                       const TraceShape& shape, const ReferenceDetector& state) {
  return AsyncMaker(choice, who, shape, state).make();
}

void put_elsewhere_in_cluster(detector::WarpOperation& operation, const TraceShape& shape,
                              const ReferenceDetector& state) {
  const std::uint32_t other = operation.cta ^ 1U;
  if (!shape.clusters || other >= shape.ctas ||
      !state.is_alive(static_cast<std::uint32_t>(operation.launch), other)) {
    return;
  }
  for (detector::LaneAccess& lane : operation.lanes) {
    lane.address = shared_of(other % 2, wire::address_of(lane.address));
  }
}

}  // namespace barracuda::oracle
