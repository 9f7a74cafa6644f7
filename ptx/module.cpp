#include "ptx/module.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "ptx/target_name.h"

namespace barracuda::ptx {

bool Instruction::has(Modifier modifier) const {
  return std::ranges::find(modifiers, modifier) != modifiers.end();
}

void Instruction::set_mnemonic(std::string_view text) {
  std::size_t dot = std::min(text.find('.'), text.size());
  mnemonic = text;
  opcode = find_opcode(text.substr(0, dot));
  modifiers.clear();
  while (dot < text.size()) {
    text.remove_prefix(dot + 1);
    dot = std::min(text.find('.'), text.size());
    modifiers.push_back(find_modifier(text.substr(0, dot)));
  }
}

ScalarType Instruction::last_type(std::size_t from_last) const {
  return from_last < modifiers.size() ? type_of(modifiers[modifiers.size() - 1 - from_last])
                                      : ScalarType::kNone;
}

std::uint64_t Variable::size() const {
  return elements * vector * size_of(type);
}

bool Module::is_valid() const {
  const auto is_at = [this](std::size_t index, StatementKind kind) {
    return index < statements.size() && statements[index].kind == kind;
  };
  for (std::size_t index = 0; index < functions.size(); ++index) {
    const Function& function = functions[index];
    if (!is_at(function.header, StatementKind::kFunction) ||
        statements[function.header].function != index ||
        (function.has_body && (!is_at(function.body_begin, StatementKind::kBlockOpen) ||
                               !is_at(function.body_end, StatementKind::kBlockClose) ||
                               function.body_begin >= function.body_end))) {
      return false;
    }
  }
  return true;
}

std::string_view Module::own(std::string text) {
  return *texts_.emplace_back(std::make_unique<std::string>(std::move(text)));
}

void Module::index_functions() {
  constexpr auto kNowhere = static_cast<std::size_t>(-1);
  for (Function& function : functions) {
    function.header = function.body_begin = function.body_end = kNowhere;
  }
  Function* open = nullptr;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Statement& statement = statements[i];
    if (statement.kind == StatementKind::kFunction) {
      Function& function = functions[statement.function];
      function.header = i;
      open = function.has_body ? &function : nullptr;
    } else if (statement.kind == StatementKind::kBlockOpen) {
      if (open != nullptr && depth == 0) {
        open->body_begin = i;
      }
      ++depth;
    } else if (statement.kind == StatementKind::kBlockClose && depth > 0) {
      --depth;
      if (open != nullptr && depth == 0) {
        open->body_end = i;
        open = nullptr;
      }
    }
  }
  for (Function& function : functions) {
    function.has_body = function.has_body && function.body_end != kNowhere;
  }
}

const Function* Module::find_function(std::string_view name) const {
  const Function* declaration = nullptr;
  for (const Function& function : functions) {
    if (function.name == name) {
      if (function.has_body) {
        return &function;
      }
      declaration = &function;
    }
  }
  return declaration;
}

std::uint32_t architecture_of(std::string_view target) {
  std::uint32_t arch = 0;
  const std::size_t digits = target.find('_');
  if (digits != std::string_view::npos) {
    std::from_chars(target.data() + digits + 1, target.data() + target.size(), arch);
  }
  return arch;
}

std::uint32_t Module::target_arch() const {
  return architecture_of(target);
}

}  // namespace barracuda::ptx
