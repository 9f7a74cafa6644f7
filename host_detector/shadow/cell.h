// What shadow memory keeps of an access: who, when, by which site, and which bytes of a 128-byte
// block. A coalesced access of a whole warp is one cell: the lane follows from the byte.
#pragma once

#include <bit>
#include <cstdint>

#include "device_logger/site_info.h"
#include "host_detector/clock/cta_clock.h"
#include "host_detector/lanes.h"

namespace barracuda::detector {

inline constexpr std::uint32_t kBlockBytes = 128;
inline constexpr int kBlockShift = 7;
static_assert(kBlockBytes == 1U << kBlockShift);

// A set of bytes of one block.
struct Bytes {
  std::uint64_t low = 0, high = 0;

  static constexpr Bytes range(std::uint32_t first, std::uint32_t count) {
    return upto(first + count) & ~upto(first);
  }

  static constexpr Bytes upto(std::uint32_t count) {
    return {.low = count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1,
            .high = count >= 128 ? ~std::uint64_t{0}
                    : count > 64 ? (std::uint64_t{1} << (count - 64)) - 1
                                 : 0};
  }

  [[nodiscard]] constexpr bool none() const { return (low | high) == 0; }

  [[nodiscard]] constexpr bool has(std::uint32_t byte) const {
    return (((byte < 64 ? low : high) >> (byte & 63)) & 1) != 0;
  }

  [[nodiscard]] constexpr std::uint32_t first() const {
    return static_cast<std::uint32_t>(low != 0 ? std::countr_zero(low)
                                               : 64 + std::countr_zero(high));
  }

  [[nodiscard]] constexpr Bytes after_first() const {
    return low != 0 ? Bytes{.low = low & (low - 1), .high = high}
                    : Bytes{.low = 0, .high = high & (high - 1)};
  }

  [[nodiscard]] constexpr bool within(const Bytes& other) const {
    return (low & ~other.low) == 0 && (high & ~other.high) == 0;
  }

  friend constexpr Bytes operator&(Bytes a, Bytes b) {
    return {.low = a.low & b.low, .high = a.high & b.high};
  }

  friend constexpr Bytes operator|(Bytes a, Bytes b) {
    return {.low = a.low | b.low, .high = a.high | b.high};
  }

  friend constexpr Bytes operator~(Bytes a) { return {.low = ~a.low, .high = ~a.high}; }

  friend constexpr bool operator==(const Bytes&, const Bytes&) = default;
};

static_assert(sizeof(Bytes) * 8 == kBlockBytes, "a bit for each byte");

// Whose time an asynchronous access is stamped with: a lane of a slot (completions.h), of
// the CTA that the access's launch numbers so; each lane's own where `lane` says so.
struct PackedCompletion {
  static constexpr std::uint32_t kOwnLane = wire::kWarpLanes;

  std::uint32_t cta = 0;
  WarpSlot slot{};
  std::uint32_t lane = kOwnLane;

  [[nodiscard]] constexpr std::uint64_t packed() const {
    return (std::uint64_t{cta} << 32) | (std::uint64_t{index_of(slot)} << 8) | lane;
  }

  static constexpr PackedCompletion of(std::uint64_t packed) {
    return {.cta = static_cast<std::uint32_t>(packed >> 32),
            .slot = WarpSlot{static_cast<std::uint32_t>(packed >> 8) & 0xFFFFFFU},
            .lane = static_cast<std::uint32_t>(packed & 0xFFU)};
  }
};

static_assert(
    PackedCompletion{.cta = 0xFFFFFFFF, .slot = WarpSlot{0xFFFFFF}, .lane = 0xFF}.packed() ==
            ~std::uint64_t{0} &&
        PackedCompletion{.cta = 1}.packed() - PackedCompletion{}.packed() == 1ULL << 32 &&
        PackedCompletion{.slot = WarpSlot{1}}.packed() - PackedCompletion{}.packed() == 1ULL << 8,
    "32 bits for the CTA, 24 for the slot, 8 for the lane");
static_assert(
    PackedCompletion::of(PackedCompletion{.cta = 3, .slot = WarpSlot{0xFFFFFF}, .lane = 5}.packed())
        .slot == WarpSlot{0xFFFFFF});
static_assert(PackedCompletion::kOwnLane <= 0xFF);

struct Cell {
  static constexpr std::uint8_t kReads = 1;
  static constexpr std::uint8_t kWrites = 2;
  static constexpr std::uint8_t kUniform = 4;  // all lanes stored `value`
  static constexpr std::uint8_t kAgrees = 8;   // with the other lanes of its instruction
  static constexpr std::uint8_t kPublished =
      16;  // `value` was published by release record `sequence`
  static constexpr std::uint8_t kAsynchronous =
      32;                                        // `value` is a packed completion, `time` is its
  static constexpr std::uint8_t kMbarrier = 64;  // an operation on an mbarrier as such

  // The time of an access of which it is known that all that its block has done since comes after
  // it, and not when it was (wire::RecordKind::kSettled). No thread of another block knows of it.
  static constexpr Time kSettledTime = ~Time{0} - 1;

  static constexpr std::uint32_t kExtentUnit = 16;  // PTX wants bulk copies of whole ones

