#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/strong_id.h"
#include "device_logger/scope_order.h"
#include "ptx/analysis/address_forms.h"
#include "ptx/analysis/global_writes.h"
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
         site.info.asynchrony == wire::Asynchrony::kNone && site.info.element_count == 1 &&
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
        forms_(program, entry_) {}

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

  std::vector<AddressNode> take_nodes() { return forms_.take_nodes(); }

 private:
  // Those of a statement, in the order of the text.
  [[nodiscard]] std::span<PlannedSite> sites_at(std::size_t statement) {
    const auto sites =
        std::ranges::equal_range(program_.sites, statement, {}, &PlannedSite::statement);
    return {sites.begin(), sites.end()};
  }

  // Of an atomic. With a fence somewhere its result may tell of what others did before theirs.
  [[nodiscard]] bool decides_nothing(std::size_t atomic) {
    if (program_.effects[atomic].opcode_class == OpcodeClass::kReduction) {
      return true;
    }
    if (!uses_) {
      uses_.emplace(program_, entry_);
    }
    return !has_fence_ && ptx::decides_nothing(program_, *uses_, atomic);
  }

  Program& program_;
  const Function& entry_;
  const bool has_fence_;
  AddressForms forms_;
  std::optional<RegisterUses> uses_;
};

GlobalAccesses find(Program& program, std::uint32_t entry) {
  GlobalAccesses all;
  EntryReader reader(program, entry);
  all.are_known = !program.functions[entry].calls_indirectly;
  for (const FoundAccess& found : find_global_accesses(program, entry)) {
    all.are_known = all.are_known && found.leads.is_known;
    all.accesses.push_back(found.function == entry ? reader.describe(found)
                                                   : GlobalAccess{.leads = found.leads});
  }
  all.nodes = reader.take_nodes();
  return all;
}

}  // namespace

Expected<void> run(Program& program) {
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const Function& entry = program.function(i);
    const auto kernel = std::ranges::find(program.kernels, entry.name, &Kernel::name);
    if (entry.is_entry && entry.has_body && kernel != program.kernels.end()) {
      kernel->accesses = find(program, i);
    }
  }
  return {};
}

}  // namespace barracuda::ptx::global_accesses
