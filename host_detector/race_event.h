// What the detector found, as data: two accesses and the order that is missing. Sites are ids; the
// report turns them into source lines.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "device_logger/scope_order.h"
#include "host_detector/copy.h"

namespace barracuda::detector {

enum class RaceKind : std::uint8_t {
  kInterBlock,
  kIntraBlock,
  kIntraWarp,
  kBranchOrdering,
  kInterKernel,
  kKernelCopy,
  kUseAfterFree,  // of memory that is freed in the order of a stream
  kUseBeforeAllocation,
  kUseAfterExit,  // of a block's shared memory, by another one of its cluster
};

enum class Severity : std::uint8_t { kError, kWarning };

// The ordering that would have been needed.
enum class MissingOrder : std::uint8_t {
  kNoSynchronisation,    // nothing orders the two threads
  kScopeTooNarrow,       // a fence or atomic orders them, but its scope leaves the other thread out
  kReleaseFenceMissing,  // the first's flag or unlock is not preceded by a fence
  kAcquireFenceMissing,  // the second saw the flag but does not fence afterwards
  kFencesMissing,        // both
  kLinkFenceMissing,     // a third thread saw the flag and published the next without a fence
  kAfterRelease,         // the first's access follows the release that the second acquired
  kBlockBarrierMissing,  // the release is another thread's of the first's block, not ordered behind
  kPollTooWeak,          // the flag was read by a plain load
  kFlagTooWeak,          // the flag was written by a plain store
  kLockNotTaken,         // the second's compare-and-swap failed, and it went on
  kVolatileFlag,         // volatile accesses: CUDA C++ calls that a race
  kEqualValues,          // both stored the same value
  kAtomicScopeTooNarrow,  // two atomics whose scopes do not include each other
  kMixedSize,             // strong accesses of different sizes overlap
  kProxyFenceMissing,
  kMapFenceMissing,  // the first wrote the tensor map by which the second copies
  kAsyncWaitMissing,
  kWarpMaskTooNarrow,    // the warp barrier's mask leaves the first out
  kBarrierLeavesOut,     // one side's barrier is for some warps, not for the other's
  kNamedBarrierMissing,  // the two meet at a barrier of some warps, once too seldom
  kArrivalDoesNotWait,   // one side arrived at a barrier and did not wait for it
  kAfterArrival,         // the first's access follows its arrival, for which the second waited
  kArrivalRelaxed,       // the first's arrival releases nothing
  kWrongPhase,           // the second waited for a phase before the one of the first's arrival
  kGridWaitMissing,      // the second's launch may run beside the first's, and did not wait for it
  kSpeculatedRead,       // one side is a load that some lanes drop: the compiler made it of all
  kReadOnlyPath,   // a read by it need not see what its own kernel writes, whatever lies between
  kSurfaceBlocks,  // surface accesses of two blocks of a launch, which nothing in it orders
};

// What a thread executed last to order itself with others, before an access.
enum class LastSync : std::uint8_t {
  kNotAsked,  // not of an access by a thread, or not of this model
  kUnknown,   // it is too long ago, or an asynchronous copy's
  kNone,
  kKnown,
};

// Of a synchronisation of the thread that made an access.
enum class SyncWhen : std::uint8_t {
  kBefore,
  kUnclear,  // one of the two came first
  kAfter,
};

struct SyncStep {
  wire::SiteId site{};
  SyncWhen when = SyncWhen::kBefore;

  friend bool operator==(const SyncStep&, const SyncStep&) = default;
};

// Where an access was made: an instruction, or a call of the host's.
class AccessSite {
 public:
  static constexpr int kNumberBits = 31;

  constexpr AccessSite() = default;  // the first instruction

  // NOLINTNEXTLINE(google-explicit-constructor): each instruction is one
  constexpr AccessSite(wire::SiteId site) : packed_(static_cast<std::uint32_t>(site)) {
    DEBUG_ASSERT(packed_ < kCall);
  }

  // NOLINTNEXTLINE(google-explicit-constructor): and each call
  constexpr AccessSite(CallId call) : packed_(static_cast<std::uint32_t>(call) | kCall) {
    DEBUG_ASSERT(static_cast<std::uint32_t>(call) < kCall);
  }

