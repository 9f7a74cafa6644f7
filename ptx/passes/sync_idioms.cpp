#include <algorithm>
#include <optional>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "ptx/analysis/change_wait.h"
#include "ptx/analysis/constants.h"
#include "ptx/analysis/fence_paths.h"
#include "ptx/analysis/near_stops.h"
#include "ptx/analysis/program.h"
#include "ptx/control_flow.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::sync_idioms {
namespace {

bool is_plain(const wire::SiteInfo& info) {
  return info.order == wire::MemoryOrder::kWeak || info.order == wire::MemoryOrder::kVolatile;
}

// The idioms of one function. Sites are those of the function.
class Finder {
 public:
  Finder(Program& program, const FencePaths& paths, std::uint32_t function)
      : program_(program), paths_(paths), function_(function), flow_(*paths.flow_of(function)) {}

  void add(PlannedSite& site) { sites_.emplace(site.statement, &site); }

  void find_flag_stores() {
    for (const auto& [statement, site] : sites_) {
      if (const auto fence = paths_.behind(statement)) {
        mark_flag_store(*site, *fence);
      }
    }
  }

  void find_change_waits() {
    for (const auto& [statement, site] : sites_) {
      if (site->hook == HookKind::kAcquire && site->info.element_bytes == sizeof(std::uint32_t)) {
        site->info.constant = awaited_change(program_, program_.function(function_), statement);
        site->info.waits_for_change = site->info.constant != 0;
      }
    }
  }

  void find_polls() {
    for (std::uint32_t block = 0; block < flow_.blocks.size(); ++block) {
      // The last shared access of the block, and strong loads before it, if the block's branch
      // depends on what they read.
      for (std::size_t i = flow_.blocks[block].end; i > flow_.blocks[block].begin;) {
        --i;
        if (is_call(i) || fence_at(program_, i)) {
          break;
        }
        const Effect& effect = program_.effects[i];
        if (may_touch_shared(effect)) {
          mark_poll(i, block);
          if (effect.opcode_class != OpcodeClass::kLoad ||
              effect.order == wire::MemoryOrder::kWeak) {
            break;
          }
        }
      }
    }
  }

  // A volatile or relaxed access to the block's own memory synchronises with a fence before or
  // behind it. With a barrier of the block between the two, that barrier orders as much: all
  // threads that can see such a store have come to it, and so has who made a store that such a load
  // sees, before anyone passes it.
  void drop_accesses_far_from_fences() {
    if (!orders_its_block_alone()) {
      return;
    }
    const NearStops fences(flow_, find_stops(is_any_fence));
    drop_atomics(fences);
    for (const auto& [statement, site] : sites_) {
      const bool is_load = site->effect.opcode_class == OpcodeClass::kLoad;
      const bool is_own = (is_load || site->effect.opcode_class == OpcodeClass::kStore) &&
                          site->effect.space == StateSpace::kShared;
      if (is_own && is_unordered(*site) &&
          !(is_load ? fences.come_after(statement) : fences.come_before(statement))) {
        site->hook = HookKind::kAccess;
        site->info.numbered = false;
      }
    }
  }

 private:
  // The same of atomics, which neither a fence before nor one behind may be near. Who reads what
  // one found is ordered behind all that it may have observed, in what it does to that word next
  // (RACE_RULES section 1): so none may access memory of the block otherwise before the block's
  // next barrier. And what a logged one observes has to be logged: all are dropped, or none.
  void drop_atomics(const NearStops& fences) {
    std::vector<PlannedSite*> atomics;
    for (const auto& [statement, site] : sites_) {
      if (is_atomic(site->effect) && site->effect.space != StateSpace::kGlobal) {
        atomics.push_back(site);
      }
    }
    if (atomics.empty()) {
      return;
    }
    const NearStops accesses(flow_, find_stops(may_access_otherwise));
    for (const PlannedSite* const site : atomics) {
      const std::size_t statement = site->statement;
      const bool orders = site->effect.space != StateSpace::kShared ||
                          site->info.order != wire::MemoryOrder::kRelaxed || site->info.poll ||
                          fences.come_before(statement) || fences.come_after(statement) ||
                          accesses.come_after(statement);
      if (orders) {
        return;
      }
    }
    for (PlannedSite* const site : atomics) {
      site->hook = HookKind::kAccess;
      site->info.numbered = false;
    }
  }

