// A copy or a memset that the host asked for: accesses by the host's own hand, to rows of bytes, in
// the order of a stream (RACE_RULES section 1, Launches). It has a place among the launches.
#pragma once

#include <cstdint>
#include <vector>

#include "host_detector/launch.h"

namespace barracuda::detector {

// Copies have numbers of their own, which no launch has. Copies that nothing comes between may
// share one.
inline constexpr std::uint32_t kFirstCopyId = std::uint32_t{1} << 30;

constexpr LaunchId copy_id(std::uint32_t number) {
  return LaunchId{kFirstCopyId + number};
}

constexpr bool is_copy(LaunchId id) {
  return static_cast<std::uint32_t>(id) >= kFirstCopyId;
}

// Which call of the program, in place of the site of an instruction: the same for repeats of it.
inline constexpr std::uint32_t kFirstCallSite = std::uint32_t{1} << 31;

constexpr wire::SiteId call_site(std::uint32_t call) {
  return wire::SiteId{kFirstCallSite + call};
}

constexpr bool is_call_site(wire::SiteId site) {
  return static_cast<std::uint32_t>(site) >= kFirstCallSite;
}

constexpr std::uint32_t call_of(wire::SiteId site) {
  return static_cast<std::uint32_t>(site) - kFirstCallSite;
}

struct MemoryRows {
  std::uint64_t address = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t pitch = 0;  // from row to row
  std::uint64_t rows = 1;
  bool is_written = false;

  friend bool operator==(const MemoryRows&, const MemoryRows&) = default;
};

struct CopyInfo {
  LaunchId id{};
  std::uint32_t call = 0;
  // As for launches; its own id among them says that it continues copies that have begun.
  std::vector<LaunchId> ordered_after;
  // What the host has waited for: everything that is begun from now on comes after these.
  std::vector<LaunchId> host_waited;
  std::vector<MemoryRows> accesses;
};

}  // namespace barracuda::detector
