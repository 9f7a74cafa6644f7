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
};

}  // namespace barracuda::detector
