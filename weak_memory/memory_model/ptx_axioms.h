// The PTX memory model as axioms, version 6.0: Lustig, Sahasrabuddhe, Giroux, "A Formal Analysis of
// the NVIDIA PTX Memory Consistency Model" (ASPLOS 2019); and 7.5, with proxies: the memory
// consistency chapter of the PTX ISA. Coherence is a partial order here: two writes that neither
// causality nor moral strength orders stay unordered, and an execution that is allowed with more
// order is allowed without.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "weak_memory/memory_model/execution.h"
#include "weak_memory/memory_model/program.h"
#include "weak_memory/memory_model/relation.h"
#include "weak_memory/memory_model/search_end.h"

namespace barracuda::memory_model {

enum class Axiom : std::uint8_t {
  kCoherence,
  kFenceSc,
  kAtomicity,
  kNoThinAir,
  kScPerLocation,
  kCausality
};
inline constexpr std::size_t kAxioms = 6;
std::string_view name_of(Axiom axiom);

// One that no axiom forbids.
struct Consistent {
  std::vector<std::size_t> source;  // by event, of a read: the write that it reads from
  Relation rf, coherence, fence_sc, sync, cause;
};

// How many partial executions each axiom has ended.
using Killed = std::array<std::uint64_t, kAxioms>;

// Asked of each choice of where the reads read from that has no value out of thin air: whether its
// executions matter. It may give the events the values that follow.
using Resolve = std::function<bool(const std::vector<std::size_t>& source)>;

// All consistent executions of these events: initial writes first, then thread by thread. Without
// `resolve` the reads read the values they have, and `keep` returns whether to go on; with it
// values are not looked at, and `keep` returns whether to go on with this choice. At `end` the
// search ends.
void for_each_consistent(const Program& program, const std::vector<Event>& events,
                         PtxVersion version, Killed& killed, const SearchEnd& end,
                         const Resolve& resolve,
                         const std::function<bool(const Consistent&)>& keep);

}  // namespace barracuda::memory_model
