// All ways of one thread of a kernel as a tree of instructions: behind each read one branch for
// each value that it may return.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "base/expected.h"
#include "ptx/literal_kernel.h"
#include "weak_memory/memory_model/program.h"
#include "weak_memory/memory_model/search_end.h"

namespace barracuda::memory_model {

// What a kernel accesses as one: an element of memory. Shared memory is its CTA's.
struct Place {
  bool is_shared = false;
  std::uint32_t cta = 0;  // of shared memory
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;

  friend auto operator<=>(const Place&, const Place&) = default;
};

// What the threads of a kernel, as far as they were run, do to a place.
struct PlaceUse {
  std::set<std::uint64_t> values;  // at the beginning, and written
  std::set<std::uint32_t> threads;
  bool is_written = false;
  bool has_flag_store = false, has_poll = false;
  // Before which phase (barriers of the block that a thread has passed) there may be writes of it
  // that are not morally strong with all others; 0: there are none.
  std::uint32_t apart_before = 0;
  std::uint32_t line = 0;  // of an access

  // A flag by plain accesses with fences, which the detector takes for synchronisation.
  [[nodiscard]] bool is_flag() const { return has_flag_store && has_poll; }
};

using PlaceUses = std::map<Place, PlaceUse>;

// How a location's value is kept in a litmus program, which computes with signed numbers.
std::uint64_t kept_value(std::uint64_t bits, const Place& place);

// Of all threads of a kernel.
struct KernelUses {
  const SearchEnd* end = nullptr;
  PlaceUses known;  // by earlier rounds: reads return these values
  PlaceUses found;  // by this round
  // Places that are asked for; what is done to others is seen only where two threads touch them.
  std::function<bool(const Place&)> is_named;
  std::uint64_t steps = 0;                   // that threads were run for, in all rounds
  bool is_stopped = false;                   // `end` has come: the rest was not looked at
  std::set<std::uint32_t> promoted;          // lines whose plain accesses are taken as relaxed
  std::map<Place, std::uint32_t> locations;  // of this round, in the order in which they were met
  // Barriers of one kind and number, and the lanes of a warp's, by their key.
  std::map<std::tuple<std::uint32_t, std::uint64_t, bool>, std::uint32_t> barriers;

  // Whether others may see what a thread does there.
  [[nodiscard]] bool is_seen(const Place& place) const {
    const auto found_place = known.find(place);
    return is_named(place) ||
           (found_place != known.end() && found_place->second.threads.size() > 1);
  }
};

struct ThreadTree {
  std::vector<Instruction> instructions;  // in the order of the tree
  std::uint32_t registers = 0;
  std::uint64_t most_writes = 0;  // of a way
  bool is_cut = false;            // a loop was taken too often to go on
  bool has_accesses = false;
  bool has_spin = false;  // it may go round for ever
  // How often each barrier (its instance without its turn) is passed, in each way that ends.
  std::set<std::map<std::uint32_t, std::uint32_t>> barriers;
};

// A barrier's instance is its number in `barriers` times this, and its turn.
inline constexpr std::uint32_t kMostBarrierTurns = 1024;

// `number`: of the thread in the launch; `cta`: of its block. Errors: what cannot be explored,
// and KernelUses::is_stopped.
Expected<ThreadTree> tree_of(const ptx::LiteralKernel& kernel, const ptx::LiteralThread& thread,
                             std::uint32_t number, std::uint32_t cta, std::uint32_t unroll,
                             KernelUses& uses);

}  // namespace barracuda::memory_model
