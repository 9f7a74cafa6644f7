// Where static variables lie in the shared memory of the emulated device. NVIDIA's compiler lays
// them out in the same order, but where the tool's word comes among them, and what a device puts in
// front, differ from one to the next.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace barracuda::ptx {

// What a kernel may have of static shared memory (CUDA C++ Programming Guide, table of compute
// capabilities).
inline constexpr std::uint64_t kStaticSharedBytes = std::uint64_t{48} * 1024;

struct SharedPlace {
  const Variable* variable = nullptr;
  std::uint64_t offset = 0;

  [[nodiscard]] std::uint64_t end() const { return offset + variable->size(); }
};

// Of what the entry's own code mentions, behind `reserved` bytes: the tool's word, if it is there
// already, then what the entry declares, then what the module does, in the order of declaration.
// Variables of functions that it calls come behind these.
std::vector<SharedPlace> shared_layout(const Module& module, const Function& entry,
                                       std::uint64_t reserved);

// Calls visit(statement, variable) for the variables of module scope, of any space.
template <typename Visit>
void for_each_of_module(const Module& module, const Visit& visit) {
  std::size_t depth = 0;
  for (const Statement& statement : module.statements) {
    depth += statement.kind == StatementKind::kBlockOpen ? 1 : 0;
    depth -= statement.kind == StatementKind::kBlockClose ? 1 : 0;
    if (depth == 0 && statement.kind == StatementKind::kVariable) {
      for (const Variable& variable : statement.variables) {
        visit(statement, variable);
      }
    }
  }
}

}  // namespace barracuda::ptx
