#include "host_detector/engines/ptx_engine.h"

#include <utility>

#include "device_logger/block_events.h"
#include "device_logger/copy_states.h"
#include "device_logger/scope_order.h"
#include "host_detector/races/divergence.h"
#include "host_detector/races/use_after_exit.h"
#include "host_detector/well_formed.h"

namespace barracuda::detector {
namespace {

using wire::Operation;
using wire::RecordKind;

std::uint8_t access_flags(Operation operation) {
  return operation == Operation::kRead    ? Cell::kReads
         : operation == Operation::kWrite ? Cell::kWrites
                                          : Cell::kReads | Cell::kWrites;
}

bool is_of_global_memory(const WarpOperation& operation) {
  return lanes_where(operation.mask, [&](std::uint32_t lane) {
           return wire::space_of(operation.lanes[lane].address) == wire::AddressSpace::kGlobal;
         }) != 0;
}

// Of the kernel of `id`, which is silent, the sites that are logged no more: with those that race,
// what they might order is not told, so nor need the fences and the others be.
void tell_silent(const SiteList& sites, wire::SiteId id, const RaceLog::Tell& tell) {
  const std::uint16_t kernel = sites[index_of(id)].narrow_kernel;
  const auto find = [&](std::uint32_t at) {
    const wire::SiteInfo* const site = sites.find(wire::SiteId{at});
    return site != nullptr && site->narrow_kernel == kernel ? site : nullptr;
  };
  std::uint32_t first = index_of(id);
  while (first != 0 && find(first - 1) != nullptr) {
    --first;
  }
  for (std::uint32_t at = first; const wire::SiteInfo* const site = find(at); ++at) {
    if (site->operation == Operation::kFence || wire::is_numbered_load_or_store(*site)) {
      tell(wire::SiteId{at});
    }
  }
}

// An operation that changes no clock.
bool leaves_order_alone(const WarpOperation& operation, const wire::SiteInfo& site) {
  const bool is_plain_record =
      operation.kind == RecordKind::kAffine || operation.kind == RecordKind::kScattered;
  return site.operation == Operation::kCall || site.operation == Operation::kReturn ||
         (is_plain_record && !operation.is_earlier && traits_of(site.operation).accesses &&
          site.asynchrony == wire::Asynchrony::kNone);
}

// Or how far lanes have waited for their copies.
bool apply_warp_barriers(CtaState& cta, const WarpOperation& operation) {
  if ((operation.event_operand & wire::kHasWaited) != 0 && operation.warp < cta.warps.size()) {
    for (const std::uint32_t lane : SetBits(operation.mask)) {
      cta.warps[operation.warp].completions().end_kept(lane,
                                                       operation.event_operand & wire::kMostGroups);
    }
    return true;
  }
  if (operation.warp >= cta.warps.size() || operation.interval > wire::kMostToldNumber ||
      cta.warps[operation.warp].alive() == 0) {
    return false;
  }
  SyncRules::warp_barriers(cta.warps[operation.warp], operation.interval);
  return true;
}

}  // namespace

PtxEngine::PtxEngine(const DetectorOptions& options) {
  engine_.options = options;
  engine_.log.let_choose([this](wire::SiteId id, const RaceLog::Tell& tell) {
    const wire::SiteInfo& site = engine_.site(index_of(id));
    if (!site.numbered) {
      tell(id);
    } else if (site.narrow_kernel != 0 && wire::is_numbered_load_or_store(site)) {
      engine_.silent.add(site.narrow_kernel);
      tell_silent(engine_.sites, id, tell);
    }
  });
}

bool PtxEngine::access(const Actor& actor, const WarpOperation& operation,
                       const wire::SiteInfo& site) {
  if (site.proxy == wire::Proxy::kTensorMap) {
    AsyncCopyRules::note_maps(actor, operation);
    return true;
  }
  if (operation.kind == RecordKind::kAffine || operation.kind == RecordKind::kScattered) {
    return accesses_.check(actor, operation, operation.mask, access_flags(site.operation));
  }
  const std::uint8_t flags = access_flags(site.operation);
  if (is_of_global_memory(operation) && !engine_.options.keeps_everything &&
      engine_.global_users.add(actor.launch(), engine_.running, engine_.order)) {
    engine_.global_locations.clear();
  }
  if (operation.kind == RecordKind::kRelease) {
    ++engine_.release_records;
    const std::uint32_t written = lanes_where(operation.mask, [&](std::uint32_t lane) {
      return (operation.lanes[lane].flags & wire::kLaneVoid) == 0;
    });
    const bool is_possible = accesses_.check(actor, operation, written, flags);
    sync_rules_.release(actor, operation);
    if (site.operation == Operation::kAtomic) {
      actor.warp.atomics_that_wrote |= written;
    }
    return is_possible;
  }
  const bool is_atomic = site.operation == Operation::kAtomic;
  std::uint32_t read = operation.mask;
  if (is_atomic) {
    read &= ~actor.warp.atomics_that_wrote;
    actor.warp.atomics_that_wrote &= ~operation.mask;
  }
  // What an acquire takes orders what comes after it, not itself.
  const bool is_possible = accesses_.check(actor, operation, read, Cell::kReads);
  sync_rules_.acquire(actor, operation, is_atomic ? read : 0);
  return is_possible;
}

namespace {

// Which of the block's barriers, or lanes, a note is about; of mbarriers where the first lane's
// lies.
std::uint32_t members_of(const WarpOperation& operation, const wire::SiteInfo& site) {
  const bool is_of_mbarrier =
      site.operation == Operation::kMbarrierArrive || site.operation == Operation::kMbarrierWait;
  return is_of_mbarrier ? static_cast<std::uint32_t>(
                              wire::address_of(operation.lanes[first_lane(operation.mask)].address))
                        : operation.event_operand;
}

}  // namespace

bool PtxEngine::event(const Actor& actor, const WarpOperation& operation,
                      const wire::SiteInfo& site) {
  if (!traits_of(site.operation).orders_threads) {
    return perform(actor, operation, site);
  }
  const Time time = actor.warp.now();
  const bool is_possible = perform(actor, operation, site);
  // A thread that waits at a barrier does nothing before the barrier opens, and then at a later
  // time.
  const bool ends_epoch = site.operation == Operation::kBarrier ||
                          site.operation == Operation::kWarpBarrier || actor.warp.now() != time;
  actor.warp.sync_notes.note(operation.site, operation.mask,
                             {.time = time,
                              .ends_epoch = ends_epoch,
                              .members = members_of(operation, site),
                              .threads = operation.event_count});
  return is_possible;
}

bool PtxEngine::perform(const Actor& actor, const WarpOperation& operation,
                        const wire::SiteInfo& site) {
  switch (site.operation) {
    case Operation::kFence:
      sync_rules_.fence(actor, operation.mask, site);
      return true;
    case Operation::kBarrier:
    case Operation::kBarrierArrive:
      report_split_warp(engine_, actor, operation);
      sync_rules_.barrier(actor, operation, site.operation == Operation::kBarrier);
      return true;
    case Operation::kWarpBarrier:
      sync_rules_.warp_barrier(actor, operation);
      return true;
    case Operation::kCall:
    case Operation::kReturn:
      for (const std::uint32_t lane : SetBits(operation.mask)) {
        const std::uint32_t stack = actor.warp.stack(lane);
        actor.warp.set_stack(lane, site.operation == Operation::kCall
                                       ? engine_.stacks.push(stack, operation.site)
                                       : engine_.stacks.pop(stack));
      }
      return true;
    case Operation::kExit:
      exit(actor, operation);
      return true;
    case Operation::kClusterArrive:
    case Operation::kClusterWait:
      async_copy_rules_.cluster_barrier(actor, operation.mask, site);
      return true;
    case Operation::kLaunchDependents:
      actor.cta.launch.lets_dependents_begin = true;
      return true;
    case Operation::kGridWait:
      sync_rules_.grid_wait(actor, operation.mask);
      return true;
    case Operation::kProxyFence:
      if (site.proxy == wire::Proxy::kTensorMap) {
        sync_rules_.fence_maps(actor, operation, site);
      } else {
        AsyncCopyRules::fence_proxy(actor, operation.mask);
      }
      return true;
    case Operation::kMbarrierInit:
    case Operation::kMbarrierInvalidate:
    case Operation::kMbarrierArrive:
    case Operation::kMbarrierExpect:
    case Operation::kMbarrierComplete:
    case Operation::kMbarrierWait:
    case Operation::kAsyncArrive:
      return async_copy_rules_.mbarrier(actor, operation);
    case Operation::kAsyncCommit:
      return async_copy_rules_.commit(actor, operation.mask, site);
    case Operation::kAsyncWait:
      return async_copy_rules_.wait(actor, operation.event_operand, operation.mask, site);
    case Operation::kCopy:
      return async_copy_rules_.copy(actor, operation);
    case Operation::kTensorCopy:
      return async_copy_rules_.tensor_copy(actor, operation);
    case Operation::kMatrixProduct:
      return async_copy_rules_.matrix_product(actor, operation);
    case Operation::kHeap:
      for_each_allocation(operation, [this](std::uint64_t address, std::uint64_t bytes) {
        forget(address, bytes);
      });
      return true;
    case Operation::kSharedPlace:
      engine_.log.add_place(operation);
      return true;
    case Operation::kBranch:
    case Operation::kSwitch:
    case Operation::kMeet:
      return true;  // lanes are threads of their own, whatever way they go
    case Operation::kRead:
    case Operation::kWrite:
    case Operation::kAtomic:
    case Operation::kReduction:
      break;
  }
  return false;
}

bool PtxEngine::apply_in_cta(CtaState& cta, const WarpOperation& operation,
                             const wire::SiteInfo& site) {
  if (!is_well_formed(site, operation.kind) || operation.warp >= cta.warps.size()) {
    return false;
  }
  const Actor actor{.cta = cta, .warp = cta.warps[operation.warp]};
  if (operation.is_earlier && !traits_of(site.operation).accesses) {
    return false;
  }
  if (!operation.is_earlier && !takes_part(actor, operation, site)) {
    return false;
  }
  if (!traits_of(site.operation).accesses) {
    return event(actor, operation, site);
  }
  if (!access(actor, operation, site)) {
    ++cta.launch.astray;
  }
  return true;
}

bool PtxEngine::takes_part(const Actor& actor, const WarpOperation& operation,
                           const wire::SiteInfo& site) {
  if (operation.mask == 0 || (operation.mask & ~actor.warp.alive()) != 0) {
    return false;
  }
  if ((actor.warp.waiting & operation.mask) != 0 || !actor.warp.warp_barriers.empty()) {
    if (site.operation != Operation::kWarpBarrier || (actor.warp.waiting & operation.mask) != 0) {
      sync_rules_.open_what_held(actor, operation.mask);
    }
  }
  return true;
}

void PtxEngine::exit(const Actor& actor, const WarpOperation& operation) {
  const std::uint32_t lanes = operation.mask;
  actor.warp.exit_site = static_cast<std::uint32_t>(operation.site);
  if (operation.event_operand != 0) {
    actor.warp.touch(lanes);  // by accesses that are not logged, or not yet
  }
  if (actor.cta.launch.has_clusters()) {
    keep_end(actor, operation);
  }
  sync_rules_.exit(actor, lanes);
  if (actor.cta.live_threads == 0) {
    report_uses_before_exit(engine_, actor);
    engine_.past_notes.keep(actor.cta);
  }
  LaunchState& launch = actor.cta.launch;
  if (launch.exit(actor.cta, actor.warp, lanes)) {
    const std::lock_guard lock(mutex_);
    over_.push_back(launch.info.id);
  }
}

void PtxEngine::finish(LaunchState& launch) {
  last_part_ = {};
  if (launch.lets_dependents_begin) {
    engine_.prerequisites.add(launch.info.id, launch.initial);
  }
  engine_.finals.add(launch.info.id, std::move(launch.final()));
  engine_.running.erase(launch.info.id);
}

void PtxEngine::count(std::uint64_t applied, std::uint64_t rejected) {
  last_part_ = {};  // its CTA may be over
  Detector::count(applied, rejected);
  if (!over_.empty()) {
    finish_all();
  }
}

void PtxEngine::finish_all() {
  for (const LaunchId launch : over_) {
    LaunchState& ended = *engine_.running.at(launch);
    Detector::count(0, ended.astray);
    finish(ended);
  }
  over_.clear();
}

void PtxEngine::add_sites(wire::SiteId first, std::span<const wire::SiteInfo> sites) {
  if (!engine_.sites.add(first, sites)) {
    return;
  }
  for (const wire::SiteInfo& site : sites) {
    engine_.has_narrow_fences |=
        site.operation == Operation::kFence && !includes(site.scope, wire::Scope::kGpu);
    engine_.has_asynchrony |=
        site.asynchrony != wire::Asynchrony::kNone || site.operation == Operation::kCopy;
  }
}

void PtxEngine::begin_launch(const LaunchInfo& launch) {
  auto begun = std::make_unique<LaunchState>(launch);
  LaunchKnowledge knowledge = engine_.prerequisites.begin(launch, engine_.order, engine_.finals);
  begun->initial = std::move(knowledge.at_first);
  begun->from_grid_wait = std::move(knowledge.from_grid_wait);
  begun->learn(begun->initial);
  // It may learn of a launch that is over as well, if that is not ordered before it.
  begun->ran_with_others = !engine_.order.is_after_all(launch.id);
  for (auto& [id, other] : engine_.running) {
    if (!engine_.order.is_before(id, launch.id)) {
      other->ran_with_others = true;
    }
  }
  copies_.begin_launch(*begun);
  if (launch.grid.volume() * launch.block.volume() > 0) {
    engine_.running.insert_or_assign(launch.id, std::move(begun));
    last_part_ = {};
  }
}

ClusterPart PtxEngine::begin_part(LaunchId launch) {
  static thread_local GatheredAtomics gathered;  // empty between parts
  ClusterPart part = part_of(launch);
  part.gathered = &gathered;
  return part;
}

ClusterPart PtxEngine::part_of(LaunchId launch) {
  const auto running = engine_.running.find(launch);
  return {.launch = launch,
          .state = running == engine_.running.end() ? nullptr : running->second.get()};
}

bool PtxEngine::apply_part(ClusterPart& part, const WarpOperation& operation) {
  if (operation.kind == RecordKind::kVoid) {
    return true;
  }
  const wire::SiteInfo* const site = engine_.sites.find(operation.site);
  if (part.state == nullptr || site == nullptr) {
    return false;
  }
  if (operation.is_settled) {
    if (part.gathered != nullptr && !part.gathered->is_empty()) {
      accesses_.take_gathered(*part.gathered);
    }
    return is_well_formed(*site, operation.kind) && traits_of(site->operation).accesses &&
           is_of_global_memory(operation) &&
           accesses_.check_settled(*part.state, operation, access_flags(site->operation));
  }
  if (operation.is_of_block && site->operation == Operation::kExit && operation.event_count != 0 &&
      !part.state->exit_others(operation.event_count)) {
    return false;
  }
  if (operation.is_of_block && apply_to_untouched(*part.state, operation, *site)) {
    return true;
  }
  if (part.cta == nullptr || part.cta->index != operation.cta) {
    part.cta = part.state->find_cta(operation.cta);
  }
  if (part.cta == nullptr) {
    return false;
  }
  CtaState& cta = *part.cta;
  const bool is_put_off = puts_off(cta, operation, *site);
  if (!is_put_off && cta.put_off) {
    apply_put_off(cta);
  }
  if (operation.kind == RecordKind::kWarpBarriers) {
    end_part(part);
    return apply_warp_barriers(cta, operation);
  }
  if (part.gathered != nullptr && gather(*part.gathered, cta, operation, *site)) {
    return true;
  }
  if (is_put_off) {
    cta.put_off = {.site = operation.site, .id = operation.event_operand};
    return true;
  }
  if (site->operation == Operation::kExit) {
    part.cta = nullptr;  // it may go
  }
  return operation.is_of_block ? apply_to_block(cta, operation, *site)
                               : apply_in_cta(cta, operation, *site);
}

bool PtxEngine::gather(GatheredAtomics& atomics, CtaState& cta, const WarpOperation& operation,
                       const wire::SiteInfo& site) {
  const bool is_of_warp = is_well_formed(site, operation.kind) && operation.warp < cta.warps.size();
  const bool is_free = is_of_warp && cta.warps[operation.warp].warp_barriers.empty() &&
                       (cta.warps[operation.warp].waiting & operation.mask) == 0;
  if (!atomics.is_empty() && (atomics.cta() != &cta || atomics.is_full() || !is_free ||
                              !leaves_order_alone(operation, site))) {
    accesses_.take_gathered(atomics);
  }
  if (!is_free) {
    return false;
  }
  const Actor actor{.cta = cta, .warp = cta.warps[operation.warp]};
  if (operation.mask == 0 || (operation.mask & ~actor.warp.alive()) != 0 ||
      !accesses_.can_gather(actor, operation, site)) {
    return false;
  }
  AccessCheck::gather(actor, operation, atomics);
  return true;
}

void PtxEngine::end_part(ClusterPart& part) {
  if (part.gathered != nullptr && !part.gathered->is_empty()) {
    accesses_.take_gathered(*part.gathered);
  }
}

bool PtxEngine::apply_to_block(CtaState& cta, const WarpOperation& operation,
                               const wire::SiteInfo& site) {
  const auto threads = static_cast<std::uint32_t>(cta.launch.info.block.volume());
  WarpOperation of_warp = operation;
  const std::size_t warps = cta.warps.size();  // with the last exit the block may go
  for (std::size_t warp = 0; warp < warps; ++warp) {
    of_warp.warp = static_cast<std::uint8_t>(warp);
    of_warp.mask = wire::lanes_of_warp(static_cast<std::uint32_t>(warp), threads);
    if (!apply_in_cta(cta, of_warp, site)) {
      return false;
    }
  }
  return true;
}

bool PtxEngine::apply_to_untouched(LaunchState& launch, const WarpOperation& operation,
                                   const wire::SiteInfo& site) {
  const bool leaves = site.operation == Operation::kExit;
  if ((!leaves && site.operation != Operation::kBarrier) || launch.has_clusters() ||
      !is_well_formed(site, operation.kind) || !launch.is_untouched(operation.cta)) {
    return false;
  }
  if (leaves && launch.exit_untouched(operation.cta)) {
    const std::lock_guard lock(mutex_);
    over_.push_back(launch.info.id);
  }
  return true;
}

// Of a block that some threads have left it is refused, and so applied at once.
bool PtxEngine::puts_off(const CtaState& cta, const WarpOperation& operation,
                         const wire::SiteInfo& site) {
  return operation.is_of_block && site.operation == Operation::kBarrier &&
         is_well_formed(site, operation.kind) && cta.live_threads == cta.launch.info.block.volume();
}

void PtxEngine::apply_put_off(CtaState& cta) {
  ASSERT(cta.put_off.has_value());
  const BlockBarrier barrier = *cta.put_off;
  cta.put_off.reset();
  WarpOperation operation;
  operation.kind = RecordKind::kEvent;
  operation.launch = cta.launch.info.id;
  operation.site = barrier.site;
  operation.cta = cta.index;
  operation.is_of_block = true;
  operation.event_operand = barrier.id;
  const bool is_applied = apply_to_block(cta, operation, *engine_.sites.find(barrier.site));
  ASSERT(is_applied);
}

void PtxEngine::apply(const WarpOperation& operation) {
  if (last_part_.state == nullptr || last_part_.launch != operation.launch) {
    last_part_ = part_of(operation.launch);
  }
  const bool is_applied = apply_part(last_part_, operation);
  Detector::count(is_applied ? 1 : 0, is_applied ? 0 : 1);
  if (!over_.empty()) {
    finish_all();
  }
}

bool PtxEngine::launch_over(LaunchId launch) const {
  return engine_.order.knows(launch) && !engine_.running.contains(launch);
}

void PtxEngine::end_launch(LaunchId launch) {
  const auto running = engine_.running.find(launch);
  if (running == engine_.running.end()) {
    return;
  }
  running->second->for_each_cta([&](const CtaState& cta) {
    report_divergence(engine_, cta);
    engine_.past_notes.keep(cta);
  });
  finish(*running->second);
}

std::vector<LaunchId> PtxEngine::find_deadlocked() const {
  std::vector<LaunchId> found;
  for (const auto& [id, launch] : engine_.running) {
    bool is_stuck = false;
    launch->for_each_cta([&is_stuck](const CtaState& cta) { is_stuck |= is_deadlocked(cta); });
    if (is_stuck) {
      found.push_back(id);
    }
  }
  return found;
}

void PtxEngine::forget(std::uint64_t address, std::uint64_t bytes) {
  engine_.global.forget(address, bytes);
  engine_.global_locations.forget(address, bytes);
  copies_.forget(address, bytes);
}

}  // namespace barracuda::detector
