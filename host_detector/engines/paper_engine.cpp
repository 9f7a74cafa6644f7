#include "host_detector/engines/paper_engine.h"

#include <algorithm>
#include <utility>

#include "device_logger/memory_order.h"
#include "host_detector/byte_mask.h"
#include "host_detector/matrix_reads.h"
#include "host_detector/shadow/shadow_memory.h"
#include "host_detector/well_formed.h"

namespace barracuda::detector::paper {
namespace {

using wire::FenceScope;
using wire::Operation;
using wire::RecordKind;

constexpr std::uint32_t kMbarrierBytes = 8;

bool is_atomic(Operation operation) {
  return operation == Operation::kAtomic || operation == Operation::kReduction;
}

// Volatile accesses are those of the paper's time: plain ones.
bool is_strong(wire::MemoryOrder order) {
  return order != wire::MemoryOrder::kWeak && order != wire::MemoryOrder::kVolatile;
}

Access access_of(const wire::SiteInfo& site) {
  if (is_atomic(site.operation)) {
    return Access::kAtomic;
  }
  if (site.operation == Operation::kWrite) {
    return is_strong(site.order) ? Access::kAtomic : Access::kWrite;
  }
  return is_strong(site.order) ? Access::kRelaxedRead : Access::kRead;
}

std::uint32_t width_of(const wire::SiteInfo& site) {
  return std::uint32_t{site.element_bytes} * site.element_count;
}

std::uint64_t in_block_of_rank(std::uint32_t rank, std::uint64_t tagged) {
  return wire::tagged_address(
      wire::AddressSpace::kSharedCluster,
      (std::uint64_t{rank} << 32) | (wire::address_of(tagged) & 0xFFFFFFFFU));
}

// tensormap.cp_fenceproxy, which a warp executes as one.
bool is_map_copy(const wire::SiteInfo& site, const LaneAccess& lane) {
  return site.asynchrony == wire::Asynchrony::kNone && lane.value_read != wire::kNoOperand;
}

}  // namespace

SyncClocks& PaperEngine::sync_of(const MemoryPlace& place) {
  return place.shared_of != nullptr ? place.shared_of->shared_sync : engine_.global_sync;
}

bool PaperEngine::plain_access(const Actor& actor, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  const Access access = access_of(site);
  bool is_possible = true;
  for (const std::uint32_t lane : SetBits(operation.mask)) {
    const LaneAccess& of_lane = operation.lanes[lane];
    const bool agrees = operation.lanes_agree || (operation.kind == RecordKind::kScattered &&
                                                  (of_lane.flags & wire::kLaneAgrees) != 0);
    is_possible =
        accesses_.apply(actor, lane, operation.site, access,
                        {.tagged = of_lane.address, .bytes = width_of(site), .agrees = agrees}) &&
        is_possible;
  }
  return is_possible;
}

void PaperEngine::release(const Actor& actor, std::uint32_t lane, const SyncClocks::Bytes& bytes,
                          const MemoryPlace& place, const wire::SiteInfo& site) {
  const SyncClocks::Block by = actor.block.launch.sync_block(actor.block);
  const Clock known = actor.warp.paths.known_to(lane);
  if (site.acquires == FenceScope::kNone && is_atomic(site.operation) &&
      wire::has_release(site.order)) {
    sync_of(place).add(bytes, by, site.releases, known);
  } else if (site.acquires == FenceScope::kNone) {
    sync_of(place).release(bytes, by, site.releases, known);
  } else {
    sync_of(place).acquire_and_release(
        bytes, by, {.acquires = site.acquires, .releases = site.releases}, known);
  }
}

// acq, rel and ar. The lanes of an instruction are threads that act at once: what one acquires the
// others know when it is over.
bool PaperEngine::synchronise(const Actor& actor, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  const bool releases =
      operation.kind == RecordKind::kRelease && site.releases != FenceScope::kNone;
  // A reduction has no record of its reading.
  const bool acquires =
      site.acquires != FenceScope::kNone &&
      (operation.kind == RecordKind::kAcquire || site.operation == Operation::kReduction);
  const SyncClocks::Block by = actor.block.launch.sync_block(actor.block);
  Clock all;
  for (const std::uint32_t lane : SetBits(operation.mask)) {
    const std::uint64_t tagged = operation.lanes[lane].address;
    const std::optional<MemoryPlace> place = place_of(tagged, actor, width_of(site));
    if (!place) {
      return false;
    }
    const SyncClocks::Bytes bytes{.address = place->address, .count = width_of(site)};
    if (acquires) {
      all.join(sync_of(*place).acquired(bytes, by, site.acquires));
    }
    if (releases) {
      release(actor, lane, bytes, *place, site);
    }
  }
  if (acquires) {
    actor.warp.paths.learn(operation.mask, all);
  }
  return true;
}

bool PaperEngine::access(const Actor& actor, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  if (operation.kind == RecordKind::kRelease || operation.kind == RecordKind::kAcquire) {
    if (engine_.global_users.add(actor.block.launch.shape.info.id, engine_.running,
                                 engine_.order)) {
      engine_.global_sync.clear();
    }
    if (site.acquires != FenceScope::kNone || site.releases != FenceScope::kNone) {
      return synchronise(actor, operation);
    }
    if (operation.kind == RecordKind::kAcquire && is_atomic(site.operation)) {
      return true;  // its other record was the whole of it
    }
  }
  return plain_access(actor, operation);
}

void PaperEngine::flow(const Actor& actor, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  const Branch branch{.meeting = site.constant,
                      .stack = actor.warp.stacks[first_lane(operation.mask)],
                      .site = static_cast<std::uint32_t>(operation.site)};
  if (site.operation == Operation::kBranch) {
    actor.warp.paths.branch(operation.mask, operation.event_operand, branch);
  } else if (site.operation == Operation::kSwitch) {
    actor.warp.paths.take_way(operation.mask, branch);
  } else {
    actor.warp.paths.meet(operation.mask, branch);
  }
}

void PaperEngine::call(const Actor& actor, const WarpOperation& operation) {
  const Operation what = engine_.site(static_cast<std::uint32_t>(operation.site)).operation;
  if (what == Operation::kReturn) {
    actor.warp.paths.leave_function(operation.mask, actor.warp.stacks[first_lane(operation.mask)]);
  }
  for (std::uint32_t rest = operation.mask; rest != 0; rest &= rest - 1) {
    std::uint32_t& stack = actor.warp.stacks[first_lane(rest)];
    stack = what == Operation::kCall ? engine_.stacks.push(stack, operation.site)
                                     : engine_.stacks.pop(stack);
  }
}

bool PaperEngine::mbarrier(const Actor& actor, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  const Operation what = site.operation;
  const bool gives =
      site.order != wire::MemoryOrder::kRelaxed || site.releases != FenceScope::kNone;
  bool is_possible = true;
  Clock all;
  for (const std::uint32_t lane : SetBits(operation.mask)) {
    const std::optional<MemoryPlace> place =
        place_of(operation.lanes[lane].address, actor, kMbarrierBytes);
    if (!place || place->shared_of == nullptr) {
      is_possible = false;
      continue;
    }
    Clock& given = place->shared_of->mbarriers[place->address];
    if (what == Operation::kMbarrierInit || what == Operation::kMbarrierInvalidate) {
      given = Clock();
    } else if ((what == Operation::kMbarrierArrive && gives) || what == Operation::kAsyncArrive) {
      given.join(actor.warp.paths.known_to(lane));
    } else if (what == Operation::kMbarrierWait) {
      all.join(given);
    }
  }
  actor.warp.paths.learn(operation.mask, all);
  return is_possible;
}

bool PaperEngine::arrive_by_copy(const Actor& actor, std::uint32_t lane, std::uint64_t mbarrier) {
  const std::optional<MemoryPlace> place = place_of(mbarrier, actor, kMbarrierBytes);
  if (!place || place->shared_of == nullptr) {
    return false;
  }
  place->shared_of->mbarriers[place->address].join(actor.warp.paths.known_to(lane));
  return true;
}

bool PaperEngine::copy_one(const Actor& actor, std::uint32_t lane, const WarpOperation& operation,
                           std::uint64_t target, std::uint64_t mbarrier) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  const std::uint32_t bytes = operation.lanes[lane].amount;
  if (mbarrier != wire::kNoOperand && !arrive_by_copy(actor, lane, mbarrier)) {
    return false;
  }
  const bool is_reduction = site.order != wire::MemoryOrder::kWeak;
  const bool has_byte_mask = site.constant == wire::kByteMask;
  bool is_possible = true;
  for_each_masked(bytes, has_byte_mask ? operation.lanes[lane].flags : std::uint16_t{0xFFFF},
                  [&](std::uint32_t offset, std::uint32_t count) {
                    is_possible = accesses_.apply(actor, lane, operation.site,
                                                  is_reduction ? Access::kAtomic : Access::kWrite,
                                                  {.tagged = target + offset, .bytes = count}) &&
                                  is_possible;
                  });
  return is_possible;
}

