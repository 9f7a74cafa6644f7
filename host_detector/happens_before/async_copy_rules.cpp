#include "host_detector/happens_before/async_copy_rules.h"

#include <array>
#include <optional>

#include "device_logger/scope_order.h"
#include "host_detector/byte_mask.h"
#include "host_detector/matrix_reads.h"
#include "host_detector/races/use_after_exit.h"

namespace barracuda::detector {
namespace {

using wire::Asynchrony;
using wire::Operation;

constexpr std::uint32_t kMbarrierBytes = 8;
constexpr std::uint32_t kMaxCopy = SharedShadow::kLimit;  // one side is in shared memory

std::uint64_t offset_of(std::uint64_t tagged) {
  return wire::address_of(tagged) & 0xFFFFFFFFU;
}

std::uint64_t in_cta_of_rank(std::uint32_t rank, std::uint64_t tagged) {
  return wire::tagged_address(wire::AddressSpace::kSharedCluster,
                              (std::uint64_t{rank} << 32) | offset_of(tagged));
}

bool is_mbarrier_address(std::uint64_t tagged) {
  return wire::space_of(tagged) != wire::AddressSpace::kGlobal &&
         offset_of(tagged) % kMbarrierBytes == 0;
}

std::uint8_t touches(Operation operation) {
  if (operation == Operation::kMbarrierInit) {
    return Cell::kWrites;
  }
  return operation == Operation::kMbarrierWait ? Cell::kReads | Cell::kMbarrier
                                               : Cell::kReads | Cell::kWrites | Cell::kMbarrier;
}

ThreadState with_taken(const ThreadState& before, const Clock& near, const Clock& far,
                       bool at_once) {
  ThreadState after = before;
  if (at_once) {
    after.clock.join(near);
    after.clock.join(far);
    return after;
  }
  const boost::intrusive_ptr<FenceState> fences(
      before.fences == nullptr ? new FenceState : new FenceState(*before.fences));
  fences->pending[index_of_level(ScopeLevel::kCta)].join(near);
  fences->pending[index_of_level(ScopeLevel::kCluster)].join(far);
  fences->pending_from = {};
  after.fences = fences;
  return after;
}

}  // namespace

void AsyncCopyRules::cluster_barrier(const Actor& actor, std::uint32_t lanes,
                                     const wire::SiteInfo& site) {
  ClusterBarrier& barrier = actor.cta.launch.cluster_barrier(actor.cta);
  if (site.operation == Operation::kClusterArrive) {
    barrier.arrive(actor.warp, lanes, site.order == wire::MemoryOrder::kRelaxed);
  } else {
    barrier.wait(actor.warp, lanes);
  }
}

void AsyncCopyRules::fence_proxy(const Actor& actor, std::uint32_t lanes) {
  WarpState& warp = actor.warp;
  warp.join_completions(lanes);
  warp.change(lanes, [&](std::uint32_t, const ThreadState& before) {
    ThreadState after = before;
    after.clock.fence_proxy(actor.launch());
    return after;
  });
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const std::uint32_t bit = std::uint32_t{1} << first_lane(rest);
    const WarpTime own{
        .slot = warp_slot(warp.warp()), .lanes = bit | warp.absent(), .time = warp.now()};
    ThreadState after = warp.state(first_lane(rest));
    after.clock.raise(actor.cta.key.fenced(), {&own, 1});
    warp.set(bit, after);
  }
  warp.advance();
}

bool AsyncCopyRules::commit(const Actor& actor, std::uint32_t lanes, const wire::SiteInfo& site) {
  if (site.asynchrony == Asynchrony::kMatrixGroup) {
    actor.warp.completions().matrix_groups().commit();
    return true;
  }
  if (site.asynchrony != Asynchrony::kThreadGroup && site.asynchrony != Asynchrony::kBulkGroup) {
    return false;
  }
  const Completion completion = site.asynchrony == Asynchrony::kThreadGroup
                                    ? Completion::kThreadGroup
                                    : Completion::kBulkWrites;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    actor.warp.completions().groups(completion, first_lane(rest)).commit();
  }
  return true;
}

