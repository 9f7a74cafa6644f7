// Damage to a file: bits, bytes, numbers that may be lengths, pieces cut out, doubled, or taken
// from another file. A pure function of the random numbers.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace barracuda::fuzz {

// A file of `corpus`, damaged in one to six places.
std::string mutate(const std::vector<std::string>& corpus, std::mt19937_64& random);

}  // namespace barracuda::fuzz
