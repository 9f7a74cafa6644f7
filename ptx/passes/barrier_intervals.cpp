#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <string>

#include "base/strong_id.h"
#include "device_logger/shared_states.h"
#include "ptx/analysis/program.h"
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

// Nothing else orders the thread, and nothing but its own accesses touches memory for it.
bool is_ordered_by_barriers(const Program& program, const PlannedSite& site) {
  if (site.hook == HookKind::kEvent) {
    return site.info.operation == wire::Operation::kExit || is_whole_barrier(program, site);
  }
  return (site.hook == HookKind::kNone || site.hook == HookKind::kAccess) &&
         site.info.asynchrony == wire::Asynchrony::kNone && !site.effect.shared_cluster &&
         is_shared_access(site.effect);
}

// What nobody logs, with states and without, and may order threads besides. Textures and surfaces
// do not.
bool may_order_unseen(const Effect& effect) {
  return effect.not_covered && effect.opcode_class != OpcodeClass::kTexture;
}

bool calls_nothing_that_logs(const Program& program, std::uint32_t entry) {
  const FunctionFacts& facts = program.functions[entry];
  return !facts.calls_indirectly && std::ranges::all_of(facts.reachable, [&](std::uint32_t index) {
    return index == entry || !program.functions[index].may_log;
  });
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

// Volatile and relaxed accesses race as others do, but for how grave that is, and a state does not
// keep who of three readers was not weak. So they have states where there are no others.
void keep_strong_states(std::span<PlannedSite> sites) {
  const auto is_weak = [](const PlannedSite& site) {
    return may_be_shared(site) && is_load_or_store(site) &&
           site.info.order == wire::MemoryOrder::kWeak;
  };
  if (std::ranges::any_of(sites, is_weak)) {
    return;
  }
  for (PlannedSite& site : sites) {
    site.has_state = may_be_shared(site) && is_load_or_store(site) &&
                     site.effect.space == StateSpace::kShared && site.info.element_count == 1;
  }
}

// What the states of a kernel's accesses need. Nothing if they cannot name its sites.
void keep_states(Program& program, Kernel& kernel, bool has_shared, std::span<PlannedSite> sites) {
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
  if (kernel.keeps_states) {
    keep_strong_states(sites);
  }
  bound_registers(program.module, program.function(sites.front().function));
}

// In a kernel whose threads are ordered by more than barriers, these may still be logged for a
// block at once, if they are all alike and nothing else counts who has come to them.
void propose_barriers(const Program& program, std::span<PlannedSite> sites) {
  const bool are_counted_elsewhere = std::ranges::any_of(sites, [&](const PlannedSite& site) {
    using enum OpcodeClass;
    const OpcodeClass opcode_class = site.effect.opcode_class;
    return opcode_class == kBarrierArrive || opcode_class == kClusterBarrier ||
           opcode_class == kMbarrier ||
           (opcode_class == kBarrier && !is_whole_barrier(program, site));
  });
  for (PlannedSite& site : sites) {
    site.may_be_counted = !are_counted_elsewhere && site.hook == HookKind::kEvent &&
                          site.effect.opcode_class == OpcodeClass::kBarrier;
  }
}

void visit(Program& program, bool has_shared, std::span<PlannedSite> sites) {
  const std::uint32_t index = sites.front().function;
  const Function& entry = program.function(index);
  Kernel* const kernel = entry.is_entry ? kernel_of(program, entry) : nullptr;
  if (kernel == nullptr) {
    return;
  }
  if (program.functions[index].is_numbered || !calls_nothing_that_logs(program, index) ||
      std::any_of(program.effects.begin() + static_cast<std::ptrdiff_t>(entry.body_begin),
                  program.effects.begin() + static_cast<std::ptrdiff_t>(entry.body_end),
                  may_order_unseen) ||
      !std::ranges::all_of(
          sites, [&](const PlannedSite& site) { return is_ordered_by_barriers(program, site); })) {
    propose_barriers(program, sites);
    return;
  }
  keep_states(program, *kernel, has_shared, sites);
  kernel->has_block_events = true;
  for (PlannedSite& site : sites) {
    site.counts_intervals = site.hook == HookKind::kEvent ||
                            (kernel->keeps_states && may_be_shared(site)) ||
                            (kernel->keeps_owners && may_be_watched(site));
  }
}

}  // namespace

Expected<void> run(Program& program) {
  const bool has_shared = has_shared_memory(program.module);
  for (const std::span<PlannedSite> sites : by_function(program.sites)) {
    visit(program, has_shared, sites);
  }
  return {};
}

}  // namespace barracuda::ptx::barrier_intervals
