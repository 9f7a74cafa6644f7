#include "emulator/decode/symbols.h"

#include <charconv>
#include <ranges>

namespace barracuda::emulator {

RegisterClass register_class(ptx::ScalarType type) {
  if (type == ptx::ScalarType::kPred) {
    return RegisterClass::kPredicate;
  }
  const std::uint32_t size = ptx::size_of(type);
  return size == 16  ? RegisterClass::kQuadWord
         : size == 8 ? RegisterClass::kDoubleWord
                     : RegisterClass::kWord;
}

std::uint32_t register_bytes(RegisterClass register_class) {
  switch (register_class) {
    case RegisterClass::kPredicate:
      return 4;
    case RegisterClass::kWord:
      return 4 * kLanes;
    case RegisterClass::kDoubleWord:
      return 8 * kLanes;
    case RegisterClass::kQuadWord:
      return 16 * kLanes;
  }
  return 0;
}

void Symbols::declare(std::string_view name, const Symbol& symbol) {
  scopes_.back().names.insert_or_assign(name, symbol);
}

void Symbols::declare_range(std::string_view name, const Symbol& symbol, std::uint32_t count) {
  scopes_.back().ranges.insert_or_assign(
      name, Range{.first = symbol, .members = std::vector<Symbol>(count, symbol)});
}

Symbol* Symbols::find(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  std::uint32_t number = 0;
  const bool numbered =
      digits < name.size() &&
      std::from_chars(name.data() + digits, name.data() + name.size(), number).ec == std::errc{};
  for (Scope& scope : std::views::reverse(scopes_)) {
    if (const auto found = scope.names.find(name); found != scope.names.end()) {
      return &found->second;
    }
    if (!numbered) {
      continue;
    }
    const auto range = scope.ranges.find(name.substr(0, digits));
    if (range != scope.ranges.end() && number < range->second.members.size()) {
      return &range->second.members[number];
    }
  }
  return nullptr;
}

}  // namespace barracuda::emulator
