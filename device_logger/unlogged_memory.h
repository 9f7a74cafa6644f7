// Memory of which a launch leaves accesses unlogged (docs/decisions/device-filter.md). Known before
// the launch: what it does not write, where plain reads are left out; and what its threads own,
// each byte at most one of them, where the plain accesses are left out of which that was shown. Who
// does something else there is logged as always, and it is told: what was left out before is
// missing then. And what is watched while it runs (word_owners.h). One source for the GPU and for
// the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_logger/address_pattern.h"
#include "device_logger/site_word.h"

namespace barracuda::wire {

struct UnloggedRange {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

inline constexpr std::uint32_t kMostUnloggedRanges = 16;

// In a launch descriptor. The device writes `written` alone.
struct UnloggedMemory {
  std::uint8_t count = 0;    // of the ranges; 0: everything is logged
  std::uint8_t owned = 0;    // how many of them, behind those that are not written, are owned
  std::uint8_t watched = 0;  // how many of them, the last ones, are watched
  std::uint8_t reserved = 0;
  std::uint32_t written = 0;  // not 0: some lane did to one of the ranges what should not be
  UnloggedRange ranges[kMostUnloggedRanges] = {};
};

static_assert(offsetof(UnloggedMemory, count) == 0 && offsetof(UnloggedMemory, owned) == 1 &&
              offsetof(UnloggedMemory, watched) == 2 && offsetof(UnloggedMemory, reserved) == 3 &&
              offsetof(UnloggedMemory, written) == 4 && offsetof(UnloggedMemory, ranges) == 8 &&
              sizeof(UnloggedMemory) == 8 + sizeof(UnloggedRange) * kMostUnloggedRanges &&
              sizeof(UnloggedRange) == 16);

// How many ranges there are of each kind: the first word of an UnloggedMemory.
struct UnloggedCounts {
  std::uint32_t count = 0, owned = 0, watched = 0;

