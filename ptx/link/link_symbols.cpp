#include "ptx/link/link_symbols.h"

#include <algorithm>
#include <array>

#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/format.h>

namespace barracuda::ptx {
namespace {

using Names = boost::unordered_flat_set<std::string_view>;

void read_names(const Operand& operand, Names& names) {
  if (operand.kind == Operand::Kind::kSymbol) {
    names.insert(operand.name);
  }
  for (const Operand& element : operand.elements) {
    read_names(element, names);
  }
}

Names referenced_names(const Module& module) {
  Names names;
  for (const Statement& statement : module.statements) {
    for (const Operand& operand : statement.instruction.operands) {
      read_names(operand, names);
    }
    for (const Variable& variable : statement.variables) {
      for (const Operand& value : variable.initializer) {
        names.insert(value.name);
      }
    }
  }
  return names;
}

// What CUDA's driver links into every module.
bool is_provided(std::string_view name) {
  constexpr auto kProvided = std::to_array<std::string_view>(
      {"vprintf", "malloc", "free", "__assertfail", "__nvvm_reflect"});
  return std::ranges::find(kProvided, name) != kProvided.end();
}

bool is_device_runtime(std::string_view name) {
  return name.starts_with("__cudaCDP") || name.starts_with("cuda");
}

}  // namespace

std::vector<LinkSymbol> read_symbols(const Module& module, std::size_t unit) {
  std::vector<LinkSymbol> symbols;
  const Names referenced = referenced_names(module);
  std::size_t depth = 0;
  for (std::size_t i = 0; i < module.statements.size(); ++i) {
    const Statement& statement = module.statements[i];
    depth += statement.kind == StatementKind::kBlockOpen ? 1 : 0;
    depth -= statement.kind == StatementKind::kBlockClose ? 1 : 0;
    if (statement.kind == StatementKind::kFunction) {
      const Function& function = module.functions[statement.function];
      symbols.push_back({.name = function.name,
                         .unit = unit,
                         .statement = i,
                         .function = &function,
                         .is_definition = function.has_body,
                         .is_local = !function.is_extern && !function.is_visible &&
                                     !function.is_weak && !function.is_entry,
                         .is_weak = function.is_weak,
                         .is_referenced = referenced.contains(function.name)});
    } else if (statement.kind == StatementKind::kVariable && depth == 0) {
      for (const Variable& variable : statement.variables) {
        symbols.push_back({.name = variable.name,
                           .unit = unit,
                           .statement = i,
                           .variable = &variable,
                           .is_definition = !variable.is_extern,
                           .is_local = !variable.is_extern && !variable.is_visible &&
                                       !variable.is_weak && !variable.is_common,
                           .is_weak = variable.is_weak || variable.is_common,
                           .is_referenced = referenced.contains(variable.name)});
      }
    }
  }
  return symbols;
}

Expected<Definitions> choose_definitions(const std::vector<std::vector<LinkSymbol>>& units) {
  Definitions definitions;
  for (const auto& symbols : units) {
    for (const LinkSymbol& symbol : symbols) {
      if (!symbol.is_definition || symbol.is_local) {
        continue;
      }
      const auto [found, is_new] = definitions.emplace(symbol.name, &symbol);
      if (is_new || symbol.is_weak) {
        continue;
      }
      if (!found->second->is_weak) {
        return unexpected(
            {.message = fmt::format("\"{}\" is defined in two translation units", symbol.name)});
      }
      found->second = &symbol;
    }
  }
  return definitions;
}

Expected<void> check_resolved(const std::vector<std::vector<LinkSymbol>>& units,
                              const Definitions& definitions) {
  for (const auto& symbols : units) {
    for (const LinkSymbol& symbol : symbols) {
      const bool is_dynamic_shared =
          symbol.variable != nullptr && symbol.variable->space == StateSpace::kShared;
      if (symbol.is_definition || symbol.is_local || !symbol.is_referenced || is_dynamic_shared ||
          definitions.contains(symbol.name) || is_provided(symbol.name)) {
        continue;
      }
      const std::string_view why =
          is_device_runtime(symbol.name)
              ? "is of the CUDA device runtime (dynamic parallelism), which is not linked"
              : "is used and not defined";
      return unexpected({.message = fmt::format("\"{}\" {}", symbol.name, why)});
    }
  }
  return {};
}

}  // namespace barracuda::ptx
