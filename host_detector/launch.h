// Identities of launches and threads as the detector sees them, and the order between launches.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/container_hash/hash.hpp>

#include "base/assert.h"
#include "device_logger/record.h"

namespace barracuda::detector {

// Counts launches of a session from 1; never reused. Records carry the low 16 bits.
enum class LaunchId : std::uint32_t {};

// Counts from 1 what has a place among the launches without being one: copies (copy.h), which share
// a number if nothing comes between them, and ends of prerequisites. Never reused.
enum class CopyId : std::uint32_t {};

// What has a place in the order of the device's work: a launch, or what CopyId counts.
class WorkId {
 public:
  // As clocks, shadow memory and traces keep it: the number below, the kind above it, and a bit
  // that CtaKey has another use for.
  enum class Packed : std::uint32_t {};

  static constexpr int kNumberBits = 30, kKindBits = 1;
  static constexpr std::uint32_t kMostNumber = (std::uint32_t{1} << kNumberBits) - 1;
  static constexpr Packed kMostPacked{(std::uint32_t{1} << (kNumberBits + kKindBits)) - 1};

  constexpr WorkId() = default;  // none

  // NOLINTNEXTLINE(google-explicit-constructor): each launch is work
  constexpr WorkId(LaunchId id) : packed_(checked(static_cast<std::uint32_t>(id))) {}

  // NOLINTNEXTLINE(google-explicit-constructor): and each copy
  constexpr WorkId(CopyId id) : packed_(checked(static_cast<std::uint32_t>(id)) | kCopy) {}

  static constexpr WorkId of(Packed packed) {
    DEBUG_ASSERT(packed <= kMostPacked);
    WorkId id;
    id.packed_ = static_cast<std::uint32_t>(packed);
    return id;
  }

  [[nodiscard]] constexpr Packed packed() const { return Packed{packed_}; }

  [[nodiscard]] constexpr bool is_copy() const { return (packed_ & kCopy) != 0; }

  // Of a launch; of no work, no launch.
  [[nodiscard]] constexpr LaunchId launch() const {
    DEBUG_ASSERT(!is_copy());
    return LaunchId{packed_};
  }

  [[nodiscard]] constexpr CopyId copy() const {
    DEBUG_ASSERT(is_copy());
    return CopyId{packed_ & kMostNumber};
  }

  friend constexpr auto operator<=>(const WorkId&, const WorkId&) = default;

  friend std::size_t hash_value(WorkId id) { return boost::hash<std::uint32_t>()(id.packed_); }

 private:
  static constexpr std::uint32_t kCopy = std::uint32_t{1} << kNumberBits;

  static constexpr std::uint32_t checked(std::uint32_t number) {
    DEBUG_ASSERT(number <= kMostNumber);
    return number;
  }

  std::uint32_t packed_ = 0;
};

static_assert(sizeof(WorkId) == sizeof(WorkId::Packed) &&
                  WorkId::kNumberBits + WorkId::kKindBits == 31,
              "one bit is left, for CtaKey");
static_assert(WorkId(CopyId{WorkId::kMostNumber}).packed() == WorkId::kMostPacked &&
              WorkId(LaunchId{WorkId::kMostNumber}).packed() < WorkId(CopyId{}).packed());
static_assert(WorkId::of(WorkId(CopyId{7}).packed()).copy() == CopyId{7} &&
              WorkId(LaunchId{7}).launch() == LaunchId{7} && !WorkId(LaunchId{7}).is_copy());

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
  std::vector<WorkId> ordered_after;
  // Not 0: one of `ordered_after` that may still run, once it has let its dependents begin
  // (griddepcontrol.launch_dependents). Threads know that it is over from griddepcontrol.wait on.
  LaunchId prerequisite{};
  // With a prerequisite: its end, under a number that no copy has.
  WorkId prerequisite_over;
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
  WorkId launch;          // of what a copy does, the copy
  std::uint32_t cta = 0;  // linear index in the grid
  std::uint8_t warp = 0;  // in the CTA
  std::uint8_t lane = 0;
  friend bool operator==(const ThreadRef&, const ThreadRef&) = default;
};

}  // namespace barracuda::detector
