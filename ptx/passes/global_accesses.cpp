#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/strong_id.h"
#include "device_logger/scope_order.h"
#include "device_logger/unlogged_memory.h"
#include "ptx/analysis/address_forms.h"
#include "ptx/analysis/global_writes.h"
#include "ptx/analysis/guards.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/register_uses.h"
#include "ptx/analysis/result_use.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::global_accesses {
namespace {

// Whose records are those of its bytes and nothing else: it orders nothing, and stands for nothing.
bool is_plain(const Effect& effect, std::span<const PlannedSite> sites) {
  return (effect.opcode_class == OpcodeClass::kLoad ||
          effect.opcode_class == OpcodeClass::kStore) &&
         effect.order == wire::MemoryOrder::kWeak && !effect.not_covered &&
         std::ranges::all_of(sites, [](const PlannedSite& site) {
           return (site.hook == HookKind::kNone || site.hook == HookKind::kAccess) &&
                  site.info.order == wire::MemoryOrder::kWeak && !site.info.poll &&
                  !site.info.flag_store && site.info.asynchrony == wire::Asynchrony::kNone;
         });
}

// An atomic that all threads of the device do as one. Without a fence beside it a result orders
// what its thread does to the same bytes next (RACE_RULES section 1), and nothing else.
bool is_relaxed_atomic(const Effect& effect, std::span<const PlannedSite> sites) {
  const bool is_one = (effect.opcode_class == OpcodeClass::kAtomic ||
                       effect.opcode_class == OpcodeClass::kReduction) &&
                      !effect.not_covered && sites.size() == 1;
  if (!is_one) {
    return false;
  }
  const PlannedSite& site = sites.front();
  return (site.hook == HookKind::kAccess || site.hook == HookKind::kRelease ||
          site.hook == HookKind::kAtomic) &&
         site.info.order == wire::MemoryOrder::kRelaxed &&
         wire::includes(site.info.scope, wire::Scope::kGpu) && !site.info.poll &&
         site.info.asynchrony == wire::Asynchrony::kNone && site.effect.elements == 1 &&
         site.sub_word.word == 0;
}

// The accesses of one entry's own code.
class EntryReader {
 public:
  EntryReader(Program& program, std::uint32_t entry)
      : program_(program),
        entry_(program.function(entry)),
        has_fence_(std::ranges::any_of(
            program.functions[entry].reachable,
            [&](std::uint32_t index) { return program.functions[index].has_fence; })),
        forms_(program, entry_) {
    const Expected<const ControlFlow*> flow = program.flow_of(entry);
    flow_ = flow ? *flow : nullptr;
  }

  GlobalAccess describe(const FoundAccess& found) {
    const Statement& statement = program_.module.statements[found.statement];
    const Effect& effect = program_.effects[found.statement];
    const std::span<PlannedSite> sites = sites_at(found.statement);
    GlobalAccess access{.leads = found.leads};
    const Operand* const address = address_of(statement, effect);
    access.is_atomic = is_relaxed_atomic(effect, sites) && decides_nothing(found.statement);
    if (address == nullptr || (!is_plain(effect, sites) && !access.is_atomic)) {
      return access;
    }
    if (access.is_atomic) {
      sites.front().may_be_left_out = sites.front().hook != HookKind::kAccess;
    } else {
      access.form = forms_.base_of(*address);
      access.offset = address->offset;
      if (access.form) {
        access.guards = guards_at(found.statement);
      }
    }
    access.bytes = size_of(effect.type) * effect.elements;
    for (const PlannedSite& site : sites) {
      if (site.hook != HookKind::kNone) {
        access.first_site = access.sites == 0 ? index_of(site.id) : access.first_site;
        ++access.sites;
      }
    }
    return access;
  }

  // All that the accesses name.
  void hand_over(GlobalAccesses& all) {
    all.nodes = forms_.take_nodes();
    all.guards = std::move(guards_);
  }

  // Those of a statement, in the order of the text.
  [[nodiscard]] std::span<PlannedSite> sites_at(std::size_t statement) {
    const auto sites =
        std::ranges::equal_range(program_.sites, statement, {}, &PlannedSite::statement);
    return {sites.begin(), sites.end()};
  }

 private:
  // Of an atomic. With a fence somewhere its result may tell of what others did before theirs.
  [[nodiscard]] bool decides_nothing(std::size_t atomic) {
    if (program_.effects[atomic].opcode_class == OpcodeClass::kReduction) {
      return true;
    }
    return !has_fence_ && ptx::decides_nothing(program_, uses(), atomic);
  }

  const RegisterUses& uses() {
    if (!uses_) {
      uses_.emplace(program_, entry_);
    }
    return *uses_;
  }

  // The same for all statements of a block. What is not known of them says nothing.
  const std::vector<std::uint32_t>& guards_at(std::size_t statement) {
    const std::uint32_t block = flow_ == nullptr ? kNoBlock : flow_->block_of(statement);
    const auto [place, is_new] = guards_of_.try_emplace(block);
    if (is_new && block != kNoBlock) {
      place->second = find_guards(statement);
    }
    return place->second;
  }

