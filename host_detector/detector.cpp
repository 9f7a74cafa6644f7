#include "host_detector/detector.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "host_detector/paper/engine.h"
#include "host_detector/rules/access_check.h"
#include "host_detector/rules/copy_check.h"
#include "host_detector/rules/divergence.h"
#include "host_detector/sync/async_copy_rules.h"
#include "host_detector/sync/sync_rules.h"
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

}  // namespace

struct Detector::State {
  explicit State(const DetectorOptions& options) {
    engine.options = options;
    if (options.model == Model::kPaper) {
      paper = std::make_unique<paper::Engine>(options);
    }
  }

  std::unique_ptr<paper::Engine> paper;  // does it all, if there is one
  EngineState engine;
  AccessCheck accesses{engine};
  CopyCheck copies{engine};
  SyncRules sync_rules{engine};
  AsyncCopyRules async_copy_rules{engine, accesses};
  std::uint64_t applied = 0;
  std::uint64_t rejected = 0;
  std::optional<ClusterApplier>
      last_applier;  // of operations applied one by one, while its launch runs

  bool apply(CtaState& cta, const WarpOperation& operation, const wire::SiteInfo& site);
  bool access(const Actor& actor, const WarpOperation& operation, const wire::SiteInfo& site);
  bool event(const Actor& actor, const WarpOperation& operation, const wire::SiteInfo& site);
  bool perform(const Actor& actor, const WarpOperation& operation, const wire::SiteInfo& site);
  void exit(const Actor& actor, const WarpOperation& operation);
  void count(std::uint64_t more_applied, std::uint64_t more_rejected);
  void finish(LaunchState& launch);
  void finish_all();

 private:
  std::mutex mutex_;
  std::vector<LaunchId> over_;  // launches whose last thread has left
};