bool AsyncCopyRules::wait(const Actor& actor, std::uint32_t groups, std::uint32_t lanes,
                          const wire::SiteInfo& site) {
  if (site.asynchrony == Asynchrony::kMatrixGroup) {
    wait_for_matrices(actor, groups, lanes);
    return true;
  }
  if (site.asynchrony != Asynchrony::kThreadGroup && site.asynchrony != Asynchrony::kBulkGroup) {
    return false;
  }
  const bool is_bulk = site.asynchrony == Asynchrony::kBulkGroup;
  Completions& completions = actor.warp.completions();
  for (const std::uint32_t lane : SetBits(lanes)) {
    CopyGroups& of_lane =
        completions.groups(is_bulk ? Completion::kBulkWrites : Completion::kThreadGroup, lane);
    if (groups == wire::kWaitAll) {
      of_lane.commit();
    }
    const Time over = of_lane.over(groups == wire::kWaitAll ? 0 : groups);
    if (is_bulk) {
      completions.wait(Completion::kBulkReads, lane, over);
    }
    if (!is_bulk || !site.reads_only) {
      completions.wait(is_bulk ? Completion::kBulkWrites : Completion::kThreadGroup, lane, over);
    }
  }
  actor.warp.advance();  // what lies before the wait is told from what follows it
  return true;
}

// All that waits knows at once what is over: a group is one of the warpgroup, of which each warp
// has issued its own part.
void AsyncCopyRules::wait_for_matrices(const Actor& actor, std::uint32_t groups,
                                       std::uint32_t lanes) {
  const Time over = actor.warp.completions().matrix_groups().over(groups);
  if (over != 0) {
    std::array<WarpTime, wire::kWarpgroupWarps> reads{};
    std::uint32_t warp = actor.warp.warp() / wire::kWarpgroupWarps * wire::kWarpgroupWarps;
    for (WarpTime& of_warp : reads) {
      of_warp = {.slot = completion_slot(Completion::kMatrixReads, warp++),
                 .lanes = kAllLanes,
                 .time = over};
    }
    actor.warp.change(lanes, [&](std::uint32_t, const ThreadState& before) {
      ThreadState after = before;
      after.clock.raise(actor.cta.key, reads);
      return after;
    });
  }
  actor.warp.advance();  // what lies before the wait is told from what follows it
}

bool AsyncCopyRules::mbarrier(const Actor& actor, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  const bool is_write = touches(site.operation) == Cell::kWrites;
  bool is_possible = true;
  std::uint32_t rest = operation.mask;
  while (rest != 0) {
    const LaneAccess& first = operation.lanes[first_lane(rest)];
    std::uint32_t same = lanes_where(rest, [&](std::uint32_t lane) {
      const LaneAccess& other = operation.lanes[lane];
      return other.address == first.address && other.amount == first.amount &&
             other.value_read == first.value_read && other.flags == first.flags;
    });
    same = is_write ? rest & (~rest + 1) : same;  // weak writes of one mbarrier conflict
    is_possible = alike(actor, operation, same) && is_possible;
    rest &= ~same;
  }
  actor.warp.advance();
  return is_possible;
}

bool AsyncCopyRules::alike(const Actor& actor, const WarpOperation& operation,
                           std::uint32_t lanes) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  const LaneAccess& access = operation.lanes[first_lane(lanes)];
  const std::optional<MemoryPlace> place = place_of(access.address, actor, kMbarrierBytes);
  if (!place || !is_mbarrier_address(access.address)) {
    return report_use_after_exit(engine_, actor, operation.site, first_lane(lanes), access.address,
                                 kMbarrierBytes);
  }
  CtaState& owner = *place->shared_of;
  const bool is_remote = &owner != &actor.cta;
  const bool is_init = site.operation == Operation::kMbarrierInit;
  const bool can_be_remote = site.operation == Operation::kMbarrierArrive ||
                             site.operation == Operation::kMbarrierExpect ||
                             site.operation == Operation::kMbarrierComplete;
  Mbarrier* mbarrier =
      is_init ? owner.mbarriers.get(place->address) : owner.mbarriers.find_valid(place->address);
  if (mbarrier == nullptr || (is_remote && !can_be_remote) ||
      (is_init && (access.amount == 0 || access.amount > Mbarrier::kMaxCount)) ||
      !accesses_.check_range(
          actor, operation, lanes,
          {.tagged = access.address, .bytes = kMbarrierBytes, .flags = touches(site.operation)})) {
    return false;
  }
  const Operand operand{.site = site,
                        .lanes = lanes,
                        .access = access,
                        .mbarrier = *mbarrier,
                        .is_remote = is_remote};
  if (is_init) {
    mbarrier->init(access.amount);
    return true;
  }
  return act(actor, operand);
}

