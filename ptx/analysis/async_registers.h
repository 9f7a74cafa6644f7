// Registers of wgmma.mma_async, which reads A and writes its sums after it was issued (PTX ISA,
// "Asynchronous wgmma instructions"): who touches one before wgmma.wait_group has waited for its
// group, and what is written without a wgmma.fence before the product that uses it.
//
// A register is one by its name. A move from register to register renames: the compiler's choice of
// registers makes many, and what is moved is what it was; a write to the copy touches nothing. What
// is computed, and a constant, may stand behind the fence that it comes before in the source; so it
// counts as written only where no fence has come since the last wait. Misses: what is computed
// behind a fence, what is moved and never used again, registers handed to functions, waits and
// fences with a predicate (they count as if it held), functions whose states do not settle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ptx/analysis/program.h"

namespace barracuda::ptx {

struct FoundHazard {
  RegisterHazard::Kind kind = RegisterHazard::Kind::kReadInFlight;
  std::size_t product = 0, touch = 0;  // statements
  std::string_view register_name;
};

// Of a function, in the order of the touches: the first of each kind for each product.
std::vector<FoundHazard> find_register_hazards(Program& program, std::uint32_t function);

}  // namespace barracuda::ptx
