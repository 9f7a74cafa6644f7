// The functions of one of CUDA's libraries by their exported names. Each name has an address of its
// own; one that is not implemented refuses, and is counted by its name.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace barracuda::emulator {

// Names: all that the library exports, sorted. Refuse: what a call answers that is not implemented;
// its arguments are left where the caller has put them.
template <const auto& Names, auto Refuse>
class FunctionTable {
 public:
  FunctionTable() { fill(std::make_index_sequence<Names.size()>()); }

  // Does not compile for a name that is no export.
  static consteval std::size_t index_of(std::string_view name) {
    const std::size_t index = find_index(name);
    return index < Names.size() ? index : throw "the library exports no such function";
  }

  static consteval bool exports(std::string_view name) { return find_index(name) < Names.size(); }

  template <typename Function>
  void implement(std::size_t index, Function* function) {
    functions_.at(index) = reinterpret_cast<void*>(function);
  }

  // Null for a name that the library does not export.
  [[nodiscard]] void* find(std::string_view name) const {
    const std::size_t index = find_index(name);
    return index < Names.size() ? functions_[index] : nullptr;
  }

  static std::vector<std::pair<std::string, std::uint64_t>> refused_calls() {
    std::vector<std::pair<std::string, std::uint64_t>> calls;
    for (std::size_t index = 0; index < Names.size(); ++index) {
      if (const std::uint64_t count = refused_[index]; count != 0) {
        calls.emplace_back(Names[index], count);
      }
    }
    return calls;
  }

 private:
  static_assert(std::ranges::is_sorted(Names), "names are searched by halves");

  static constexpr std::size_t find_index(std::string_view name) {
    const auto found = std::ranges::lower_bound(Names, name);
    return found != Names.end() && *found == name ? static_cast<std::size_t>(found - Names.begin())
                                                  : Names.size();
  }

  template <std::size_t Index>
  static auto refuse() {
    ++refused_[Index];
    return Refuse();
  }

  template <std::size_t... Index>
  void fill(std::index_sequence<Index...> /*all*/) {
    (implement(Index, &refuse<Index>), ...);
  }

  static constinit inline std::array<std::atomic<std::uint64_t>, Names.size()> refused_{};
  std::array<void*, Names.size()> functions_{};
};

}  // namespace barracuda::emulator
