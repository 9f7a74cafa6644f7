// The loads, stores and atomics of ptx_forms.tsv: which space and elements a form has, and what an
// atomic leaves behind.
#pragma once

#include <optional>

#include "tests/unit/emulator/forms.h"
#include "tests/unit/emulator/used_form.h"

namespace barracuda::emulator::test {

enum class Space { kGeneric, kGlobal, kShared, kLocal, kConstant, kParameter };

struct MemoryCase {
  std::string text;
  std::string operation;  // ld, st, or that of an atom or red
  Space space = Space::kGeneric;
  Scalar element;  // kind h: f16, b: bf16 where the operation is a sum of 16 bits
  std::uint32_t count = 1;
  bool is_atomic = false, returns = false, is_packed = false;

  [[nodiscard]] std::size_t bytes() const { return count * element.bytes(); }
};

// Nothing for what is no load, store or atomic, and for elements of 128 bits.
std::optional<MemoryCase> memory_case(const UsedForm& form);

// What an atomic writes over `old`; `c` is what cas writes.
u64 atomic_result(const MemoryCase& atomic, u64 old, u64 b, u64 c);

}  // namespace barracuda::emulator::test
