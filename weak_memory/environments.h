// What is done to a program on a GPU, in turn, until it fails: its stores are delayed or its memory
// is stressed, with its blocks where it puts them and elsewhere (Sorensen, Donaldson: the eight
// environments {no, sys, rand, cache} × {+, −}).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weak_memory/experiment.h"

namespace barracuda::weak_memory {

struct Environment {
  std::string name;  // "delayed stores, p = 1", "random stress, shuffled blocks"
  Weakness weakness;
};

enum class WithStress : std::uint8_t { kNo, kYes };

// Each with and without shuffled blocks, but for the one in which nothing is done: that is what
// reference runs are.
std::vector<Environment> environments(const std::vector<double>& probabilities,
                                      WithStress stress = WithStress::kYes);

}  // namespace barracuda::weak_memory