// As if the thread that issues it had made it then and there.
bool PaperEngine::copy(const Actor& actor, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  bool is_possible = true;
  for (const std::uint32_t lane : SetBits(operation.mask)) {
    const LaneAccess& of_lane = operation.lanes[lane];
    if (of_lane.amount > SharedShadow::kLimit) {
      is_possible = false;
      continue;
    }
    if (is_map_copy(site, of_lane) && lane != first_lane(operation.mask)) {
      continue;
    }
    const bool has_byte_mask = site.constant == wire::kByteMask;
    if (of_lane.value_read != wire::kNoOperand) {
      for_each_masked(of_lane.amount, has_byte_mask ? of_lane.flags : std::uint16_t{0xFFFF},
                      [&](std::uint32_t offset, std::uint32_t bytes) {
                        is_possible = accesses_.apply(actor, lane, operation.site, Access::kRead,
                                                      {.tagged = of_lane.value_read + offset,
                                                       .bytes = bytes}) &&
                                      is_possible;
                      });
    }
    if (of_lane.flags == 0 || has_byte_mask) {
      is_possible =
          copy_one(actor, lane, operation, of_lane.address, of_lane.value_written) && is_possible;
      continue;
    }
    for (const std::uint32_t rank : SetBits(of_lane.flags)) {
      is_possible = copy_one(actor, lane, operation, in_block_of_rank(rank, of_lane.address),
                             in_block_of_rank(rank, of_lane.value_written)) &&
                    is_possible;
    }
  }
  return is_possible;
}

