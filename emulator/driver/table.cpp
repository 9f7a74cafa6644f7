#include <algorithm>
#include <array>
#include <atomic>

#include "emulator/driver/calls.h"
#include "emulator/driver_face.h"

namespace barracuda::emulator::driver {
namespace {

#define NAME(x) std::string_view(#x),
constexpr std::array kNames = {
#include "emulator/driver_names.def"
};
#undef NAME
static_assert(std::ranges::is_sorted(kNames), "names are searched by halves");

constexpr std::size_t index_of_name(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::lower_bound(kNames, name) - kNames.begin());
}

std::array<std::atomic<std::uint64_t>, kNames.size()> g_unsupported{};

// One function for each name, so that each call is counted by its name. Arguments are left where
// the caller has put them.
template <std::size_t Index>
CUresult unsupported() {
  ++g_unsupported[Index];
  return CUDA_ERROR_NOT_SUPPORTED;
}

// A second address for a function, so that who compares addresses can tell the forms apart.
template <auto Function, std::size_t Index>
struct Alias;

template <typename... Arguments, CUresult (*Function)(Arguments...), std::size_t Index>
struct Alias<Function, Index> {
  static CUresult call(Arguments... arguments) { return Function(arguments...); }
};

using Table = std::array<void*, kNames.size()>;

template <std::size_t... Index>
void fill_unsupported(Table& table, std::index_sequence<Index...> /*all*/) {
  ((table[Index] = reinterpret_cast<void*>(&unsupported<Index>)), ...);
}

Table make_table() {
  Table table{};
  fill_unsupported(table, std::make_index_sequence<kNames.size()>());
#define FUNCTION(name) table[index_of_name(#name)] = reinterpret_cast<void*>(&driver::name);
#define ALIAS(name, form)                                                         \
  {                                                                               \
    static_assert(std::is_same_v<decltype(::name), decltype(::name##form)>);      \
    constexpr std::size_t kIndex = index_of_name(#name #form);                    \
    table[kIndex] = reinterpret_cast<void*>(&Alias<&driver::name, kIndex>::call); \
  }
#define FUNCTION_PTSZ(name) FUNCTION(name) ALIAS(name, _ptsz)
#define FUNCTION_PTDS(name) FUNCTION(name) ALIAS(name, _ptds)
#include "emulator/driver/functions.def"
#undef ALIAS
  return table;
}

// Every row of functions.def names an export.
#define FUNCTION(name) static_assert(kNames.at(index_of_name(#name)) == #name);
#define FUNCTION_PTSZ(name) FUNCTION(name) FUNCTION(name##_ptsz)
#define FUNCTION_PTDS(name) FUNCTION(name) FUNCTION(name##_ptds)
#include "emulator/driver/functions.def"

}  // namespace

void* find_function(std::string_view exported_name) {
  static const auto* const table = new Table(make_table());
  const std::size_t index = index_of_name(exported_name);
  return index < kNames.size() && kNames[index] == exported_name ? (*table)[index] : nullptr;
}

std::vector<std::pair<std::string, std::uint64_t>> unsupported_calls() {
  std::vector<std::pair<std::string, std::uint64_t>> calls;
  for (std::size_t index = 0; index < kNames.size(); ++index) {
    if (const std::uint64_t count = g_unsupported[index]; count != 0) {
      calls.emplace_back(kNames[index], count);
    }
  }
  return calls;
}

}  // namespace barracuda::emulator::driver
