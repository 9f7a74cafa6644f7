#include "ptx/module.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "ptx/target_name.h"

namespace barracuda::ptx {

namespace {

struct TypeRow {
  std::string_view name;
  ScalarType type;
  std::uint32_t bytes;
};

constexpr auto kTypes = std::to_array<TypeRow>({
    {"b8", ScalarType::kB8, 1},         {"b16", ScalarType::kB16, 2},
    {"b32", ScalarType::kB32, 4},       {"b64", ScalarType::kB64, 8},
    {"b128", ScalarType::kB128, 16},    {"u8", ScalarType::kU8, 1},
    {"u16", ScalarType::kU16, 2},       {"u32", ScalarType::kU32, 4},
    {"u64", ScalarType::kU64, 8},       {"s8", ScalarType::kS8, 1},
    {"s16", ScalarType::kS16, 2},       {"s32", ScalarType::kS32, 4},
    {"s64", ScalarType::kS64, 8},       {"f16", ScalarType::kF16, 2},
    {"f16x2", ScalarType::kF16x2, 4},   {"bf16", ScalarType::kBf16, 2},
    {"bf16x2", ScalarType::kBf16x2, 4}, {"tf32", ScalarType::kTf32, 4},
    {"e4m3x2", ScalarType::kE4m3x2, 2}, {"e5m2x2", ScalarType::kE5m2x2, 2},
    {"f32", ScalarType::kF32, 4},       {"f64", ScalarType::kF64, 8},
    {"pred", ScalarType::kPred, 0},
});

}  // namespace

std::uint32_t size_of(ScalarType type) {
  const auto* row = std::ranges::find(kTypes, type, &TypeRow::type);
  return row == kTypes.end() ? 0 : row->bytes;
}

ScalarType parse_scalar_type(std::string_view name) {
  if (name.size() < 2 || name.size() > 6) {
    return ScalarType::kNone;
  }
  const auto* row = std::ranges::find(kTypes, name, &TypeRow::name);
  return row == kTypes.end() ? ScalarType::kNone : row->type;
}

bool Instruction::has(std::string_view modifier) const {
  return std::ranges::find(modifiers, modifier) != modifiers.end();
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
    } else if (statement.kind == StatementKind::kBlockClose && depth > 0 && --depth == 0 &&
               open != nullptr) {
      open->body_end = i;
      open = nullptr;
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
