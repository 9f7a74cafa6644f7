// A copy or a memset that the host asked for: accesses by the host's own hand, to rows of bytes, in
// the order of a stream (RACE_RULES section 1, Launches). It has a place among the launches. So has
// an allocation or a free in the order of a stream, which is a write of all its bytes.
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

static_assert(is_copy(copy_id(0)) && !is_copy(LaunchId{kFirstCopyId - 1}));
static_assert(
    kFirstCopyId <= ~std::uint32_t{0} / 4 + 1,
    "the topmost bit is no launch's and no copy's: CTAs have another use for it (CtaKey)");

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

static_assert(kFirstCallSite > wire::kMaxSites, "no instruction's site is a call");
static_assert(call_of(call_site(7)) == 7 && is_call_site(call_site(0)));

enum class HostOperation : std::uint8_t {
  kCopy,
  kMemset,
  kConstants,  // a kernel, launched just after it, that may read these constants: not a record each
  kAllocation,
  kFree
};

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
  HostOperation operation = HostOperation::kCopy;
  std::uint32_t call = 0;
  // As for launches; its own id among them says that it continues copies that have begun.
  std::vector<LaunchId> ordered_after;
  // What the host has waited for: everything that is begun from now on comes after these.
  std::vector<LaunchId> host_waited;
  std::vector<MemoryRows> accesses;  // of an allocation or a free, its one range
  // Of an allocation: the frees of its bytes, which the allocator knows to be over. They are
  // applied before it; of other memory they order nothing.
  std::vector<LaunchId> freed_by;
};

}  // namespace barracuda::detector