bool AsyncCopyRules::act(const Actor& actor, const Operand& operand) {
  const Operation what = operand.site.operation;
  Mbarrier& mbarrier = operand.mbarrier;
  if (what == Operation::kMbarrierWait) {
    take(actor, operand);
    return true;
  }
  if (what == Operation::kAsyncArrive) {
    return arrive_asynchronously(actor, operand);
  }
  if (what == Operation::kMbarrierInvalidate) {
    mbarrier.invalidate();
    return true;
  }
  if (operand.access.value_read > Mbarrier::kMaxBytes) {
    return false;
  }
  if (what == Operation::kMbarrierArrive) {
    return arrive(actor, operand);
  }
  const auto bytes = static_cast<std::int64_t>(operand.access.value_read);
  for (std::uint32_t rest = operand.lanes; rest != 0; rest &= rest - 1) {
    mbarrier.expect(what == Operation::kMbarrierExpect ? bytes : -bytes);
  }
  return true;
}

void AsyncCopyRules::give(const Actor& actor, const Operand& operand, std::uint32_t lanes) {
  const bool is_unscoped = operand.is_remote && operand.site.is_unscoped;
  const bool reaches =
      !operand.is_remote || is_unscoped || includes(operand.site.scope, wire::Scope::kCluster);
  if (lanes == 0 || !reaches) {
    return;
  }
  Mbarrier::Given& given = operand.mbarrier.gathering();
  Clock& into = is_unscoped ? given.unscoped : operand.is_remote ? given.far : given.near;
  if (operand.site.order != wire::MemoryOrder::kRelaxed) {
    Gathering gathering;
    gathering.add(actor.warp, lanes);
    into.join(gathering.take().clock);
    return;
  }
  const ScopeLevel level = operand.is_remote ? ScopeLevel::kCluster : ScopeLevel::kCta;
  for (const std::uint32_t lane : SetBits(lanes)) {
    const FenceStatePointer& fences = actor.warp.state(lane).fences;
    if (fences != nullptr && fences->released[index_of_level(level)].exists) {
      const Release& release = fences->released[index_of_level(level)];
      into.join(actor.warp.with_own(release.clock, std::uint32_t{1} << lane, release.own));
    }
  }
}

bool AsyncCopyRules::arrive(const Actor& actor, const Operand& operand) {
  const LaneAccess& access = operand.access;
  const bool drops = (access.flags & wire::kLaneDrops) != 0;
  const auto bytes = static_cast<std::int64_t>(access.value_read);
  bool is_possible = true;
  std::uint32_t giving = 0;
  for (std::uint32_t rest = operand.lanes; rest != 0; rest &= rest - 1) {
    if (access.amount == 0 || !operand.mbarrier.can_arrive(access.amount, drops)) {
      is_possible = false;
      continue;
    }
    giving |= std::uint32_t{1} << first_lane(rest);
    operand.mbarrier.expect_before_arrival(bytes);
    if (operand.mbarrier.is_last(access.amount)) {
      give(actor, operand, giving);
      giving = 0;
    }
    operand.mbarrier.arrive(access.amount, drops);
  }
  give(actor, operand, giving);
  return is_possible;
}

bool AsyncCopyRules::arrive_asynchronously(const Actor& actor, const Operand& operand) {
  bool is_possible = operand.access.amount <= 1;
  const std::uint32_t count = is_possible ? operand.access.amount : 0;
  const bool is_of_tensors = operand.site.asynchrony == Asynchrony::kTensorCore;
  const Completion completion = is_of_tensors ? Completion::kTensorReads : Completion::kThreadGroup;
  for (const std::uint32_t lane : SetBits(operand.lanes)) {
    if (is_of_tensors) {
      give(actor, operand, std::uint32_t{1} << lane);
    }
    CopyGroups& groups = actor.warp.completions().groups(completion, lane);
    const WarpTime copies{.slot = completion_slot(completion, actor.warp.warp()),
                          .lanes = (std::uint32_t{1} << lane) | actor.warp.absent(),
                          .time = groups.now()};
    operand.mbarrier.gathering().near.raise(actor.cta.key, {&copies, 1});
    groups.divide();
    if (!operand.mbarrier.can_arrive(count, false)) {
      is_possible = false;
    } else if (count != 0) {
      operand.mbarrier.arrive(count, false);
    }
  }
  return is_possible;
}