  static bool is_atomic(const Effect& effect) {
    return effect.opcode_class == OpcodeClass::kAtomic ||
           effect.opcode_class == OpcodeClass::kReduction;
  }

  static bool is_any_fence(const Effect& effect) {
    return effect.opcode_class == OpcodeClass::kFence ||
           effect.opcode_class == OpcodeClass::kProxyFence;
  }

  static bool may_access_otherwise(const Effect& effect) {
    return effect.opcode_class == OpcodeClass::kCall ||
           (may_touch_shared(effect) && !is_atomic(effect) && effect.space != StateSpace::kGlobal);
  }

  // What is meant, and the barriers of the whole block.
  [[nodiscard]] std::vector<NearStops::Stop> find_stops(bool (*is_meant)(const Effect&)) const {
    const Function& function = program_.function(function_);
    std::vector<NearStops::Stop> stops;
    for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
      if (program_.module.statements[i].kind != StatementKind::kInstruction) {
        continue;
      }
      const Effect& effect = program_.effects[i];
      const bool is_of_block = effect.opcode_class == OpcodeClass::kBarrier &&
                               effect.count_operand < 0 && instruction(i).predicate.empty();
      if (is_meant(effect) || is_of_block) {
        stops.push_back({.statement = i, .is_meant = is_meant(effect)});
      }
    }
    return stops;
  }

  static bool is_unordered(const PlannedSite& site) {
    return (site.hook == HookKind::kAcquire || site.hook == HookKind::kRelease) &&
           (site.info.order == wire::MemoryOrder::kVolatile ||
            site.info.order == wire::MemoryOrder::kRelaxed) &&
           site.info.asynchrony == wire::Asynchrony::kNone && !site.info.poll &&
           !site.info.flag_store;
  }

  // An entry that no function with a fence is called from, that waits for no word of shared memory,
  // so that it is said what is missing beside one, and whose shared memory its block alone uses.
  [[nodiscard]] bool orders_its_block_alone() const {
    const Function& function = program_.function(function_);
    const FunctionFacts& facts = program_.functions[function_];
    const auto is_of_cluster = [](const Effect& effect) {
      return effect.shared_cluster || effect.opcode_class == OpcodeClass::kClusterBarrier;
    };
    return function.is_entry && !facts.calls_indirectly && !facts.spins_on_shared &&
           std::ranges::none_of(facts.reachable,
                                [&](std::uint32_t index) {
                                  return index != function_ && program_.functions[index].has_fence;
                                }) &&
           std::none_of(program_.effects.begin() + static_cast<std::ptrdiff_t>(function.body_begin),
                        program_.effects.begin() + static_cast<std::ptrdiff_t>(function.body_end),
                        is_of_cluster);
  }

  // Names of registers that depend on a value.
  using Registers = boost::unordered_flat_set<std::string_view>;

  [[nodiscard]] const Instruction& instruction(std::size_t i) const {
    return program_.module.statements[i].instruction;
  }

  [[nodiscard]] bool is_call(std::size_t i) const {
    return program_.effects[i].opcode_class == OpcodeClass::kCall;
  }

  static void mark_flag_store(PlannedSite& site, wire::Scope fence) {
    if (site.effect.opcode_class == OpcodeClass::kStore && site.info.element_count == 1 &&
        is_plain(site.info)) {
      site.info.flag_store = true;
      site.info.idiom_scope = fence;
      site.info.numbered = true;
      site.hook = HookKind::kRelease;
    }
  }

  void mark_poll(std::size_t i, std::uint32_t block) {
    const auto found = sites_.find(i);
    if (found == sites_.end() || instruction(i).operands.empty()) {
      return;
    }
    PlannedSite& site = *found->second;
    const bool reads = site.effect.opcode_class == OpcodeClass::kLoad ||
                       site.effect.opcode_class == OpcodeClass::kAtomic;
    const bool may_poll =
        reads && site.info.element_count == 1 && site.info.proxy == wire::Proxy::kGeneric;
    const auto scope = may_poll ? fence_behind_branch(i, block) : std::nullopt;
    if (!scope) {
      return;
    }
    site.info.poll = true;
    site.info.idiom_scope = *scope;
    site.info.numbered = true;
    site.hook =
        site.effect.opcode_class == OpcodeClass::kLoad ? HookKind::kAcquire : HookKind::kAtomic;
  }

