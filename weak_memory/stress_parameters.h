// The stress that shows most weak behaviour on one GPU with one driver: where it is kept, and how
// it is found (`barracuda tune`; Sorensen, Donaldson: Exposing Errors, chapter 3).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "session/stress_parameters.h"
#include "weak_memory/litmus_run.h"

namespace barracuda::weak_memory {

using session::name_of;
using session::parse_stress_parameters;
using session::sequence_text;
using session::stress_kind;
using session::StressParameters;
using session::to_string;

// Where those of a device are kept: below $XDG_CACHE_HOME/barracuda or ~/.cache/barracuda. Empty:
// there is no such folder.
std::string stress_file(const LitmusDevice& device);

// How often a test showed what its condition asks for, under one stress.
struct StressPoint {
  std::uint32_t distance = 0;
  stress::StressShape stress;
  std::array<std::uint64_t, 3> weak{};  // of message passing, load buffering, store buffering
  std::uint64_t runs = 0;               // of each

  [[nodiscard]] std::uint64_t sum() const { return weak[0] + weak[1] + weak[2]; }
};

// Of the points that no other beats or equals in all three tests and beats in one, the one with the
// greatest sum. Not of an empty list.
const StressPoint& best_point(const std::vector<StressPoint>& points);

struct Tuning {
  StressParameters best;
  // In their order: distances, kinds and threads, sequences, spreads.
  std::vector<StressPoint> distances, kinds, sequences, spreads;
  bool shows_weak_behaviour = false;  // message passing or load buffering, anywhere
  bool is_incomplete = false;
};

struct TuneOptions {
  std::uint32_t launches = 20;         // of 1000 iterations, for each test and point
  std::uint32_t longest_sequence = 3;  // accesses; the paper has 5
  std::uint64_t seed = 1;
};

using TellTuning = std::function<void(const std::string& what)>;

// Errors: the device's.
Expected<Tuning> tune(LitmusDevice& device, const TuneOptions& options,
                      const std::function<bool()>& is_over, const TellTuning& tell);

}  // namespace barracuda::weak_memory