void AsyncCopyRules::take(const Actor& actor, const Operand& operand) {
  const Mbarrier::Given& given = operand.mbarrier.complete(operand.access.amount);
  if (given.phase == 0) {
    return;
  }
  Clock near = given.near;
  const std::uint32_t completion = operand.mbarrier.number();
  const WarpTime copies{.slot = mbarrier_slot(completion),
                        .lanes = std::uint32_t{1} << mbarrier_lane(completion),
                        .time = given.phase};
  near.raise(actor.cta.key, {&copies, 1});
  const bool is_wide = includes(operand.site.scope, wire::Scope::kCluster);
  Clock far = is_wide ? given.far : Clock();
  if (is_wide || operand.site.is_unscoped) {
    far.join(given.unscoped);
  }
  const bool at_once = operand.site.order != wire::MemoryOrder::kRelaxed;
  actor.warp.change(operand.lanes, [&](std::uint32_t, const ThreadState& before) {
    return with_taken(before, near, far, at_once);
  });
}

bool AsyncCopyRules::copy(const Actor& actor, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  bool is_possible = true;
  for (const std::uint32_t lane : SetBits(operation.mask)) {
    const LaneAccess& access = operation.lanes[lane];
    Transfer copied{.target = access.address, .source = access.value_read, .bytes = access.amount};
    bool is_done = false;
    if (access.amount > kMaxCopy) {
      is_done = false;
    } else if (site.asynchrony == Asynchrony::kMbarrier) {
      is_done = access.flags != 0
                    ? multicast(actor, operation, lane, copied)
                    : copy_to_mbarrier(actor, operation, lane, copied, access.value_written);
    } else if (site.asynchrony == Asynchrony::kBulkGroup) {
      in_group(actor, lane, copied);
      copied.byte_mask = site.constant == wire::kByteMask ? access.flags : copied.byte_mask;
      is_done = transfer(actor, operation, lane, copied);
    } else if (site.asynchrony == Asynchrony::kNone) {
      // A copy of a tensor map is the warp's: lane 0 makes it, the fence that follows tells
      // the others.
      is_done = (access.value_read != wire::kNoOperand && lane != first_lane(operation.mask)) ||
                store(actor, operation, lane);
    }
    is_possible = is_possible && is_done;
  }
  return is_possible;
}

void AsyncCopyRules::in_group(const Actor& actor, std::uint32_t lane, Transfer& transfer) {
  const std::uint32_t warp = actor.warp.warp();
  transfer.write_completion = {.cta = actor.cta.index,
                               .slot = completion_slot(Completion::kBulkWrites, warp)};
  transfer.read_completion = {.cta = actor.cta.index,
                              .slot = completion_slot(Completion::kBulkReads, warp)};
  transfer.time = actor.warp.completions().groups(Completion::kBulkWrites, lane).now();
}

bool AsyncCopyRules::matrix_product(const Actor& actor, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  if (site.asynchrony == Asynchrony::kTensorCore) {
    return tensor_product(actor, operation);
  }
  if (site.asynchrony != Asynchrony::kMatrixGroup) {
    return false;
  }
  const PackedCompletion completion{
      .cta = actor.cta.index,
      .slot = completion_slot(Completion::kMatrixReads, actor.warp.warp()),
      .lane = 0};
  const Time time = actor.warp.completions().matrix_groups().now();
  const std::uint32_t issuer = operation.mask & (~operation.mask + 1);
  bool is_possible = true;
  const bool is_known =
      for_each_matrix_read(site, operation, [&](std::uint64_t tagged, std::uint32_t bytes) {
        is_possible = accesses_.check_range(actor, operation, issuer,
                                            {.tagged = tagged,
                                             .bytes = bytes,
                                             .flags = Cell::kReads | Cell::kAsynchronous,
                                             .completion = completion.packed(),
                                             .time = time}) &&
                      is_possible;
      });
  return is_known && is_possible;
}

bool AsyncCopyRules::tensor_product(const Actor& actor, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  bool is_possible = true;
  for (const std::uint32_t lane : SetBits(operation.mask)) {
    const PackedCompletion completion{
        .cta = actor.cta.index,
        .slot = completion_slot(Completion::kTensorReads, actor.warp.warp()),
        .lane = lane};
    const Time time = actor.warp.completions().groups(Completion::kTensorReads, lane).now();
    const bool is_known = for_each_tensor_read(
        site, operation.lanes[lane], [&](std::uint64_t tagged, std::uint32_t bytes) {
          is_possible = accesses_.check_range(actor, operation, std::uint32_t{1} << lane,
                                              {.tagged = tagged,
                                               .bytes = bytes,
                                               .flags = Cell::kReads | Cell::kAsynchronous,
                                               .completion = completion.packed(),
                                               .time = time}) &&
                        is_possible;
        });
    is_possible = is_known && is_possible;
  }
  return is_possible;
}

