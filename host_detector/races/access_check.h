// Compares an access with the shadow of its bytes, reports the conflicts and records it. Each step
// makes a value of the one before: what the access touches (footprint.h), how an older cell of
// those bytes is ordered with it (cell_order.h), what of that is a conflict (conflict.h), and what
// is left of the older cell beside the new one (replacement.h).
#pragma once

#include <cstdint>

#include "host_detector/races/gathered_atomics.h"
#include "host_detector/state/engine_state.h"

namespace barracuda::detector {

class AccessCheck {
 public:
  explicit AccessCheck(EngineState& engine) : engine_(engine) {}

  // The lanes `lanes` of `operation` read or write (Cell flags) what their addresses say. False if
  // an address cannot be; the rest is done.
  bool check(const Actor& actor, const WarpOperation& operation, std::uint32_t lanes,
             std::uint8_t flags);

  // Of a thread of any block of the launch (wire::RecordKind::kSettled). False if it has no such
  // thread.
  bool check_settled(LaunchState& launch, const WarpOperation& operation, std::uint8_t flags);

  // The operation is of atomics that may be taken later, if its lanes can do it now.
  [[nodiscard]] bool can_gather(const Actor& actor, const WarpOperation& operation,
                                const wire::SiteInfo& site) const;
  static void gather(const Actor& actor, const WarpOperation& operation, GatheredAtomics& atomics);
  // There are some. An address that cannot be counts as astray.
  void take_gathered(GatheredAtomics& atomics);

  // The bytes touched by lanes of an mbarrier operation, or by one lane of an asynchronous copy;
  // `completion` and `time` only with the flag Cell::kAsynchronous.
  struct Range {
    std::uint64_t tagged = 0;
    std::uint32_t bytes = 0;
    std::uint8_t flags = 0;
    std::uint64_t completion = 0;
    Time time = 0;
    Time map_group = 0;  // of what is read of a tensor map: the lane's bulk group then
  };

  // False if the address cannot be; then nothing is done.
  bool check_range(const Actor& actor, const WarpOperation& operation, std::uint32_t lanes,
                   const Range& range);

  // What is common to the lanes of an access; completion and time of an asynchronous one; is_late
  // as of a Piece.
  struct Stamp {
    std::uint8_t flags = 0;
    std::uint64_t completion = 0;
    Time time = 0;
    bool is_late = false;
  };

 private:
  // Lanes that one stamp is for.
  bool check_alike(const Actor& actor, const WarpOperation& operation, const wire::SiteInfo& site,
                   std::uint32_t lanes, const Stamp& stamp);
  bool check_copies(const Actor& actor, const WarpOperation& operation, const wire::SiteInfo& site,
                    std::uint32_t lanes, std::uint8_t flags);
  bool check_kept_copy(const Actor& actor, const WarpOperation& operation,
                       const wire::SiteInfo& site, std::uint8_t flags);

  EngineState& engine_;
};

}  // namespace barracuda::detector
