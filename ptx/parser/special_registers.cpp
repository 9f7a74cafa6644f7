#include "ptx/parser/special_registers.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace barracuda::ptx {

namespace {

constexpr auto kNames = [] {
  auto names = std::to_array<std::string_view>({
#define REGISTER(id, text) text,
#include "ptx/special_registers.def"
  });
  std::ranges::sort(names);
  return names;
}();

// "%envreg" of "%envreg12": true if `name` is `prefix` and a number below `count`.
bool is_numbered(std::string_view name, std::string_view prefix, std::uint32_t count) {
  if (!name.starts_with(prefix)) {
    return false;
  }
  const std::string_view digits = name.substr(prefix.size());
  if (digits.empty() || digits.size() > 2 || (digits.size() == 2 && digits[0] == '0')) {
    return false;
  }
  std::uint32_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') {
      return false;
    }
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return number < count;
}

bool is_performance_counter(std::string_view name) {
  if (name.ends_with("_64")) {
    name.remove_suffix(3);
  }
  return is_numbered(name, "%pm", 8);
}

}  // namespace

bool is_special_register(std::string_view name) {
  // %r1, %f2, %p3, %rd4, %rs5: nearly every register there is.
  if (name.size() < 4 || (name[2] >= '0' && name[2] <= '9') ||
      ((name[2] == 'd' || name[2] == 's') && (name[1] == 'r' || name[1] == 'f'))) {
    return false;
  }
  return std::ranges::binary_search(kNames, name) || is_numbered(name, "%envreg", 32) ||
         is_numbered(name, "%reserved_smem_offset_", 2) || is_performance_counter(name);
}

}  // namespace barracuda::ptx