bool Detector::State::access(const Actor& actor, const WarpOperation& operation,
                             const wire::SiteInfo& site) {
  if (operation.kind == RecordKind::kAffine || operation.kind == RecordKind::kScattered) {
    return accesses.check(actor, operation, operation.mask, access_flags(site.operation));
  }
  const std::uint8_t flags = access_flags(site.operation);
  if (is_of_global_memory(operation) &&
      engine.global_users.add(actor.launch(), engine.running, engine.order)) {
    engine.global_locations.clear();
  }
  if (operation.kind == RecordKind::kRelease) {
    ++engine.release_records;
    const std::uint32_t written = lanes_where(operation.mask, [&](std::uint32_t lane) {
      return (operation.lanes[lane].flags & wire::kLaneVoid) == 0;
    });
    const bool is_possible = accesses.check(actor, operation, written, flags);
    sync_rules.release(actor, operation);
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
  const bool is_possible = accesses.check(actor, operation, read, Cell::kReads);
  sync_rules.acquire(actor, operation, is_atomic ? read : 0);
  return is_possible;
}

bool Detector::State::event(const Actor& actor, const WarpOperation& operation,
                            const wire::SiteInfo& site) {
  if (!traits_of(site.operation).orders_threads) {
    return perform(actor, operation, site);
  }
  const Time time = actor.warp.now();
  const bool is_possible = perform(actor, operation, site);
  // Who waits at a barrier does nothing before it opens, with a later time.
  const bool ends_epoch = site.operation == Operation::kBarrier ||
                          site.operation == Operation::kWarpBarrier || actor.warp.now() != time;
  actor.warp.sync_notes.note(operation.site, operation.mask,
                             {.time = time,
                              .ends_epoch = ends_epoch,
                              .members = operation.event_operand,
                              .threads = operation.event_count});
  return is_possible;
}

bool Detector::State::perform(const Actor& actor, const WarpOperation& operation,
                              const wire::SiteInfo& site) {
  switch (site.operation) {
    case Operation::kFence:
      sync_rules.fence(actor, operation.mask, site);
      return true;
    case Operation::kBarrier:
    case Operation::kBarrierArrive:
      report_split_warp(engine, actor, operation);
      sync_rules.barrier(actor, operation, site.operation == Operation::kBarrier);
      return true;
    case Operation::kWarpBarrier:
      sync_rules.warp_barrier(actor, operation);
      return true;
    case Operation::kCall:
    case Operation::kReturn:
      for (std::uint32_t rest = operation.mask; rest != 0; rest &= rest - 1) {
        const std::uint32_t lane = first_lane(rest);
        const std::uint32_t stack = actor.warp.stack(lane);
        actor.warp.set_stack(lane, site.operation == Operation::kCall
                                       ? engine.stacks.push(stack, operation.site)
                                       : engine.stacks.pop(stack));
      }
      return true;
    case Operation::kExit:
      exit(actor, operation);
      return true;
    case Operation::kClusterArrive:
    case Operation::kClusterWait:
      async_copy_rules.cluster_barrier(actor, operation.mask, site);
      return true;
    case Operation::kLaunchDependents:
      actor.cta.launch.lets_dependents_begin = true;
      return true;
    case Operation::kGridWait:
      sync_rules.grid_wait(actor, operation.mask);
      return true;
    case Operation::kProxyFence:
      async_copy_rules.fence_proxy(actor, operation.mask);
      return true;
    case Operation::kMbarrierInit:
    case Operation::kMbarrierInvalidate:
    case Operation::kMbarrierArrive:
    case Operation::kMbarrierExpect:
    case Operation::kMbarrierComplete:
    case Operation::kMbarrierWait:
    case Operation::kAsyncArrive:
      return async_copy_rules.mbarrier(actor, operation);
    case Operation::kAsyncCommit:
      return async_copy_rules.commit(actor, operation.mask, site);
    case Operation::kAsyncWait:
      return async_copy_rules.wait(actor, operation.event_operand, operation.mask, site);
    case Operation::kCopy:
      return async_copy_rules.copy(actor, operation);
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

bool Detector::State::apply(CtaState& cta, const WarpOperation& operation,
                            const wire::SiteInfo& site) {
  if (!is_well_formed(site, operation.kind) || operation.warp >= cta.warps.size()) {
    return false;
  }
  const Actor actor{.cta = cta, .warp = cta.warps[operation.warp]};
  if (operation.mask == 0 || (operation.mask & ~actor.warp.alive()) != 0) {
    return false;
  }
  if ((actor.warp.waiting & operation.mask) != 0 || !actor.warp.warp_barriers.empty()) {
    if (site.operation != Operation::kWarpBarrier || (actor.warp.waiting & operation.mask) != 0) {
      sync_rules.open_what_held(actor, operation.mask);
    }
  }
  if (!traits_of(site.operation).accesses) {
    return event(actor, operation, site);
  }
  if (!access(actor, operation, site)) {
    ++cta.launch.astray;
  }
  return true;
}

void Detector::State::exit(const Actor& actor, const WarpOperation& operation) {
  const std::uint32_t lanes = operation.mask;
  actor.warp.exit_site = static_cast<std::uint32_t>(operation.site);
  sync_rules.exit(actor, lanes);
  if (actor.cta.live_threads == 0) {
    engine.past_notes.keep(actor.cta);
  }
  LaunchState& launch = actor.cta.launch;
  if (launch.exit(actor.cta, actor.warp, lanes)) {
    const std::lock_guard lock(mutex_);
    over_.push_back(launch.info.id);
  }
}

void Detector::State::finish(LaunchState& launch) {
  last_applier.reset();
  if (launch.lets_dependents_begin) {
    engine.prerequisites.add(launch.info.id, launch.initial);
  }
  engine.finals.add(launch.info.id, std::move(launch.final()));
  engine.running.erase(launch.info.id);
}

void Detector::State::count(std::uint64_t more_applied, std::uint64_t more_rejected) {
  applied += more_applied;
  rejected += more_rejected;
  if (!over_.empty()) {
    finish_all();
  }
}

void Detector::State::finish_all() {
  for (const LaunchId launch : over_) {
    LaunchState& ended = *engine.running.at(launch);
    rejected += ended.astray;
    finish(ended);
  }
  over_.clear();
}

Detector::Detector(const DetectorOptions& options) : state_(std::make_unique<State>(options)) {}

Detector::~Detector() = default;

void Detector::add_sites(wire::SiteId first, std::span<const wire::SiteInfo> sites) {
  if (state_->paper != nullptr) {
    state_->paper->add_sites(first, sites);
    return;
  }
  if (!state_->engine.sites.add(first, sites)) {
    return;
  }
  for (const wire::SiteInfo& site : sites) {
    state_->engine.has_narrow_fences |=
        site.operation == Operation::kFence && site.scope < wire::Scope::kGpu;
    state_->engine.has_asynchrony |=
        site.asynchrony != wire::Asynchrony::kNone || site.operation == Operation::kCopy;
  }
}

void Detector::begin_launch(const LaunchInfo& launch) {
  if (state_->paper != nullptr) {
    state_->paper->begin_launch(launch);
    return;
  }
  EngineState& engine = state_->engine;
  auto begun = std::make_unique<LaunchState>(launch);
  LaunchKnowledge knowledge = engine.prerequisites.begin(launch, engine.order, engine.finals);
  begun->initial = std::move(knowledge.at_first);
  begun->from_grid_wait = std::move(knowledge.from_grid_wait);
  begun->learn(begun->initial);
  // It may learn of a launch that is over as well, if that is not ordered before it.
  begun->ran_with_others = !engine.order.is_after_all(launch.id);
  for (auto& [id, other] : engine.running) {
    if (!engine.order.is_before(id, launch.id)) {
      other->ran_with_others = true;
    }
  }
  state_->copies.begin_launch(*begun);
  if (launch.grid.volume() * launch.block.volume() > 0) {
    engine.running.insert_or_assign(launch.id, std::move(begun));
    state_->last_applier.reset();
  }
}

void Detector::apply_copy(const CopyInfo& copy) {
  if (state_->paper != nullptr) {
    state_->paper->apply_copy(copy);
    return;
  }
  state_->copies.apply(copy);
}

Detector::ClusterApplier::ClusterApplier(Detector& detector, LaunchId launch)
    : detector_(*detector.state_), id_(launch) {
  const auto running = detector_.engine.running.find(launch);
  launch_ = running == detector_.engine.running.end() ? nullptr : running->second.get();
}

bool Detector::ClusterApplier::apply(const WarpOperation& operation) {
  if (operation.kind == RecordKind::kVoid) {
    return true;
  }
  const wire::SiteInfo* const site = detector_.engine.sites.find(operation.site);
  if (launch_ == nullptr || site == nullptr) {
    return false;
  }
  if (cta_ == nullptr || cta_->index != operation.cta) {
    cta_ = launch_->find_cta(operation.cta);
  }
  if (cta_ == nullptr) {
    return false;
  }
  CtaState& cta = *cta_;
  if (site->operation == Operation::kExit) {
    cta_ = nullptr;  // it may go
  }
  return detector_.apply(cta, operation, *site);
}

void Detector::apply(const WarpOperation& operation) {
  bool is_applied = false;
  if (state_->paper != nullptr) {
    is_applied = operation.has_all_lanes ? state_->paper->apply(operation)
                                         : state_->paper->apply(operation.with_all_lanes());
  } else {
    std::optional<ClusterApplier>& applier = state_->last_applier;
    if (!applier || applier->launch() != operation.launch) {
      applier.emplace(*this, operation.launch);
    }
    is_applied = applier->apply(operation);
  }
  state_->count(is_applied ? 1 : 0, is_applied ? 0 : 1);
}

void Detector::count(std::uint64_t applied, std::uint64_t rejected) {
  state_->last_applier.reset();  // its CTA may be over
  state_->count(applied, rejected);
}

std::uint64_t Detector::contentions() const {
  return state_->engine.global.contentions();
}

bool Detector::launch_over(LaunchId launch) const {
  if (state_->paper != nullptr) {
    return state_->paper->launch_over(launch);
  }
  return state_->engine.order.knows(launch) && !state_->engine.running.contains(launch);
}

void Detector::end_launch(LaunchId launch) {
  if (state_->paper != nullptr) {
    state_->paper->end_launch(launch);
    return;
  }
  const auto running = state_->engine.running.find(launch);
  if (running == state_->engine.running.end()) {
    return;
  }
  running->second->for_each_cta([&](const CtaState& cta) {
    report_divergence(state_->engine, cta);
    state_->engine.past_notes.keep(cta);
  });
  state_->finish(*running->second);
}

std::vector<LaunchId> Detector::find_deadlocked() const {
  std::vector<LaunchId> found;
  for (const auto& [id, launch] : state_->engine.running) {
    bool is_stuck = false;
    launch->for_each_cta([&is_stuck](const CtaState& cta) { is_stuck |= is_deadlocked(cta); });
    if (is_stuck) {
      found.push_back(id);
    }
  }
  return found;
}

void Detector::forget(std::uint64_t address, std::uint64_t bytes) {
  if (state_->paper != nullptr) {
    state_->paper->forget(address, bytes);
    return;
  }
  state_->engine.global.forget(address, bytes);
  state_->engine.global_locations.forget(address, bytes);
  state_->copies.forget(address, bytes);
}

const Findings& Detector::findings() const {
  return state_->paper != nullptr ? state_->paper->findings() : state_->engine.log.findings();
}

Findings Detector::findings_so_far() const {
  return state_->paper != nullptr ? state_->paper->findings_so_far()
                                  : state_->engine.log.findings_so_far();
}

std::uint64_t Detector::finding_changes() const {
  return state_->paper != nullptr ? state_->paper->finding_changes() : state_->engine.log.changes();
}

std::uint64_t Detector::applied() const {
  return state_->applied;
}

std::uint64_t Detector::rejected() const {
  return state_->rejected;
}

}  // namespace barracuda::detector
