// Holds an access against the shadow of its bytes, reports the races and records it.
#pragma once

#include <cstdint>
#include <optional>

#include "host_detector/races/verdict.h"
#include "host_detector/state/engine_state.h"

namespace barracuda::detector {

class AccessCheck {
 public:
  explicit AccessCheck(EngineState& engine) : engine_(engine) {}

  // The lanes `lanes` of `operation` read or write (Cell flags) what their addresses say. False if
  // an address cannot be; the rest is done.
  bool check(const Actor& actor, const WarpOperation& operation, std::uint32_t lanes,
             std::uint8_t flags);

  // The bytes touched by lanes of an mbarrier operation, or by one lane of an asynchronous copy;
  // `completion` and `time` only with the flag Cell::kAsynchronous.
  struct Range {
    std::uint64_t tagged = 0;
    std::uint32_t bytes = 0;
    std::uint8_t flags = 0;
    std::uint64_t completion = 0;
    Time time = 0;
  };

  // False if the address cannot be; then nothing is done.
  bool check_range(const Actor& actor, const WarpOperation& operation, std::uint32_t lanes,
                   const Range& range);

 private:
  enum class Mode : std::uint8_t { kCheckAndRecord, kCheckOnly, kRecord };
  struct Access;  // one access on its way

  // What is common to the lanes of an access; completion and time of an asynchronous one.
  struct Stamp {
    std::uint8_t flags = 0;
    std::uint64_t completion = 0;
    Time time = 0;
  };

  // Accesses of a site to a busy word that are kept though they race with others of that site.
  static constexpr std::uint32_t kMostOfSite = 16, kMostOfWarp = 2;

  bool check_alike(const Actor& actor, const WarpOperation& operation, std::uint32_t lanes,
                   const Stamp& stamp);
  bool check_copies(const Actor& actor, const WarpOperation& operation, std::uint32_t lanes,
                    std::uint8_t flags);
  void record_run(Access& access, std::uint32_t lanes, std::uint32_t shift);
  void record_per_run(Access& access);
  static bool may_share_cell(const Access& access, std::uint32_t lanes);
  void record_same_address(Access& access);
  void record_agreeing(Access& access);
  void record_per_lane(Access& access);
  void record_pieces(Access& access, const Cell& cell, const LaneAccess& of_lane);
  void record(Access& access, const Cell& cell, std::uint64_t tagged, std::uint32_t bytes);
  void check_against_history(Access& access, AccessHistory& history, const Cell& cell,
                             bool records);
  static bool is_one_too_many(const Access& access, const AccessHistory& history, const Cell& cell);
  bool check_against_cells(Access& access, Cells& older, const Cell& cell, bool may_merge);
  bool check_against_set(Access& access, SharedAccessSet& shared_set, const Cell& cell,
                         bool records);
  void add_to_set(SharedAccessSet& shared_set, const Cell& cell) const;
  void cut_to_newer(const Cell& newer, Cell& older) const;
  void gather_set(AccessHistory& history) const;
  [[nodiscard]] SharedAccessKind shared_access_kind(const Cell& cell) const;
  [[nodiscard]] bool is_of_shared_set(const Access& access, const Cell& older,
                                      const Cell& cell) const;
  void check_against_cell(Access& access, Cell& older, const Cell& cell);
  bool compare_lanes(Access& access, Cell& older, const Cell& cell);
  [[nodiscard]] std::optional<Verdict> worth_of(const Access& access, const Cell& older,
                                                const Cell& cell, bool& defies) const;
  bool find_unordered(Access& access, const Cell& older, const Cell& cell, std::uint32_t byte,
                      bool defies) const;
  [[nodiscard]] std::uint32_t replaced_lanes(const Access& access, const Cell& older,
                                             const Cell& cell, std::uint32_t byte) const;
  void replace(const Access& access, Cell& older, const Cell& cell) const;
  void outdate(Cell& older, const Cell& cell) const;
  [[nodiscard]] bool is_all_before(const Access& access, const Cell& older, const Cell& cell) const;
  [[nodiscard]] static bool is_completion_before(const Access& access, const Cell& older,
                                                 const Cell& cell);
  [[nodiscard]] bool is_before(const Access& access, const Cell& older, std::uint32_t older_lane,
                               std::uint32_t lane) const;
  [[nodiscard]] bool may_stand_for(const Cell& cell, const Cell& older) const;
  [[nodiscard]] bool is_between_proxies(const Access& access, const Cell& older) const;
  [[nodiscard]] bool lacks_proxy_fence(const Access& access, const Cell& older,
                                       std::uint32_t older_lane, std::uint32_t lane) const;
  [[nodiscard]] bool was_observed(const Access& access, const Cell& older, std::uint32_t byte,
                                  std::uint32_t lane) const;
  void report(Access& access, const Cell& older, const Cell& cell);
  void check_against_copies(Access& access, const Cell& cell);
  void check_against_copy(Access& access, const Cell& cell, const LiveCopy& copy,
                          const Bytes& bytes);
  [[nodiscard]] Side side_of(const Cell& cell) const;

  EngineState& engine_;
};

// What a report says of `lane` of the cell, at an address that it touches.
[[nodiscard]] RaceAccess describe_cell(const EngineState& engine, const Cell& cell,
                                       std::uint32_t lane, std::uint64_t address,
                                       wire::AddressSpace space = wire::AddressSpace::kGlobal);

}  // namespace barracuda::detector
