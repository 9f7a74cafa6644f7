#include <algorithm>
#include <span>

#include "base/strong_id.h"
#include "ptx/analysis/address_forms.h"
#include "ptx/analysis/global_writes.h"
#include "ptx/analysis/program.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::global_accesses {
namespace {

// Those of a statement, in the order of the text.
std::span<const PlannedSite> sites_at(const Program& program, std::size_t statement) {
  const auto sites =
      std::ranges::equal_range(program.sites, statement, {}, &PlannedSite::statement);
  return {sites.begin(), sites.end()};
}

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

GlobalAccess describe(const Program& program, const FoundAccess& found, AddressForms& forms) {
  const Statement& statement = program.module.statements[found.statement];
  const Effect& effect = program.effects[found.statement];
  const std::span<const PlannedSite> sites = sites_at(program, found.statement);
  GlobalAccess access{.leads = found.leads};
  const Operand* const address = address_of(statement, effect);
  if (address == nullptr || !is_plain(effect, sites)) {
    return access;
  }
  access.form = forms.base_of(*address);
  access.offset = address->offset;
  access.bytes = size_of(effect.type) * effect.elements;
  for (const PlannedSite& site : sites) {
    if (site.hook != HookKind::kNone) {
      access.first_site = access.sites == 0 ? index_of(site.id) : access.first_site;
      ++access.sites;
    }
  }
  return access;
}

GlobalAccesses find(const Program& program, std::uint32_t entry) {
  GlobalAccesses all;
  AddressForms forms(program, program.function(entry));
  all.are_known = !program.functions[entry].calls_indirectly;
  for (const FoundAccess& found : find_global_accesses(program, entry)) {
    all.are_known = all.are_known && found.leads.is_known;
    all.accesses.push_back(found.function == entry ? describe(program, found, forms)
                                                   : GlobalAccess{.leads = found.leads});
  }
  all.nodes = forms.take_nodes();
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
