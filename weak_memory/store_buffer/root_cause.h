// Why a program fails with weak memory: in which memory and kernel, by which stores, and behind
// which places a fence is missing (Bugaroo, section III-D, with the kind and the scope of each
// fence besides).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "weak_memory/experiment.h"
#include "weak_memory/place_set.h"
#include "weak_memory/trials.h"

namespace barracuda::weak_memory {

struct NeededFence {
  SourcePlace place;
  ptx::Fence fence;

  friend bool operator==(const NeededFence&, const NeededFence&) = default;
};

// Whether the program still fails with these fences.
using FailsWithPlaces = std::function<bool(const std::vector<SourcePlace>&)>;
using FailsWithFences = std::function<bool(const std::vector<NeededFence>&)>;

// Those with a load that a fence behind it makes an acquire: a strong one, or an atomic operation.
std::vector<SourcePlace> acquiring_places(const std::vector<SourcePlace>& all);

// A smallest part of `all` (the order of the text) with fences at which it does not fail: without
// any single one of them it does. With fences at all of them it does not fail.
std::vector<SourcePlace> needed_places(const std::vector<SourcePlace>& all,
                                       const FailsWithPlaces& fails);

// Whether the runs can tell a fence of a narrow scope from one of a wide scope. Delayed stores can;
// what is stale is not any more behind a fence of any scope, on the emulated device.
enum class ScopeShows : std::uint8_t { kYes, kNo };

// Each fence as weak and, where that shows, as narrow as it can be without a failure, one after the
// other.
std::vector<NeededFence> narrowed(std::vector<NeededFence> fences, ScopeShows scope_shows,
                                  const FailsWithFences& fails);

struct RootCause {
  enum class Fences : std::uint8_t {
    kFound,
    kNotCured,     // it fails with a fence behind every access: something else is wrong
    kNoPlaces,     // none are known
    kNotLookedFor  // the time was over, or nobody asked
  };

  bool global = true, shared = true;  // both: neither alone makes it fail
  std::string kernel;                 // mangled; empty: no single one makes it fail
  // The run that fails with the fewest decisions: what a plan repeats.
  Settings reduced;
  bool is_reduced = false;                  // it does fail so; else `reduced` draws its decisions
  std::vector<emulator::WeakEvent> events;  // of that run
  Fences search = Fences::kNotLookedFor;
  std::vector<NeededFence> fences;
  std::size_t candidates = 0;  // places, of which the fences are
  std::size_t seeds = 0;       // runs behind each answer
};

// Whether runs tell what was made weak, and are the same each time; not on a GPU.
enum class HasLog : std::uint8_t { kYes, kNo };

// Of a failing run. `seeds`: that of the run, and the others to ask each question with. Several
// causes are several bugs, each of which makes it fail alone. The log of each reduced run is asked
// for; without logs there is no reduced run, and the kernels are those that have places for fences.
std::vector<RootCause> find_root_causes(Trials& trials, const Settings& failing,
                                        std::vector<std::uint64_t> seeds,
                                        HasLog has_log = HasLog::kYes);

}  // namespace barracuda::weak_memory
