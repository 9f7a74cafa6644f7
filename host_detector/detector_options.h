// How a Detector judges.
#pragma once

#include <cstdint>

namespace barracuda::detector {

// What orders accesses: the PTX memory model, or the rules of BARRACUDA (PLDI 2017).
enum class Model : std::uint8_t { kPtx, kPaper };

struct DetectorOptions {
  bool report_same_value = false;     // lanes of one instruction storing the same value: a warning
  bool acquire_relaxed_spin = false;  // acquire=relaxed-spin
  Model model = Model::kPtx;
  // For tests, and for model=ptx: no access gives way to a later one, none is left out of a busy
  // word, and nothing that was done or released is dropped at a barrier or with a launch. It needs
  // memory and time without bound; what it finds, forgetting may not change (RACE_RULES section 3).
  bool keeps_everything = false;
};

}  // namespace barracuda::detector