  Bytes bytes;
  std::uint64_t value = 0;
  CtaKey cta{};
  // The CTA of a later access that stands for this one, except against narrow scopes near that CTA.
  CtaKey superseded_by{};
  Time time = 0;
  std::uint32_t site = 0;
  std::uint32_t stack = 0;
  // Of the release record that published it, or of a read of a tensor map the bulk group that its
  // lane had not committed; else 0.
  std::uint32_t sequence = 0;
  std::uint32_t lanes = 0;  // each of these touched all bytes; 0: one lane a byte, see lane_of
  std::uint8_t warp = 0;
  std::int8_t lane_base = 0;        // lane of byte b: lane_base + (b >> lane_shift)
  std::uint8_t lane_shift : 3 = 0;  // both with lanes, of an asynchronous access: see extent()
  // A store of a known value came later that stands for this access, except against stores of that
  // value: which it was (value_mark). 0: none did.
  std::uint8_t outdated_by : 5 = 0;
  std::uint8_t flags = 0;

  [[nodiscard]] bool reads() const { return (flags & kReads) != 0; }

  [[nodiscard]] bool writes() const { return (flags & kWrites) != 0; }

  [[nodiscard]] bool is_published() const { return (flags & kPublished) != 0; }

  [[nodiscard]] bool is_asynchronous() const { return (flags & kAsynchronous) != 0; }

  // Bytes of the whole bulk copy, of which a block has but a part; 0 of other accesses, and of
  // copies of 32 KiB and more. Kept where the lane of a byte needs no place.
  [[nodiscard]] std::uint32_t extent() const {
    return !is_asynchronous() || lanes == 0
               ? 0
               : kExtentUnit *
                     (std::uint32_t{static_cast<std::uint8_t>(lane_base)} << 3 | lane_shift);
  }

  void set_extent(std::uint32_t bulk_bytes) {
    const std::uint32_t units = bulk_bytes / kExtentUnit;
    if (units < 1U << 11) {
      lane_base = static_cast<std::int8_t>(units >> 3);
      lane_shift = units & 7U;
    }
  }

  [[nodiscard]] bool has_own_completion() const {
    return PackedCompletion::of(value).lane == PackedCompletion::kOwnLane;
  }

  [[nodiscard]] bool is_settled() const { return time == kSettledTime && !is_asynchronous(); }

  [[nodiscard]] bool is_of_mbarrier() const { return (flags & kMbarrier) != 0; }

  [[nodiscard]] bool is_superseded() const { return superseded_by != CtaKey{}; }

  [[nodiscard]] bool agrees() const { return (flags & kAgrees) != 0; }

  [[nodiscard]] std::uint32_t lanes_at(std::uint32_t byte) const {
    return lanes != 0 ? lanes
                      : std::uint32_t{1} << (lane_base + static_cast<int>(byte >> lane_shift));
  }

  [[nodiscard]] LaunchId launch() const { return cta.work().launch(); }

  [[nodiscard]] std::uint32_t cta_index() const { return cta.cta(); }

  // Whose time `time` is, of what `lane` did.
  [[nodiscard]] ClockPlace place_of(std::uint32_t lane) const {
    if (!is_asynchronous()) {
      return {.cta = cta, .slot = warp_slot(warp), .lane = lane};
    }
    const PackedCompletion completion = PackedCompletion::of(value);
    return {.cta = CtaKey(launch(), completion.cta),
            .slot = completion.slot,
            .lane = has_own_completion() ? lane : completion.lane};
  }

  // The same lane at every byte of both.
  [[nodiscard]] bool maps_lanes_like(const Cell& other) const {
    return lanes == other.lanes &&
           (lanes != 0 ? is_single(lanes)
                       : lane_base == other.lane_base && lane_shift == other.lane_shift);
  }

  // The same instruction at the same time, so that the two can be one cell.
  [[nodiscard]] bool is_same_moment(const Cell& other) const {
    return cta == other.cta && time == other.time && site == other.site && stack == other.stack &&
           warp == other.warp && flags == other.flags && value == other.value &&
           sequence == other.sequence && superseded_by == other.superseded_by &&
           outdated_by == other.outdated_by;
  }

  friend bool operator==(const Cell&, const Cell&) = default;

  // It touches something, as some warp.
  [[nodiscard]] bool is_valid() const { return !bytes.none() && warp < wire::kWarpLanes; }

  // Each byte that it touches has a lane.
  [[nodiscard]] bool has_lanes() const;

  // Makes this one stand for both, if they differ in their bytes only, or in their lanes only.
  bool merge(const Cell& other);
};

static_assert((Cell::kReads | Cell::kWrites | Cell::kUniform | Cell::kAgrees | Cell::kPublished |
               Cell::kAsynchronous | Cell::kMbarrier) == 127,
              "the lowest seven bits; the eighth is WordLists' own");
static_assert(sizeof(Cell) == sizeof(Bytes) + 3 * sizeof(std::uint64_t) +
                                  5 * sizeof(std::uint32_t) + 4 * sizeof(std::uint8_t),
              "64 bytes, none of them padding");

inline bool Cell::has_lanes() const {
  const std::uint32_t last = bytes.high != 0
                                 ? 127 - static_cast<std::uint32_t>(std::countl_zero(bytes.high))
                                 : 63 - static_cast<std::uint32_t>(std::countl_zero(bytes.low));
  const auto lane_of = [this](std::uint32_t byte) {
    return lane_base + static_cast<int>(byte >> lane_shift);
  };
  return lanes != 0 ||
         (lane_of(bytes.first()) >= 0 && lane_of(last) < static_cast<int>(wire::kWarpLanes));
}

inline bool Cell::merge(const Cell& other) {
  if (!is_same_moment(other)) {
    return false;
  }
  if (lanes != 0 && other.lanes != 0 && bytes == other.bytes) {
    lanes |= other.lanes;
    return true;
  }
  const bool maps_alike =
      lanes != 0 || (lane_base == other.lane_base && lane_shift == other.lane_shift);
  if (lanes == other.lanes && maps_alike) {
    bytes = bytes | other.bytes;
    return true;
  }
  return false;
}

}  // namespace barracuda::detector