bool PaperEngine::tensor_copy(const Actor& actor, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  const std::uint32_t lane = first_lane(operation.mask);
  const LaneAccess& access = operation.lanes[lane];
  const TensorMap* map = engine_.tensor_maps.find(access.value_read);
  if (map == nullptr) {
    engine_.log.add_unknown_map(operation.site);
    return true;
  }
  const TensorBox box =
      box_of(*map, operation.coordinates, access.address, SharedShadow::kLimit, operation.offsets);
  const bool loads = site.asynchrony == wire::Asynchrony::kMbarrier;
  const bool is_reduction = site.order != wire::MemoryOrder::kWeak;
  bool is_possible = box.bytes != 0;
  const auto touch = [&](std::uint64_t base, const ByteRange& range, Access what) {
    is_possible = accesses_.apply(actor, lane, operation.site, what,
                                  {.tagged = base + range.address, .bytes = range.bytes}) &&
                  is_possible;
  };
  for (const ByteRange& row : box.rows) {
    touch(0, row, loads ? Access::kRead : is_reduction ? Access::kAtomic : Access::kWrite);
  }
  // One destination, or one for each CTA of a multicast.
  std::uint32_t ranks = std::max<std::uint32_t>(access.flags, 1);
  for (; ranks != 0; ranks &= ranks - 1) {
    const bool is_multicast = access.flags != 0;
    const auto placed = [&](std::uint64_t tagged) {
      return is_multicast ? in_block_of_rank(first_lane(ranks), tagged) : tagged;
    };
    for (const ByteRange& piece : box.pieces) {
      touch(placed(access.address), piece, loads ? Access::kWrite : Access::kRead);
    }
    if (loads) {
      is_possible = arrive_by_copy(actor, lane, placed(access.value_written)) && is_possible;
    }
  }
  return is_possible;
}

