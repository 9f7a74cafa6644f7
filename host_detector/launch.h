// Identities of launches and threads as the detector sees them, and the order between launches.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_logger/record.h"

namespace barracuda::detector {

// Counts launches of a session from 1; never reused. Records carry the low 16 bits.
enum class LaunchId : std::uint32_t {};

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;

  [[nodiscard]] std::uint64_t volume() const { return std::uint64_t{x} * y * z; }

  friend bool operator==(const Dim3&, const Dim3&) = default;
};

struct LaunchInfo {
  LaunchId id{};
  Dim3 grid, block, cluster;  // cluster: CTAs of a cluster, 1×1×1 without
  // Launches that are over before this one starts (stream order, events, synchronisation), given as
  // their transitive closure's newest members: everything they are ordered after is too.
  std::vector<LaunchId> ordered_after;
  // Not 0: one of `ordered_after` that may still run, once it has let its dependents begin
  // (griddepcontrol.launch_dependents). Threads know that it is over from griddepcontrol.wait on.
  LaunchId prerequisite{};
  // With a prerequisite: an id that no launch or copy has, for the prerequisite's end.
  LaunchId prerequisite_over{};
};

// A launch that still runs long after the launches before it were over.
struct LateLaunch {
  LaunchId id{};
  std::uint64_t records = 0;                // that came from it
  std::chrono::milliseconds since_last{0};  // of these; since it could begin if there are none
  std::size_t waiting_bytes = 0;            // of records, of any launch, that are not applied yet
};

// One thread of one launch.
struct ThreadRef {
  LaunchId launch{};
  std::uint32_t cta = 0;  // linear index in the grid
  std::uint8_t warp = 0;  // in the CTA
  std::uint8_t lane = 0;
  friend bool operator==(const ThreadRef&, const ThreadRef&) = default;
};

}  // namespace barracuda::detector
