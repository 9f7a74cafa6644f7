// How many elements an array of several dimensions has in each: PTX says only how many bytes there
// are, and the program's source says the rest.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace barracuda::report {

// Of the last declaration of the name as shared memory or a variable of the device in the lines of
// a file ("__shared__ float tile[kRows][kRows + 1];"). Names in it have the values that the lines
// give them (#define, const); one that has none there (a template's parameter) has the value with
// which the array has as many elements as it does. Nothing if there is no such declaration, or it
// makes another number of `elements`.
std::vector<std::uint64_t> array_shape(std::span<const std::string> lines, std::string_view name,
                                       std::uint64_t elements);

}  // namespace barracuda::report
