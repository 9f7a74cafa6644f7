// Barriers of models with states: who has reached which, and which let their threads pass.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "weak_memory/memory_model/program.h"
#include "weak_memory/memory_model/transition.h"

namespace barracuda::memory_model {

// By thread and instruction, with the number that the barrier had.
using ReachedBarriers = std::map<std::pair<std::size_t, std::size_t>, std::uint64_t>;

// Whether the barrier lets `thread`, which has reached it, pass. `quorum`: the value of the
// instruction's, if it has one.
bool is_open(const Program& program, const ReachedBarriers& reached, std::size_t thread,
             std::uint32_t instruction, std::uint64_t quorum);

// Those of a thread.
void encode_reached(const ReachedBarriers& reached, std::size_t thread, StateBytes& bytes);

// A barrier that is reached more than once has no place in ReachedBarriers.
bool is_in_loop(const Thread& thread, std::size_t instruction);

}  // namespace barracuda::memory_model