  [[nodiscard]] constexpr bool is_call() const { return (packed_ & kCall) != 0; }

  [[nodiscard]] constexpr wire::SiteId instruction() const {
    DEBUG_ASSERT(!is_call());
    return wire::SiteId{packed_};
  }

  [[nodiscard]] constexpr CallId call() const {
    DEBUG_ASSERT(is_call());
    return CallId{packed_ & ~kCall};
  }

  // No two sites have the same.
  [[nodiscard]] constexpr std::uint32_t packed() const { return packed_; }

  [[nodiscard]] static constexpr AccessSite unpacked(std::uint32_t packed) {
    AccessSite site;
    site.packed_ = packed;
    return site;
  }

  friend constexpr auto operator<=>(const AccessSite&, const AccessSite&) = default;

 private:
  static constexpr std::uint32_t kCall = std::uint32_t{1} << kNumberBits;

  std::uint32_t packed_ = 0;
};

static_assert(sizeof(AccessSite) == sizeof(std::uint32_t) && AccessSite::kNumberBits + 1 == 32,
              "the number, and whether it is a call's");
static_assert(AccessSite(CallId{7}).call() == CallId{7} && AccessSite(CallId{}).is_call() &&
              AccessSite(wire::SiteId{7}).instruction() == wire::SiteId{7} &&
              wire::kMaxSites <= std::uint32_t{1} << AccessSite::kNumberBits);

struct RaceAccess {
  AccessSite site;
  std::vector<wire::SiteId> call_stack;  // call sites, innermost first
  ThreadRef thread;
  wire::AddressSpace space = wire::AddressSpace::kGlobal;
  // First byte of the element, of a bulk copy the one in question; offset in shared memory.
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // bytes of the element, of the bulk copy, or of all rows of a copy
  LastSync last_sync = LastSync::kNotAsked;
  wire::SiteId last_sync_site{};  // if it is known
  // The thread's last few up to the race, oldest first: of the first side also what it did after
  // its access.
  std::vector<SyncStep> syncs;
  bool has_all_syncs = false;  // before these there were none
};

struct RaceEvent {
  RaceKind kind = RaceKind::kInterBlock;
  Severity severity = Severity::kError;
  MissingOrder missing = MissingOrder::kNoSynchronisation;
  wire::Scope needed_scope = wire::Scope::kGpu;  // for the two scope verdicts
  // What `missing` is about, where that is not an access: the flag's write, the fence, the barrier.
  std::optional<wire::SiteId> about;
  RaceAccess first, second;  // in the order the detector saw them
  // The CTA that owns the shared memory raced on, if it is that and the owner is known.
  std::optional<std::uint32_t> shared_of;
  std::uint64_t count = 1;    // occurrences of this pair of sites and kind
  bool is_frequent = false;   // RaceLog::limit() was told of it: there may be more
  bool is_elsewhere = false;  // some of these at another address than that of `first`
};

// A CTA barrier that part of the CTA never reached, or reached elsewhere.
struct BarrierDivergence {
  Severity severity = Severity::kError;
  LaunchId launch{};
  std::uint32_t cta = 0;
  std::uint32_t barrier = 0;
  RaceAccess arrived;                 // one thread that waits (address and size 0)
  std::vector<RaceAccess> elsewhere;  // where others are: at another barrier or at their exit
  std::uint64_t count = 1;
};

// A copy of a box of a tensor whose map the program has not made by a function that is seen: what
// it touches is not known.
struct UnknownMap {
  wire::SiteId site{};
  std::uint64_t count = 0;
};

// Where a shared variable lies that the site of its kernel lists (ptx/site_table.h), as a launch
// has told.
struct SharedPlace {
  wire::SiteId site{};
  std::uint32_t number = 0;   // in the site's list
  std::uint32_t address = 0;  // in the shared window

  friend bool operator==(const SharedPlace&, const SharedPlace&) = default;
};

struct Findings {
  std::vector<RaceEvent> races;
  std::vector<BarrierDivergence> divergences;
  std::vector<UnknownMap> unknown_maps;  // makes coverage incomplete
  // Of one variable several, where it was loaded for several devices and lies elsewhere on each.
  std::vector<SharedPlace> shared_places;
};

}  // namespace barracuda::detector