// Likewise.
bool PaperEngine::matrix_product(const Actor& actor, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  bool is_possible = true;
  const auto read_by = [&](std::uint32_t lane) {
    return [&, lane](std::uint64_t tagged, std::uint32_t bytes) {
      is_possible = accesses_.apply(actor, lane, operation.site, Access::kRead,
                                    {.tagged = tagged, .bytes = bytes}) &&
                    is_possible;
    };
  };
  if (site.asynchrony != wire::Asynchrony::kTensorCore) {
    const std::uint32_t lane = first_lane(operation.mask);
    return for_each_matrix_read(site, operation, read_by(lane)) && is_possible;
  }
  for (const std::uint32_t lane : SetBits(operation.mask)) {
    is_possible = for_each_tensor_read(site, operation.lanes[lane], read_by(lane)) && is_possible;
  }
  return is_possible;
}

bool PaperEngine::event(const Actor& actor, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  const std::uint32_t lanes = operation.mask;
  switch (site.operation) {
    case Operation::kBarrier:
    case Operation::kBarrierArrive:
      barriers_.block_barrier(actor, operation, site.operation == Operation::kBarrier);
      return true;
    case Operation::kWarpBarrier:
      Barriers::warp_barrier(actor, lanes, operation.event_operand);
      return true;
    case Operation::kClusterArrive:
      Barriers::cluster_arrive(actor, lanes, site.order != wire::MemoryOrder::kRelaxed);
      return true;
    case Operation::kClusterWait:
      Barriers::cluster_wait(actor, lanes);
      return true;
    case Operation::kLaunchDependents:
      actor.block.launch.lets_dependents_begin = true;
      return true;
    case Operation::kGridWait:
      actor.warp.paths.learn(lanes, actor.block.launch.from_grid_wait);
      return true;
    case Operation::kCall:
    case Operation::kReturn:
      call(actor, operation);
      return true;
    case Operation::kBranch:
    case Operation::kSwitch:
    case Operation::kMeet:
      flow(actor, operation);
      return true;
    case Operation::kMbarrierInit:
    case Operation::kMbarrierInvalidate:
    case Operation::kMbarrierArrive:
    case Operation::kMbarrierExpect:
    case Operation::kMbarrierComplete:
    case Operation::kMbarrierWait:
    case Operation::kAsyncArrive:
      return mbarrier(actor, operation);
    case Operation::kCopy:
      return copy(actor, operation);
    case Operation::kTensorCopy:
      return tensor_copy(actor, operation);
    case Operation::kMatrixProduct:
      return matrix_product(actor, operation);
    case Operation::kHeap:
      for_each_allocation(operation, [this](std::uint64_t address, std::uint64_t bytes) {
        forget(address, bytes);
      });
      return true;
    case Operation::kSharedPlace:
      engine_.log.add_place(operation);
      return true;
    case Operation::kFence:  // counts next to an access alone, and there the site says so
    case Operation::kProxyFence:
    case Operation::kAsyncCommit:
    case Operation::kAsyncWait:
      return true;
    case Operation::kExit:
    case Operation::kRead:
    case Operation::kWrite:
    case Operation::kAtomic:
    case Operation::kReduction:
      break;
  }
  return false;
}

bool PaperEngine::try_apply(const WarpOperation& operation) {
  if (operation.kind == RecordKind::kVoid) {
    return true;
  }
  const auto launch = engine_.running.find(operation.launch);
  const wire::SiteInfo* const site = engine_.sites.find(operation.site);
  if (launch == engine_.running.end() || site == nullptr ||
      !is_well_formed(*site, operation.kind)) {
    return false;
  }
  BlockState* const block = launch->second->find_block(operation.cta);
  if (block == nullptr || operation.warp >= block->warps.size()) {
    return false;
  }
  const Actor actor{.block = *block, .warp = block->warps[operation.warp]};
  WarpPaths& paths = actor.warp.paths;
  if (operation.mask == 0 || (operation.mask & ~paths.alive()) != 0) {
    return false;
  }
  const Operation what = site->operation;
  if ((actor.warp.waiting & operation.mask) != 0 ||
      (what != Operation::kWarpBarrier && !actor.warp.warp_barriers.empty())) {
    Barriers::open_what_held(actor, operation.mask);
  }
  if (what == Operation::kExit) {
    exit(actor, operation);
    return true;
  }
  const bool is_possible =
      traits_of(what).accesses ? access(actor, operation) : event(actor, operation);
  if ((actor.warp.waiting & operation.mask) == 0) {
    paths.end_instruction(operation.mask);
  }
  return is_possible;
}

