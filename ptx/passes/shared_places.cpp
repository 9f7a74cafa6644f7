#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/strong_id.h"
#include "device_logger/record.h"
#include "device_logger/symbols.h"
#include "ptx/analysis/insertions.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/shared_layout.h"
#include "ptx/hooks/hook_call.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::shared_places {
namespace {

// The variables of one entry, and the statement before which all of them are declared.
struct Variables {
  std::vector<const Variable*> list;
  std::size_t declared_at = 0;
};

bool is_programs(const Variable& variable) {
  return variable.space == StateSpace::kShared && !variable.name.starts_with(wire::kPrefix);
}

// Those of the module that the entry may come to, and those in front of its own code, where nvcc
// puts what one kernel alone has.
Variables variables_of(const Program& program, std::uint32_t index) {
  const Function& entry = program.function(index);
  Variables found{.declared_at = entry.body_begin + 1};
  const FunctionFacts& facts = program.functions[index];
  for_each_of_module(program.module, [&](const Statement&, const Variable& variable) {
    if (is_programs(variable) && reaches(program, facts, variable.name)) {
      found.list.push_back(&variable);
    }
  });
  for (std::size_t i = entry.body_begin + 1; i < entry.body_end; ++i) {
    const Statement& statement = program.module.statements[i];
    if (statement.kind == StatementKind::kInstruction) {
      break;
    }
    for (const Variable& variable : statement.variables) {
      if (is_programs(variable)) {
        found.list.push_back(&variable);
        found.declared_at = i + 1;
      }
    }
  }
  return found;
}

// By the first warp of the first block, all lanes of it together: NVIDIA's compiler does not always
// let lanes meet again behind a call that some of them make, and programs count on lanes that begin
// together (coalesced_threads(), sums of a warp without __syncwarp()).
std::string tell(Program& program, wire::SiteId site, const std::vector<const Variable*>& list) {
  std::string text =
      "{\n.reg .b32 %__barracuda_l, %__barracuda_o, %__barracuda_m;\n"
      ".reg .pred %__barracuda_q;\n"
      "mov.u32 %__barracuda_l, %tid.z;\n";
  for (const char axis : {'y', 'x'}) {
    fmt::format_to(std::back_inserter(text),
                   "mov.u32 %__barracuda_o, %ntid.{0};\nmov.u32 %__barracuda_m, %tid.{0};\n"
                   "mad.lo.u32 %__barracuda_l, %__barracuda_l, %__barracuda_o, %__barracuda_m;\n",
                   axis);
  }
  text += "shr.u32 %__barracuda_l, %__barracuda_l, 5;\n";
  for (const char axis : {'x', 'y', 'z'}) {
    fmt::format_to(std::back_inserter(text),
                   "mov.u32 %__barracuda_o, %ctaid.{};\n"
                   "or.b32 %__barracuda_l, %__barracuda_l, %__barracuda_o;\n",
                   axis);
  }
  text +=
      "setp.ne.u32 %__barracuda_q, %__barracuda_l, 0;\n"
      "@%__barracuda_q bra.uni $__barracuda_told;\n";
  for (std::size_t number = list.size(); number-- != 0;) {  // with the first, all are told
    fmt::format_to(std::back_inserter(text), "mov.u32 %__barracuda_o, {};\n", list[number]->name);
    text += without_rank("%__barracuda_o", program.module.target_arch());
    text += write_call(
        program.called_hooks, {.name = "optional_event"},
        {b32(index_of(site)), b32("%__barracuda_o"), b32(static_cast<std::uint32_t>(number))});
  }
  return text + "$__barracuda_told:\n}";
}

Expected<wire::SiteId> add_site(Program& program, const Function& entry,
                                const std::vector<const Variable*>& list) {
  TRY(const wire::SiteId id, next_site(program));
  Site& site = program.site_table.emplace_back();
  site.id = id;
  site.info.operation = wire::Operation::kSharedPlace;
  site.function = entry.name;
  site.in_entry = true;
  for (const Variable* const variable : list) {
    site.variable += fmt::format("{}{}:{}", site.variable.empty() ? "" : " ", variable->name,
                                 variable->is_extern ? 0 : variable->size());
  }
  return id;
}

}  // namespace

Expected<void> run(Program& program) {
  if (!program.options.tells_shared_places) {
    return {};
  }
  std::vector<Insertion> insertions;
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.function(i);
    const Kernel* const kernel = program.find_kernel(function.name);
    if (kernel == nullptr || !kernel->instrumented || !program.functions[i].may_log) {
      continue;
    }
    const Variables variables = variables_of(program, i);
    if (!variables.list.empty()) {
      TRY(const wire::SiteId site, add_site(program, function, variables.list));
      insertions.push_back({variables.declared_at, tell(program, site, variables.list)});
    }
  }
  apply_insertions(program.module, std::move(insertions));
  return {};
}

}  // namespace barracuda::ptx::shared_places