bool AsyncCopyRules::multicast(const Actor& actor, const WarpOperation& operation,
                               std::uint32_t lane, const Transfer& transfer) {
  const LaneAccess& access = operation.lanes[lane];
  if (wire::space_of(transfer.target) == wire::AddressSpace::kGlobal ||
      !is_mbarrier_address(access.value_written)) {
    return false;
  }
  // The map is read once, before anything has arrived anywhere: any mbarrier says that it has been.
  const std::uint32_t own = std::uint32_t{1} << actor.cta.launch.rank_of(actor.cta.index);
  const std::uint32_t all = access.flags;
  const std::uint32_t telling = (all & own) != 0 ? own : all & (~all + 1);
  bool is_possible = true;
  for (const std::uint32_t rank : SetBits(access.flags)) {
    Transfer to_one = transfer;
    to_one.reads_map = transfer.reads_map && telling == std::uint32_t{1} << rank;
    to_one.target = in_cta_of_rank(rank, transfer.target);
    is_possible = copy_to_mbarrier(actor, operation, lane, to_one,
                                   in_cta_of_rank(rank, access.value_written)) &&
                  is_possible;
  }
  return is_possible;
}

bool AsyncCopyRules::copy_to_mbarrier(const Actor& actor, const WarpOperation& operation,
                                      std::uint32_t lane, Transfer transfer, std::uint64_t tagged) {
  const std::optional<MemoryPlace> place =
      is_mbarrier_address(tagged) ? place_of(tagged, actor, kMbarrierBytes) : std::nullopt;
  if (!place) {
    return report_use_after_exit(engine_, actor, operation.site, lane, tagged, kMbarrierBytes);
  }
  Mbarrier* const mbarrier = place->shared_of->mbarriers.find_valid(place->address);
  if (mbarrier == nullptr ||
      !accesses_.check_range(
          actor, operation, std::uint32_t{1} << lane,
          {.tagged = tagged, .bytes = kMbarrierBytes, .flags = touches(Operation::kCopy)})) {
    return false;
  }
  transfer.write_completion =
      transfer.read_completion = {.cta = place->shared_of->index,
                                  .slot = mbarrier_slot(mbarrier->number()),
                                  .lane = mbarrier_lane(mbarrier->number())};
  if (transfer.box != nullptr && transfer.bytes == 0) {
    mbarrier->forget_bytes();  // its map is not known
  }
  transfer.time = mbarrier->phase();
  const bool is_map_there =
      !transfer.reads_map ||
      read_map(actor, operation, lane, transfer.read_completion, transfer.time);
  const bool is_done = this->transfer(actor, operation, lane, transfer) && is_map_there;
  mbarrier->expect(-static_cast<std::int64_t>(transfer.bytes));
  return is_done;
}

bool AsyncCopyRules::transfer(const Actor& actor, const WarpOperation& operation,
                              std::uint32_t lane, const Transfer& transfer) {
  if (transfer.box != nullptr) {
    return transfer_box(actor, operation, lane, transfer);
  }
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  const bool reads_target = site.order != wire::MemoryOrder::kWeak;  // a reduction
  const auto writes = static_cast<std::uint8_t>(Cell::kWrites | Cell::kAsynchronous |
                                                (reads_target ? Cell::kReads : 0));
  bool is_possible = true;
  const auto touch = [&](std::uint64_t tagged, std::uint8_t flags, PackedCompletion completion) {
    for_each_masked(
        transfer.bytes, transfer.byte_mask, [&](std::uint32_t offset, std::uint32_t bytes) {
          is_possible = accesses_.check_range(actor, operation, std::uint32_t{1} << lane,
                                              {.tagged = tagged + offset,
                                               .bytes = bytes,
                                               .flags = flags,
                                               .completion = completion.packed(),
                                               .time = transfer.time}) &&
                        is_possible;
        });
  };
  if (transfer.source != wire::kNoOperand) {
    touch(transfer.source, Cell::kReads | Cell::kAsynchronous, transfer.read_completion);
  }
  touch(transfer.target, writes, transfer.write_completion);
  return is_possible;
}

bool AsyncCopyRules::store(const Actor& actor, const WarpOperation& operation, std::uint32_t lane) {
  const LaneAccess& access = operation.lanes[lane];
  const auto touch = [&](std::uint64_t tagged, std::uint8_t flags) {
    return accesses_.check_range(actor, operation, std::uint32_t{1} << lane,
                                 {.tagged = tagged, .bytes = access.amount, .flags = flags});
  };
  const bool is_read =
      access.value_read == wire::kNoOperand || touch(access.value_read, Cell::kReads);
  return touch(access.address, Cell::kWrites) && is_read;
}

}  // namespace barracuda::detector
