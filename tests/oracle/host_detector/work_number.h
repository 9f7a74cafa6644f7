// Launches and copies as the references count them, in one row of numbers.
#pragma once

#include <cstdint>

#include "base/strong_id.h"
#include "host_detector/launch.h"

namespace barracuda::oracle {

inline std::uint32_t number_of(detector::WorkId work) {
  return index_of(work.packed());
}

inline detector::WorkId work_of(std::uint32_t number) {
  return detector::WorkId::of(detector::WorkId::Packed{number});
}

}  // namespace barracuda::oracle