  // The fence that the branch which the value decides leads to: the block's, or a caller's if the
  // function returns the value.
  [[nodiscard]] std::optional<wire::Scope> fence_behind_branch(std::size_t load,
                                                               std::uint32_t block) const {
    Registers depends;
    visit_registers(instruction(load).operands[0],
                    [&](const Operand& written) { depends.insert(written.name); });
    const Reach reach = follow(load + 1, flow_.blocks[block].end, depends);
    if (reach == Reach::kBranch) {
      return paths_.ahead(function_, block);
    }
    std::optional<wire::Scope> widest;
    if (reach == Reach::kResult && flow_.blocks[block].leaves) {
      for (const FencePaths::CallSite& caller : paths_.callers_of(function_)) {
        widest = std::max(widest, fence_behind_call(caller));
      }
    }
    return widest;
  }

  // As above, of what a call returns.
  [[nodiscard]] std::optional<wire::Scope> fence_behind_call(
      const FencePaths::CallSite& caller) const {
    const ControlFlow& flow = *paths_.flow_of(caller.function);
    const std::uint32_t block = flow.block_of(caller.statement);
    const std::size_t end = flow.blocks[block].end;
    Registers depends;
    std::size_t i = caller.statement + 1;
    for (; i < end && is_result_read(i); ++i) {
      if (program_.module.statements[i].kind == StatementKind::kInstruction) {
        visit_registers(instruction(i).operands[0],
                        [&](const Operand& written) { depends.insert(written.name); });
      }
    }
    for (std::size_t next = i; next < end; ++next) {
      if (is_call(next) || fence_at(program_, next) || may_touch_shared(program_.effects[next])) {
        return std::nullopt;
      }
    }
    return follow(i, end, depends) == Reach::kBranch ? paths_.ahead(caller.function, block)
                                                     : std::nullopt;
  }

  // What follows a call and belongs to it.
  [[nodiscard]] bool is_result_read(std::size_t i) const {
    const Effect& effect = program_.effects[i];
    return program_.module.statements[i].kind != StatementKind::kInstruction ||
           (effect.opcode_class == OpcodeClass::kLoad && effect.space == StateSpace::kParam);
  }

  enum class Reach : std::uint8_t { kNothing, kBranch, kResult };

  // What the value in those registers reaches first before `end`: the predicate of the branch, or
  // the function's result.
  [[nodiscard]] Reach follow(std::size_t begin, std::size_t end, Registers& depends) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (program_.module.statements[i].kind != StatementKind::kInstruction) {
        continue;
      }
      const Instruction& current = instruction(i);
      const Effect& effect = program_.effects[i];
      if (effect.opcode_class == OpcodeClass::kBranch) {
        return depends.contains(current.predicate) ? Reach::kBranch : Reach::kNothing;
      }
      bool from_value = false;
      for (std::size_t operand = 1; operand < current.operands.size(); ++operand) {
        visit_registers(current.operands[operand], [&](const Operand& name) {
          from_value = from_value || depends.contains(name.name);
        });
      }
      if (effect.opcode_class == OpcodeClass::kStore && effect.space == StateSpace::kParam &&
          from_value) {
        return Reach::kResult;
      }
      if (current.operands.empty()) {
        continue;
      }
      visit_registers(current.operands[0], [&](const Operand& name) {
        if (from_value) {
          depends.insert(name.name);
        } else if (current.predicate.empty()) {
          depends.erase(name.name);
        }
      });
    }
    return Reach::kNothing;
  }

  Program& program_;
  const FencePaths& paths_;
  std::uint32_t function_;
  const ControlFlow& flow_;
  boost::unordered_flat_map<std::size_t, PlannedSite*> sites_;
};

}  // namespace

Expected<void> run(Program& program) {
  TRY(const FencePaths paths, FencePaths::read(program));
  for (std::size_t first = 0; first < program.sites.size();) {
    const std::uint32_t index = program.sites[first].function;
    std::size_t end = first;
    while (end < program.sites.size() && program.sites[end].function == index) {
      ++end;
    }
    if (paths.flow_of(index) != nullptr) {
      Finder finder(program, paths, index);
      for (std::size_t i = first; i < end; ++i) {
        finder.add(program.sites[i]);
      }
      finder.find_flag_stores();
      finder.find_polls();
      finder.find_change_waits();
      finder.drop_accesses_far_from_fences();
    }
    first = end;
  }
  return {};
}

}  // namespace barracuda::ptx::sync_idioms