  BARRACUDA_WIRE static UnloggedCounts of(std::uint32_t word) {
    return {.count = word & 0xFF, .owned = word >> 8 & 0xFF, .watched = word >> 16 & 0xFF};
  }
};

// Of ranges that are watched: their addresses and sizes are multiples, so that no access of up to
// so many bytes that is aligned lies in two, or in one in part.
inline constexpr std::uint32_t kWatchedAlignment = 16;

// Of ranges in which all plain accesses of some sites (ptx::Shortcut) are left out: how many a
// kernel has, and the most bytes of such an access. It is aligned, and ends in a range if it begins
// there: ranges end at multiples of so many bytes.
inline constexpr std::uint32_t kShortcuts = 12, kMostShortcutBytes = 32;

// The hidden last argument of an instrumented kernel, whose text compares with the ranges. Of a
// kernel without shortcuts it is the first word.
struct HiddenArgument {
  // Address of a LaunchDescriptor; 0: the launch runs unlogged. Of a guarded form (ptx::Kernel): of
  // a word, 0 at first, for the number of a site behind 1 whose access lies in none of its ranges.
  std::uint64_t descriptor = 0;
  UnloggedRange shortcuts[kShortcuts] = {};
};

static_assert(offsetof(HiddenArgument, descriptor) == 0 &&
                  offsetof(HiddenArgument, shortcuts) == 8 &&
                  sizeof(HiddenArgument) == 8 + kShortcuts * sizeof(UnloggedRange),
              "every byte of it has a meaning");

// Which sites were looked at for which of the ranges that are owned. In a launch descriptor.
inline constexpr std::uint32_t kMostOwnedSites = 1004;

struct OwnedSites {
  std::uint32_t first = 0;                     // of the kernel
  std::uint16_t ranges[kMostOwnedSites] = {};  // by site, from that one on: a bit for each range
};

static_assert(offsetof(OwnedSites, first) == 0 && offsetof(OwnedSites, ranges) == 4 &&
              sizeof(OwnedSites) == 4 + 2 * kMostOwnedSites && kMostUnloggedRanges <= 16);

// Whether a site's accesses to a range were looked at. `ranges_at(i)` gives one of the elements.
template <class RangesAt>
BARRACUDA_LOGGER bool is_owner(const RangesAt& ranges_at, std::uint32_t first, std::uint32_t site,
                               std::uint32_t range) {
  const std::uint32_t i = (site & (kMaxSites - 1)) - first;  // huge if it is before the first
  return i < kMostOwnedSites && (ranges_at(i) >> range & 1) != 0;
}

BARRACUDA_WIRE std::uint32_t size_log2_at(std::uint32_t site) {
  return site >> kSizeShift & ((1U << kSizeBits) - 1);
}

BARRACUDA_WIRE std::uint32_t bytes_at(std::uint32_t site) {
  return 1U << size_log2_at(site);
}

// Of a plain access. An atomic that keeps states has both bits, and writes.
BARRACUDA_WIRE bool is_plain_read(std::uint32_t site) {
  return (site & (kPlainRead | kPlainWrite)) == kPlainRead;
}

// What an access does that is looked at.
enum class AccessUse : std::uint8_t {
  kRead,
  kStrongRead,  // or of an asynchronous copy
  kWrite,
};

BARRACUDA_WIRE AccessUse access_use(std::uint32_t site) {
  return is_plain_read(site)         ? AccessUse::kRead
         : (site & kPlainWrite) != 0 ? AccessUse::kWrite
                                     : AccessUse::kStrongRead;
}

// What becomes of an access to these ranges.
enum class LogDecision : std::uint8_t {
  kLogged,
  kLeftOut,  // all its bytes lie there
  kWrites,   // logged, and told
  kWatched,  // as the states of its granules say
};

struct JudgedAccess {
  LogDecision decision = LogDecision::kLogged;
  std::uint64_t offset = 0;  // of what is watched, all ranges one behind the other
};

// `range_at(i)` gives one of `count`, `is_owner(i)` whether the access is of those that were looked
// at for a range that is owned. A range's own bytes are below 2^55, and so are addresses that are
// not tagged as of another space. Parts of what is read may have their sizes rounded up, so a read
// is of the range in which it begins: what is aligned and read as a whole ends there as well.
template <class RangeAt, class IsOwner>
BARRACUDA_LOGGER JudgedAccess judge_unlogged(const RangeAt& range_at, const IsOwner& is_owner,
                                             UnloggedCounts counts, std::uint32_t bytes,
                                             std::uint64_t address, AccessUse use) {
  const std::uint32_t first_watched = counts.count - counts.watched,
                      first_owned = first_watched - counts.owned;
  LogDecision decision = LogDecision::kLogged;
  std::uint64_t watched_before = 0;
  for (std::uint32_t i = 0; i < counts.count; ++i) {
    const UnloggedRange range = range_at(i);
    const std::uint64_t first = address - range.address;  // huge if it begins before the range
    const bool begins_inside = first < range.bytes;
    if (i >= first_watched) {
      if (begins_inside) {
        decision = LogDecision::kWatched;
        watched_before += first;
        break;
      }
      watched_before += range.bytes;
      continue;
    }
    const bool ends_inside = range.address - address < bytes;
    if (!begins_inside && (!ends_inside || use != AccessUse::kWrite)) {
      continue;
    }
    const bool is_inside = begins_inside && first + bytes <= range.bytes;
    if (i >= first_owned) {
      decision = !is_owner(i) ? LogDecision::kWrites
                 : is_inside  ? LogDecision::kLeftOut
                              : LogDecision::kLogged;
      break;
    }
    if (use == AccessUse::kWrite) {
      decision = LogDecision::kWrites;
      break;
    }
    if (is_inside && use == AccessUse::kRead) {
      decision = LogDecision::kLeftOut;
      break;
    }
  }
  return {.decision = decision, .offset = watched_before};
}

}  // namespace barracuda::wire