void PaperEngine::apply(const WarpOperation& operation) {
  const bool is_applied =
      operation.has_all_lanes ? try_apply(operation) : try_apply(operation.with_all_lanes());
  count(is_applied ? 1 : 0, is_applied ? 0 : 1);
}

void PaperEngine::exit(const Actor& actor, const WarpOperation& operation) {
  BlockState& block = actor.block;
  LaunchState& launch = block.launch;
  if (launch.ran_with_others || !launch.initial.is_empty()) {
    const LaunchId own = launch.shape.info.id;
    launch.final.join(actor.warp.paths.known_to_paths(operation.mask).without([&](CtaKey cta) {
      return cta.work() == own;
    }));
  }
  barriers_.exit(actor, operation.mask, static_cast<std::uint32_t>(operation.site));
  if (block.live_threads == 0) {
    if (launch.finished.size() <= block.index) {
      launch.finished.resize(std::size_t{block.index} + 1);
    }
    launch.finished[block.index] = true;
    launch.blocks.erase(block.index);
  }
  if (launch.live_threads == 0) {
    finish(launch);
  }
}

void PaperEngine::finish(LaunchState& launch) {
  const LaunchId id = launch.shape.info.id;
  if (launch.lets_dependents_begin) {
    engine_.prerequisites.add(id, launch.initial);
  }
  engine_.finals.add(id, std::move(launch.final));
  engine_.running.erase(id);
}

void PaperEngine::add_sites(wire::SiteId first, std::span<const wire::SiteInfo> sites) {
  static_cast<void>(engine_.sites.add(first, sites));
}

void PaperEngine::begin_launch(const LaunchInfo& launch) {
  auto begun = std::make_unique<LaunchState>(launch);
  LaunchKnowledge knowledge = engine_.prerequisites.begin(launch, engine_.order, engine_.finals);
  begun->initial = std::move(knowledge.at_first);
  begun->from_grid_wait = std::move(knowledge.from_grid_wait);
  begun->final = begun->initial;
  begun->ran_with_others = !engine_.order.is_after_all(launch.id);
  for (auto& [id, other] : engine_.running) {
    if (!engine_.order.is_before(id, launch.id)) {
      other->ran_with_others = true;
    }
  }
  if (begun->live_threads > 0) {
    engine_.running.insert_or_assign(launch.id, std::move(begun));
  }
}

void PaperEngine::apply_copy(const CopyInfo& copy) {
  if (!engine_.order.knows(copy.id)) {  // else nothing came between
    engine_.order.add(copy.id, copy.ordered_after);
    engine_.finals.add(copy.id, engine_.finals.of(copy.ordered_after));
  }
  // A launch that is not ordered before the free may still use the bytes, whether or not an access
  // was seen already.
  if (copy.operation == HostOperation::kFree && engine_.order.is_after_all(copy.id)) {
    for (const MemoryRows& range : copy.accesses) {
      forget(range.address, range.row_bytes);
    }
  }
}

bool PaperEngine::launch_over(LaunchId launch) const {
  return engine_.order.knows(launch) && !engine_.running.contains(launch);
}

void PaperEngine::end_launch(LaunchId launch) {
  const auto running = engine_.running.find(launch);
  if (running == engine_.running.end()) {
    return;
  }
  for (const auto& [index, block] : running->second->blocks) {
    barriers_.report_waiting(*block);
  }
  finish(*running->second);
}

void PaperEngine::forget(std::uint64_t address, std::uint64_t bytes) {
  engine_.global.forget(address, bytes);
  engine_.global_sync.forget(address, bytes);
}

}  // namespace barracuda::detector::paper
