#include "ptx/parser/scope.h"

#include "base/assert.h"

namespace barracuda::ptx {

void Scopes::open() {
  starts_.push_back(declarations_.size());
}

void Scopes::close() {
  ASSERT(!starts_.empty());
  const std::size_t start = starts_.back();
  starts_.pop_back();
  while (declarations_.size() > start) {
    const Declaration& last = declarations_.back();
    if (last.shadowed != 0) {
      latest_[last.name] = last.shadowed;
    } else {
      latest_.erase(last.name);
    }
    if (last.element_bytes != 0 && last.name.starts_with('%')) {
      ASSERT(variables_with_percent_ != 0);
      --variables_with_percent_;
    }
    declarations_.pop_back();
  }
  ASSERT(declarations_.size() == start);
}

void Scopes::declare(Declaration declaration) {
  std::uint32_t& latest = latest_[declaration.name];
  declaration.shadowed = latest;
  declarations_.push_back(declaration);
  latest = static_cast<std::uint32_t>(declarations_.size());
}

void Scopes::declare_register(std::string_view name, std::uint32_t range) {
  // A name with % is a register whether declared or not, unless a variable took it.
  if (!name.starts_with('%') || variables_with_percent_ != 0) {
    declare({.name = name, .range = range});
  }
}

void Scopes::declare_variable(std::string_view name, std::uint32_t element_bytes) {
  if (name.starts_with('%')) {
    ++variables_with_percent_;
  }
  declare({.name = name, .element_bytes = element_bytes == 0 ? 1 : element_bytes});
}

const Scopes::Declaration* Scopes::find(std::string_view name) const {
  const auto found = latest_.find(name);
  return found == latest_.end() ? nullptr : &declarations_[found->second - 1];
}

bool Scopes::is_in_range(std::string_view name) const {
  // a12 may be number 12 of "a" or number 2 of "a1".
  std::uint64_t number = 0, unit = 1;
  for (std::size_t length = name.size() - 1; length > 0; --length) {
    const char digit = name[length];
    if (digit < '0' || digit > '9' || unit > 1'000'000'000) {
      return false;
    }
    number += unit * static_cast<std::uint64_t>(digit - '0');
    unit *= 10;
    const bool leading_zero = digit == '0' && length + 1 < name.size();
    const Declaration* prefix = leading_zero ? nullptr : find(name.substr(0, length));
    if (prefix != nullptr && prefix->element_bytes == 0 && number < prefix->range) {
      return true;
    }
  }
  return false;
}

bool Scopes::is_register(std::string_view name) const {
  if (name.starts_with('%')) {
    if (variables_with_percent_ != 0) {
      const Declaration* declaration = find(name);
      return declaration == nullptr || declaration->element_bytes == 0;
    }
    return true;
  }
  if (latest_.empty()) {
    return false;
  }
  const Declaration* declaration = find(name);
  if (declaration != nullptr && (declaration->element_bytes != 0 || declaration->range == 0)) {
    return declaration->element_bytes == 0;
  }
  return is_in_range(name);
}

std::uint32_t Scopes::element_bytes(std::string_view name) const {
  const Declaration* declaration = find(name);
  return declaration == nullptr || declaration->element_bytes == 0 ? 1 : declaration->element_bytes;
}

}  // namespace barracuda::ptx
