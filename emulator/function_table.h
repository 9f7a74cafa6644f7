// The functions of one of CUDA's libraries by their exported names. Each name has an address of its
// own; one that is not implemented refuses, and is counted by its name.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace barracuda::emulator {

// Refuse: what a call answers that is not implemented; its arguments are left where the caller has
// put them. Key: one for each exported name.
template <auto Refuse, int... Key>
struct Unsupported {
  static auto call() {
    ++calls;
    return Refuse();
  }

  static constinit inline std::atomic<std::uint64_t> calls{0};
};

struct ExportedFunction {
  std::string_view name;
  void* address;
  const std::atomic<std::uint64_t>* refusals;  // null if it is implemented
};

class FunctionTable {
 public:
  template <typename Function>
  void implement(std::string_view name, Function* function) {
    functions_.emplace_back(name, reinterpret_cast<void*>(function), nullptr);
  }

  template <typename Function>
  void refuse(std::string_view name) {
    functions_.emplace_back(name, reinterpret_cast<void*>(&Function::call), &Function::calls);
  }

  // Once all are there.
  void sort() { std::ranges::sort(functions_, {}, &ExportedFunction::name); }

  // Null for a name that the library does not export.
  [[nodiscard]] void* find(std::string_view name) const {
    const auto found = std::ranges::lower_bound(functions_, name, {}, &ExportedFunction::name);
    return found != functions_.end() && found->name == name ? found->address : nullptr;
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> refused_calls() const {
    std::vector<std::pair<std::string, std::uint64_t>> calls;
    for (const ExportedFunction& function : functions_) {
      if (const std::uint64_t count = function.refusals == nullptr ? 0 : function.refusals->load();
          count != 0) {
        calls.emplace_back(function.name, count);
      }
    }
    return calls;
  }

 private:
  std::vector<ExportedFunction> functions_;
};

}  // namespace barracuda::emulator
