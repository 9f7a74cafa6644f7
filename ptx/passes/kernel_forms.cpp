#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/analysis/program.h"
#include "ptx/analysis/register_sizes.h"
#include "ptx/analysis/shared_layout.h"
#include "ptx/analysis/steady_kernels.h"
#include "ptx/hooks/hook_text.h"
#include "ptx/hooks/parameter_text.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::kernel_forms {
namespace {

bool may_be_guarded(const PlannedSite& site) {
  const bool is_exit =
      site.hook == HookKind::kEvent && site.info.operation == wire::Operation::kExit;
  return site.hook == HookKind::kNone || is_exit ||
         (site.shortcut.has_value() && site.sub_word.word == 0);
}

// What stands at module scope: variables, each with the statement that declares it.
std::map<std::string_view, const Statement*> variables_of(const Module& module) {
  std::map<std::string_view, const Statement*> found;
  for_each_of_module(module, [&found](const Statement& statement, const Variable& variable) {
    found.emplace(variable.name, &statement);
  });
  return found;
}

using Declarations = std::set<const Statement*>;

// What has to be declared for the text of one kernel to stand alone. Nothing where it cannot: it
// calls something, or names what is one instance for all of the module.
std::optional<Declarations> declarations_of(
    const Program& program, const Function& function, const FunctionFacts& facts,
    const std::map<std::string_view, const Statement*>& of_module) {
  const std::span body = std::span(program.module.statements)
                             .subspan(function.body_begin, function.body_end - function.body_begin);
  if (std::ranges::any_of(body, [](const Statement& statement) {
        return statement.instruction.opcode == Opcode::kCall;
      })) {
    return std::nullopt;
  }
  Declarations needed;
  for (const std::string_view symbol : facts.symbols) {
    const auto variable = of_module.find(symbol);
    if (variable != of_module.end() &&
        variable->second->variables.front().space != StateSpace::kShared) {
      return std::nullopt;
    }
    if (variable != of_module.end()) {
      needed.insert(variable->second);
    }
    if (std::ranges::find(program.module.functions, symbol, &Function::name) !=
        program.module.functions.end()) {
      return std::nullopt;
    }
  }
  return needed;
}

// With the guards of those sites.
std::string write_form(Program& program, const Kernel& kernel, const Function& function,
                       const Declarations& declarations, std::span<const PlannedSite> sites) {
  std::string text;
  const auto add = [&text](std::string_view line) {
    text += line;
    text += '\n';
  };
  for (const Statement& statement : program.module.statements) {
    if (statement.kind == StatementKind::kVersion || statement.kind == StatementKind::kTarget ||
        statement.kind == StatementKind::kAddressSize) {
      add(statement.text);
    }
  }
  for (const Statement* const declaration : declarations) {
    add(declaration->text);
  }
  add(with_hidden_parameter(program.module.statements[function.header].text, function.name,
                            kernel.hidden_parameter_bytes()));
  RegisterSizes registers;
  HookWriter writer(program, registers);
  registers.enter(function);
  std::vector<std::pair<std::size_t, std::string>> later;  // before statements that are to come
  auto site = sites.begin();
  for (std::size_t i = function.body_begin; i <= function.body_end; ++i) {
    const Statement& statement = program.module.statements[i];
    if (i != function.body_begin) {
      registers.read(statement);
    }
    for (; site != sites.end() && site->statement == i; ++site) {
      if (site->hook != HookKind::kNone && site->shortcut) {
        later.emplace_back(std::max(i, site->logged_at), writer.write_guard(*site, statement));
      }
    }
    for (const auto& [at, guard] : later) {
      text += at == i ? guard : std::string();
    }
    std::erase_if(later, [i](const auto& guard) { return guard.first == i; });
    if (statement.kind != StatementKind::kLocation) {  // its files are not declared here
      add(statement.text);
    }
  }
  return text;
}

bool may_repeat(const Program& program, std::uint32_t entry, const Kernel& kernel,
                std::span<const PlannedSite> sites) {
  return program.options.has_shortcuts && kernel.accesses.are_known && kernel.writes.is_known &&
         is_steady(program, entry, sites);
}

}  // namespace

Expected<void> run(Program& program) {
  const auto of_module = variables_of(program.module);
  return visit_functions(program, [&](std::span<const PlannedSite> sites) -> Expected<void> {
    const std::uint32_t index = sites.front().function;
    const Function& function = program.function(index);
    Kernel* const kernel = function.is_entry ? kernel_of(program, function) : nullptr;
    // Nor are its blocks numbered anew.
    if (kernel == nullptr || !kernel->instrumented || program.options.renumbers_blocks) {
      return {};
    }
    const auto declarations =
        declarations_of(program, function, program.functions[index], of_module);
    if (!declarations) {
      return {};
    }
    if (!kernel->shortcuts.empty() && std::ranges::all_of(sites, may_be_guarded)) {
      kernel->guarded = write_form(program, *kernel, function, *declarations, sites);
    }
    if (may_repeat(program, index, *kernel, sites)) {
      kernel->plain = write_form(program, *kernel, function, *declarations, {});
    }
    const auto numbered = [](const PlannedSite& site) { return site.hook != HookKind::kNone; };
    const auto first = std::ranges::find_if(sites, numbered);
    if (first != sites.end()) {
      kernel->first_site = first->id;
      kernel->last_site = std::ranges::find_if(sites.rbegin(), sites.rend(), numbered)->id;
    }
    return {};
  });
}

}  // namespace barracuda::ptx::kernel_forms
