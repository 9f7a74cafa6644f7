// Where an address is in the memory that the program has allocated, in words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/run_data.h"

namespace barracuda::report {

// "byte 16 of 256 bytes at 0x7f0000 (cudaMalloc)"; empty: it is in no allocation. Of several that
// have been there the newest: an older one has been freed.
std::string allocation_at(const std::vector<AllocationRecord>& allocations, std::uint64_t address);

// "__device__ variable data": how the record of a module's variable is described.
std::string describe_variable(std::string_view kind, std::string_view name);
// The name in such a description; empty: it is another one.
std::string_view variable_in(std::string_view description);
// The variable of a module that the address is in; null: it is in none.
const AllocationRecord* variable_at(const std::vector<AllocationRecord>& allocations,
                                    std::uint64_t address);

// "4 bytes behind the end of the 256 bytes at 0x7f0000 (cudaMalloc)": of an address that is in
// none, how far it is from the nearest that is not freed. `bytes`: of the access.
std::string beside_allocation(const std::vector<AllocationRecord>& allocations,
                              std::uint64_t address, std::uint64_t bytes);

}  // namespace barracuda::report