  std::vector<std::uint32_t> find_guards(std::size_t statement) {
    std::vector<std::uint32_t> numbers;
    for (const Comparison& comparison : Guards(program_, *flow_, uses()).at(statement)) {
      const auto [known, is_new] = known_.try_emplace(comparison.less);
      if (is_new) {
        if (const auto guard = forms_.guard_of(comparison)) {
          known->second = static_cast<std::uint32_t>(guards_.size());
          guards_.push_back(*guard);
        }
      }
      const std::optional<std::uint32_t> number = known->second;
      if (number) {
        numbers.push_back(*number);
      }
    }
    return numbers;
  }

  Program& program_;
  const Function& entry_;
  const bool has_fence_;
  AddressForms forms_;
  const ControlFlow* flow_ = nullptr;  // null: what its branches decide is not known
  std::optional<RegisterUses> uses_;
  std::vector<AddressGuard> guards_;
  // By what is less: the guard's number; nothing if it is not known.
  boost::unordered_flat_map<const Operand*, std::optional<std::uint32_t>> known_;
  boost::unordered_flat_map<std::uint32_t, std::vector<std::uint32_t>> guards_of_;  // by block
};

// Whether it has a hook that is gone round where a launch says so: of an aligned access, or of a
// read, of which the part that is read may be smaller.
bool may_take_shortcut(const FoundAccess& found, std::uint32_t entry, const GlobalAccess& access) {
  const GlobalWrites& leads = found.leads;
  const bool is_argument = leads.is_known && !leads.variables && leads.arguments.size() == 1;
  return found.function == entry && access.sites != 0 && !access.is_atomic &&
         access.bytes <= wire::kMostShortcutBytes && (is_argument || !leads.variable.empty());
}

// Of those the ones that most sites take.
std::vector<Shortcut> find_shortcuts(const Program& program, std::uint32_t entry,
                                     std::span<const FoundAccess> found,
                                     const GlobalAccesses& all) {
  std::vector<Shortcut> shortcuts;
  for (std::uint32_t i = 0; i < found.size(); ++i) {
    const GlobalWrites& leads = found[i].leads;
    if (!may_take_shortcut(found[i], entry, all.accesses[i])) {
      continue;
    }
    const std::optional<ArgumentWord> argument =
        leads.arguments.empty() ? std::nullopt : std::optional(leads.arguments.front());
    auto same = std::ranges::find_if(shortcuts, [&](const Shortcut& shortcut) {
      return shortcut.argument == argument && shortcut.variable == leads.variable;
    });
    if (same == shortcuts.end()) {
      same = shortcuts.insert(same, {.argument = argument, .variable = leads.variable});
    }
    same->accesses.push_back(i);
    same->stores =
        same->stores || program.effects[found[i].statement].opcode_class == OpcodeClass::kStore;
  }
  std::ranges::stable_sort(shortcuts, std::ranges::greater(),
                           [](const Shortcut& shortcut) { return shortcut.accesses.size(); });
  shortcuts.resize(std::min<std::size_t>(shortcuts.size(), wire::kShortcuts));
  return shortcuts;
}

bool has_room_for_shortcuts(const Program& program, const Kernel& kernel) {
  return kernel.instrumented && program.options.has_shortcuts &&
         kernel.hidden_parameter_offset + sizeof(wire::HiddenArgument) <=
             parameter_limit(program.module);
}

std::optional<std::uint32_t> most_records(const Program& program, std::uint32_t entry) {
  const Function& function = program.function(entry);
  const auto at = [&](std::size_t statement) {
    return std::ranges::lower_bound(program.sites, statement, {}, &PlannedSite::statement);
  };
  const std::ranges::subrange sites(at(function.body_begin), at(function.body_end));
  const bool has_loops =
      std::ranges::any_of(sites, [](const PlannedSite& site) { return !site.loops.empty(); });
  return has_loops || !calls_nothing_that_logs(program, entry)
             ? std::nullopt
             : std::optional(static_cast<std::uint32_t>(sites.size()));
}

void find(Program& program, std::uint32_t entry, Kernel& kernel) {
  kernel.most_records = most_records(program, entry);
  GlobalAccesses& all = kernel.accesses;
  EntryReader reader(program, entry);
  all.are_known = !program.functions[entry].calls_indirectly;
  const std::vector<FoundAccess> found = find_global_accesses(program, entry);
  for (const FoundAccess& each : found) {
    all.are_known = all.are_known && each.leads.is_known;
    all.accesses.push_back(each.function == entry ? reader.describe(each)
                                                  : GlobalAccess{.leads = each.leads});
  }
  reader.hand_over(all);
  if (!has_room_for_shortcuts(program, kernel)) {
    return;
  }
  kernel.shortcuts = find_shortcuts(program, entry, found, all);
  for (std::uint32_t i = 0; i < kernel.shortcuts.size(); ++i) {
    for (const std::uint32_t access : kernel.shortcuts[i].accesses) {
      for (PlannedSite& site : reader.sites_at(found[access].statement)) {
        site.shortcut = i;
      }
    }
  }
}

}  // namespace

Expected<void> run(Program& program) {
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const Function& entry = program.function(i);
    const auto kernel = std::ranges::find(program.kernels, entry.name, &Kernel::name);
    if (entry.is_entry && entry.has_body && kernel != program.kernels.end()) {
      find(program, i, *kernel);
    }
  }
  return {};
}

}  // namespace barracuda::ptx::global_accesses
