#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/strong_id.h"
#include "device_logger/memory_order.h"
#include "device_logger/shared_states.h"
#include "ptx/analysis/block_publications.h"
#include "ptx/analysis/constants.h"
#include "ptx/analysis/grid_workspace.h"
#include "ptx/analysis/load_or_store.h"
#include "ptx/analysis/near_stops.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/uniform_blocks.h"
#include "ptx/control_flow.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::barrier_intervals {
namespace {

bool is_whole_barrier(const Program& program, const PlannedSite& site) {
  return site.info.operation == wire::Operation::kBarrier && site.effect.count_operand < 0 &&
         program.module.statements[site.statement].instruction.predicate.empty();
}

// Of a module that has_shared_memory().
bool may_be_shared(const PlannedSite& site) {
  return site.hook == HookKind::kAccess && site.effect.space != StateSpace::kGlobal;
}

// Where a thread ends, or all of a block meet.
bool bounds_interval(const Program& program, const PlannedSite& site) {
  return site.hook == HookKind::kEvent &&
         (site.info.operation == wire::Operation::kExit || is_whole_barrier(program, site));
}

bool is_own_access(const PlannedSite& site) {
  return site.info.asynchrony == wire::Asynchrony::kNone && !site.effect.shared_cluster &&
         (is_shared_access(site.effect) || is_matrix_access(site.effect));
}

// Nothing else orders the threads of a launch among themselves, and nothing but their own accesses
// touches memory for them. What griddepcontrol orders are launches.
bool is_ordered_by_barriers(const Program& program, const PlannedSite& site) {
  return bounds_interval(program, site) ||
         site.effect.opcode_class == OpcodeClass::kGridDependency ||
         ((site.hook == HookKind::kNone || site.hook == HookKind::kAccess) && is_own_access(site));
}

// Of cp.async: what it reads and writes, what commits its group, and what waits for it.
bool is_of_copies(const PlannedSite& site) {
  return site.info.asynchrony == wire::Asynchrony::kThreadGroup &&
         (site.hook == HookKind::kAccess || site.info.operation == wire::Operation::kAsyncCommit ||
          site.info.operation == wire::Operation::kAsyncWait);
}

bool is_strong_access(const PlannedSite& site) {
  return (site.hook == HookKind::kRelease || site.hook == HookKind::kAcquire ||
          site.hook == HookKind::kAtomic) &&
         is_own_access(site);
}

// Fences, barriers of parts of a block, and what synchronises by memory.
bool is_ordered_otherwise(const PlannedSite& site) {
  using enum OpcodeClass;
  const OpcodeClass opcode_class = site.effect.opcode_class;
  return is_strong_access(site) || (site.hook == HookKind::kEvent &&
                                    (opcode_class == kFence || opcode_class == kWarpBarrier ||
                                     opcode_class == kBarrier || opcode_class == kBarrierArrive));
}

// Lets others of its warp, of its block, or of all, know of what the thread did; so do barriers of
// the block. A relaxed access lets them know of what was before a fence.
bool tells_others(const PlannedSite& site) {
  return is_ordered_otherwise(site) &&
         (site.hook == HookKind::kEvent || wire::has_release(site.info.order));
}

// Barriers of warps that are counted need no care.
bool publishes(const PlannedSite& site) {
  return tells_others(site) && !site.is_of_warp;
}

bool publishes_to_other_blocks(const PlannedSite& site) {
  return publishes(site) && site.info.scope != wire::Scope::kCta &&
         (site.effect.opcode_class == OpcodeClass::kFence || site.hook != HookKind::kEvent);
}

// What nobody logs, with states and without, and may order threads besides. Textures and surfaces
// do not; where they are logged, no state knows of them.
bool may_order_unseen(const Effect& effect, bool is_emulated) {
  return effect.not_covered && (is_emulated || effect.opcode_class != OpcodeClass::kTexture);
}

// Without a bound of its own a kernel may be launched with blocks of 1024 threads, for which there
// are 64 registers each: what its hooks and it take together may be more. And of smaller blocks few
// would fit: a hook that is rarely called takes up to 180 registers if it may, and so does each
// thread of the kernel.
void bound_registers(Module& module, const Function& entry) {
  Statement& header = module.statements[entry.header];
  if (header.text.find(".maxnreg") != std::string_view::npos) {
    return;
  }
  constexpr std::uint64_t kSmallBlock = 512;  // a larger one has less than 128 registers a thread
  const std::optional<Extent>& bound =
      entry.bounds.required_block ? entry.bounds.required_block : entry.bounds.max_block;
  if (!bound) {
    header.text = module.own(std::string(header.text) + "\n.maxntid 1024, 1, 1");
  } else if (bound->volume() <= kSmallBlock) {
    header.text = module.own(std::string(header.text) + "\n.maxnreg 96");
  }
}

std::uint32_t bytes_of(const PlannedSite& site) {
  return std::uint32_t{site.info.element_bytes} * site.info.element_count;
}

bool may_be_watched(const PlannedSite& site) {
  return site.hook == HookKind::kAccess && site.effect.space != StateSpace::kShared;
}

// Of the smallest of these accesses: threads that use different bytes of a word do not race.
std::uint32_t granule_of(std::span<const PlannedSite> sites, bool (*is_one)(const PlannedSite&)) {
  std::uint32_t smallest = 1U << wire::SharedStates::kWordLog2;
  for (const PlannedSite& site : sites) {
    if (is_one(site)) {
      smallest = std::min(smallest, bytes_of(site));
    }
  }
  return static_cast<std::uint32_t>(std::bit_width(std::max(smallest, 1U))) - 1;
}

bool is_load_or_store(const PlannedSite& site) {
  return site.effect.opcode_class == OpcodeClass::kLoad ||
         site.effect.opcode_class == OpcodeClass::kStore;
}

// Volatile and relaxed accesses race as others do, but for how grave that is, which the states
// know.
void keep_strong_states(std::span<PlannedSite> sites) {
  for (PlannedSite& site : sites) {
    site.has_state = may_be_shared(site) && is_load_or_store(site) &&
                     site.info.order != wire::MemoryOrder::kWeak &&
                     site.effect.space == StateSpace::kShared && site.info.element_count == 1;
  }
}

// What the states of a kernel's accesses need. Nothing if they cannot name its sites.
void keep_states(Kernel& kernel, bool has_shared, std::span<const PlannedSite> sites) {
  const auto is_access = [](const PlannedSite& site) { return site.hook == HookKind::kAccess; };
  const auto first = std::ranges::find_if(sites, is_access);
  if (first == sites.end() || std::ranges::any_of(sites, [&](const PlannedSite& site) {
        return is_access(site) && index_of(site.id) - index_of(first->id) >= wire::kMostStateSites;
      })) {
    return;
  }
  kernel.state_sites = first->id;
  kernel.keeps_states = has_shared && std::ranges::any_of(sites, may_be_shared);
  kernel.keeps_owners = std::ranges::any_of(sites, may_be_watched);
  kernel.state_granule_log2 = granule_of(sites, may_be_shared);
  kernel.owner_granule_log2 = granule_of(sites, may_be_watched);
}

// Whether barriers and exits of the whole block are not all that counts who has come.
bool are_counted_elsewhere(const Program& program, std::span<const PlannedSite> sites) {
  return std::ranges::any_of(sites, [&](const PlannedSite& site) {
    using enum OpcodeClass;
    const OpcodeClass opcode_class = site.effect.opcode_class;
    return opcode_class == kBarrierArrive || opcode_class == kClusterBarrier ||
           opcode_class == kMbarrier ||
           (opcode_class == kBarrier && !is_whole_barrier(program, site));
  });
}

// These may be logged for a block at once, if they are all alike and nothing else counts who has
// come to them.
void propose_events(const Program& program, const Kernel& kernel, std::span<PlannedSite> sites) {
  const bool are_alike = !are_counted_elsewhere(program, sites);
  for (PlannedSite& site : sites) {
    site.may_be_counted = are_alike && site.hook == HookKind::kEvent &&
                          (site.effect.opcode_class == OpcodeClass::kBarrier ||
                           (kernel.has_block_events && bounds_interval(program, site)));
  }
}

// What publishes, and where all of a block meet or end. Who exits alone ends nothing for the
// others, which go past.
std::vector<NearStops::Stop> find_publications(const Program& program,
                                               std::span<const PlannedSite> sites) {
  const auto may_be_passed = [&](const PlannedSite& site) {
    return !program.module.statements[site.statement].instruction.predicate.empty();
  };
  std::vector<NearStops::Stop> stops;
  for (const PlannedSite& site : sites) {
    const bool ends = bounds_interval(program, site);
    if (ends ? !may_be_passed(site) : publishes(site)) {
      stops.push_back({.statement = site.statement, .is_meant = !ends});
    }
  }
  return stops;
}

// Whether all threads of a block come to all its barriers together.
bool all_meet(Program& program, std::uint32_t index, const ControlFlow& flow,
              std::span<const PlannedSite> sites) {
  const std::vector<Uniformity>& uniform = program.uniform_blocks_of(index);
  return std::ranges::all_of(sites, [&](const PlannedSite& site) {
    return !is_whole_barrier(program, site) ||
           uniform[flow.block_of(site.statement)] == Uniformity::kAll;
  });
}

BlockPublications::Places find_meetings(const Program& program, std::span<const PlannedSite> sites,
                                        bool all_meet_at_barriers) {
  BlockPublications::Places places;
  for (const PlannedSite& site : sites) {
    if (publishes_to_other_blocks(site)) {
      places.publications.push_back(site.statement);
    }
    const bool is_barrier = is_whole_barrier(program, site);
    if (is_barrier && all_meet_at_barriers) {
      places.barriers.push_back(site.statement);
    } else if (is_barrier || tells_others(site)) {
      places.meetings.push_back(site.statement);
    }
  }
  return places;
}

// Other blocks may be ordered behind what a thread does before it publishes to them, or one of its
// block that knows of it: at any time, and so behind any barrier of the block. What comes after all
// that stays unknown to them: a selection waits for the blocks before it, tells those behind it,
// and only then stores its own results. Where most stores are no such results, or whole grids meet
// and one thread stores last, states cost more than the few that are left out
// (reductionMultiBlockCG on an H200: 9 x without, 17 x with them).
void log_what_blocks_may_learn(Program& program, const ControlFlow& flow, Kernel& kernel,
                               std::uint32_t index, std::span<PlannedSite> sites) {
  if (std::ranges::none_of(sites, publishes_to_other_blocks)) {
    return;
  }
  const BlockPublications publications(
      flow, find_meetings(program, sites, all_meet(program, index, flow, sites)));
  std::ptrdiff_t kept_stores = 0;  // beyond those that are logged
  for (PlannedSite& site : sites) {
    if (!may_be_watched(site)) {
      continue;
    }
    const bool is_told = publications.come_after(site.statement);
    kept_stores += only_loads(site.effect) ? 0 : is_told ? -1 : 1;
    if (is_told) {
      // Of shared memory, to which the address may lead as well, other rules hold.
      kernel.keeps_owners = kernel.keeps_owners && site.effect.space == StateSpace::kGlobal;
      site.publishes_later = site.publishes_later || site.effect.space == StateSpace::kGlobal;
    }
  }
  kernel.keeps_owners = kernel.keeps_owners && kept_stores > 0 && !has_grid_barrier(program, index);
}

// May be kept before a publication. Reads may not: a state keeps two of many readers, and each of
// them may be ordered before a later write, or not.
bool is_plain_shared_store(const PlannedSite& site) {
  return site.hook == HookKind::kAccess && site.info.operation == wire::Operation::kWrite &&
         site.info.order == wire::MemoryOrder::kWeak && site.effect.space == StateSpace::kShared;
}

// More than barriers of the block orders the threads: an access is kept of who publishes nothing
// before the next of them, so that nobody is ordered behind it who may conflict with it before
// that. Or, if it is a store, of who has published nothing since the last of them: when that was is
// known of each thread, and the detector compares it with what was published since. (CUB's
// one-sweep sort scatters its keys before it looks back, with a fence of the block in the loop.)
void keep_unpublished(Program& program, const ControlFlow& flow, Kernel& kernel,
                      std::uint32_t index, std::span<PlannedSite> sites) {
  const NearStops publications(flow, find_publications(program, sites));
  const bool are_barriers_whole = !are_counted_elsewhere(program, sites);
  for (PlannedSite& site : sites) {
    site.publishes_later =
        site.hook == HookKind::kAccess && publications.come_after(site.statement);
    if (site.publishes_later && are_barriers_whole && is_plain_shared_store(site) &&
        !publications.come_before(site.statement)) {
      site.publishes_later = false;
      site_named(program, site.id).info.is_before_publications = true;
    }
  }
  log_what_blocks_may_learn(program, flow, kernel, index, sites);
  const auto keeps = [&](bool (*is_one)(const PlannedSite&)) {
    return std::ranges::any_of(
        sites, [&](const PlannedSite& site) { return is_one(site) && !site.publishes_later; });
  };
  kernel.keeps_states = kernel.keeps_states && keeps(may_be_shared);
  kernel.keeps_owners = kernel.keeps_owners && keeps(may_be_watched);
  for (PlannedSite& site : sites) {
    site.logs_states = is_strong_access(site) &&
                       ((kernel.keeps_states && site.effect.space != StateSpace::kGlobal) ||
                        (kernel.keeps_owners && site.effect.space != StateSpace::kShared));
  }
}

// Asynchronous copies have states where nothing but barriers of the block orders threads, to which
// all come together, so that nobody ever logs all (wire::kFrozen); and of a size that a state has.
// False if the kernel copies and is none of these: it keeps nothing then.
Expected<bool> keep_copies(Program& program, Kernel& kernel, std::uint32_t index,
                           bool by_barriers_alone, std::span<PlannedSite> sites) {
  if (std::ranges::none_of(sites, is_of_copies)) {
    return true;
  }
  const auto is_too_large = [&](const PlannedSite& site) {
    return is_of_copies(site) && may_be_shared(site) &&
           bytes_of(site) >> kernel.state_granule_log2 > 1U << wire::kMostGranulesLog2;
  };
  TRY(const ControlFlow* const flow, program.flow_of(index));
  kernel.keeps_copies = kernel.keeps_states && by_barriers_alone &&
                        std::ranges::none_of(sites, is_too_large) &&
                        all_meet(program, index, *flow, sites);
  if (!kernel.keeps_copies) {
    kernel.keeps_states = kernel.keeps_owners = false;
    return false;
  }
  for (PlannedSite& site : sites) {
    site.keeps_copies = is_of_copies(site);
  }
  return true;
}

// Barriers of whole warps are counted, and let nobody know of anything but their warps, where no
// thread leaves while others of its block wait.
void count_warp_barriers(Program& program, std::uint32_t index, const ControlFlow& flow,
                         std::span<PlannedSite> sites) {
  constexpr std::uint64_t kAllLanes = ~std::uint32_t{0};
  const auto is_of_some_warp = [](const PlannedSite& site) {
    return site.effect.opcode_class == OpcodeClass::kWarpBarrier;
  };
  if (std::ranges::none_of(sites, is_of_some_warp) || are_counted_elsewhere(program, sites)) {
    return;
  }
  if (!all_meet(program, index, flow, sites)) {
    return;
  }
  const Constants constants(program.module, program.function(index));
  for (PlannedSite& site : sites) {
    if (is_of_some_warp(site)) {
      const Instruction& barrier = program.module.statements[site.statement].instruction;
      const auto mask = static_cast<std::size_t>(site.effect.value_operand);
      site.is_of_warp =
          barrier.predicate.empty() && mask < barrier.operands.size() &&
          constants.value_of(barrier.operands[mask], sizeof(std::uint32_t)) == kAllLanes;
    }
  }
  const auto counted = std::ranges::count_if(sites, &PlannedSite::is_of_warp);
  for (PlannedSite& site : sites) {
    site.counts_warps = counted == 0                       ? 0
                        : counted < wire::kFewWarpBarriers ? wire::kCountsWarps
                                                           : wire::kCountsWarps | wire::kCountsMany;
  }
}

// Where more than barriers of the block orders the threads.
Expected<void> keep_where_known(Program& program, Kernel& kernel, std::uint32_t index,
                                std::span<PlannedSite> sites) {
  if (!kernel.keeps_states && !kernel.keeps_owners) {
    return {};
  }
  TRY(const ControlFlow* const flow, program.flow_of(index));
  count_warp_barriers(program, index, *flow, sites);
  keep_unpublished(program, *flow, kernel, index, sites);
  if (!kernel.keeps_states && !kernel.keeps_owners) {
    for (PlannedSite& site : sites) {
      site.counts_warps = 0;
      site.is_of_warp = false;
    }
  }
  return {};
}

// Who leaves behind a guard at the kernel's begin has nothing kept that others would have to be
// held against behind a barrier that counts it as arrived: they go on as if it was still there.
// Compilers make one exit of all, so it is asked of who comes there without a barrier.
Expected<void> find_early_exits(Program& program, std::uint32_t index,
                                std::span<PlannedSite> sites) {
  TRY(const ControlFlow* const flow, program.flow_of(index));
  std::vector<NearStops::Stop> begin{{.statement = flow->blocks[0].begin, .is_meant = true}}, kept;
  for (const PlannedSite& site : sites) {
    if (is_whole_barrier(program, site)) {
      begin.push_back({.statement = site.statement});
    }
  }
  if (begin.size() == 1) {
    return {};  // nobody passes a barrier that others have left out
  }
  const NearStops from_begin(*flow, std::move(begin));
  for (const PlannedSite& site : sites) {
    const bool is_access = site.counts_intervals && !bounds_interval(program, site);
    if (is_whole_barrier(program, site) || (is_access && from_begin.come_before(site.statement))) {
      kept.push_back({.statement = site.statement, .is_meant = is_access});
    }
  }
  const NearStops from_access(*flow, std::move(kept));
  for (PlannedSite& site : sites) {
    site.leaves_early = site.counts_intervals && site.counts_warps == 0 &&
                        site.info.operation == wire::Operation::kExit &&
                        flow->block_of(site.statement) != kNoBlock &&
                        !from_access.come_before(site.statement);
  }
  return {};
}

Expected<void> visit(Program& program, bool has_shared, std::span<PlannedSite> sites) {
  const std::uint32_t index = sites.front().function;
  const Function& entry = program.function(index);
  Kernel* const kernel = entry.is_entry ? kernel_of(program, entry) : nullptr;
  if (kernel == nullptr) {
    return {};
  }
  const auto is_by_barriers = [&](const PlannedSite& site) {
    return is_ordered_by_barriers(program, site) || is_of_copies(site);
  };
  bool is_known =
      calls_nothing_that_logs(program, index) &&
      std::ranges::all_of(sites,
                          [&](const PlannedSite& site) {
                            return is_by_barriers(site) || is_ordered_otherwise(site);
                          }) &&
      std::none_of(program.effects.begin() + static_cast<std::ptrdiff_t>(entry.body_begin),
                   program.effects.begin() + static_cast<std::ptrdiff_t>(entry.body_end),
                   [&](const Effect& effect) {
                     return may_order_unseen(effect, program.options.is_emulated);
                   });
  const bool by_barriers_alone =
      !program.functions[index].is_numbered && std::ranges::all_of(sites, is_by_barriers);
  if (is_known) {
    keep_states(*kernel, has_shared, sites);
    TRY(is_known, keep_copies(program, *kernel, index, by_barriers_alone, sites));
  }
  if (is_known && !by_barriers_alone) {
    if (auto kept = keep_where_known(program, *kernel, index, sites); !kept) {
      return kept;
    }
  }
  if (kernel->keeps_states) {
    keep_strong_states(sites);
  }
  const bool keeps_any = kernel->keeps_states || kernel->keeps_owners;
  if (keeps_any) {
    bound_registers(program.module, entry);
  }
  kernel->has_block_events = is_known && (by_barriers_alone || keeps_any);
  propose_events(program, *kernel, sites);
  for (PlannedSite& site : sites) {
    site.counts_intervals =
        kernel->has_block_events && (bounds_interval(program, site) ||
                                     (site.counts_warps != 0 && site.hook == HookKind::kAccess) ||
                                     (kernel->keeps_states && may_be_shared(site)) ||
                                     (kernel->keeps_owners && may_be_watched(site)));
  }
  return keeps_any ? find_early_exits(program, index, sites) : Expected<void>();
}

}  // namespace

Expected<void> run(Program& program) {
  const bool has_shared = has_shared_memory(program.module);
  return visit_functions(
      program, [&](std::span<PlannedSite> sites) { return visit(program, has_shared, sites); });
}

}  // namespace barracuda::ptx::barrier_intervals
