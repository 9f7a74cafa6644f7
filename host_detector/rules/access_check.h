// Holds an access against the shadow of its bytes, reports the races and records it.
#pragma once

#include <cstdint>
#include <optional>

#include "host_detector/rules/verdict.h"
#include "host_detector/sync/engine_state.h"

namespace barracuda::detector {

class AccessCheck {
 public:
  explicit AccessCheck(EngineState& engine) : engine_(engine) {}

  // The lanes `lanes` of `operation` read or write (Entry flags) what their addresses say. False if
  // an address cannot be; the rest is done.
  bool check(const Actor& actor, const WarpOperation& operation, std::uint32_t lanes,
             std::uint8_t flags);

  // The bytes touched by lanes of an mbarrier operation, or by one lane of an asynchronous copy;
  // `line` and `tick` only with the flag Entry::kAsynchronous.
  struct Range {
    std::uint64_t tagged = 0;
    std::uint32_t bytes = 0;
    std::uint8_t flags = 0;
    std::uint64_t line = 0;
    Tick tick = 0;
  };

  // False if the address cannot be; then nothing is done.
  bool check_range(const Actor& actor, const WarpOperation& operation, std::uint32_t lanes,
                   const Range& range);

 private:
  enum class Mode : std::uint8_t { kCheckAndRecord, kCheckOnly, kRecord };
  struct Access;  // one access on its way

  // What is common to the lanes of an access; line and tick of an asynchronous one.
  struct Stamp {
    std::uint8_t flags = 0;
    std::uint64_t line = 0;
    Tick tick = 0;
  };

  // Accesses of a site to a busy word that are kept though they race with others of that site.
  static constexpr std::uint32_t kMostOfSite = 16, kMostOfWarp = 2;

  bool check_alike(const Actor& actor, const WarpOperation& operation, std::uint32_t lanes,
                   const Stamp& stamp);
  bool check_copies(const Actor& actor, const WarpOperation& operation, std::uint32_t lanes,
                    std::uint8_t flags);
  void run(Access& access, std::uint32_t lanes, std::uint32_t shift);
  void run_by_run(Access& access);
  static bool may_be_together(const Access& access, std::uint32_t lanes);
  void together(Access& access);
  void agreeing(Access& access);
  void lane_by_lane(Access& access);
  void emit_pieces(Access& access, const Entry& entry, const LaneAccess& of_lane);
  void emit(Access& access, const Entry& entry, std::uint64_t tagged, std::uint32_t bytes);
  void meet(Access& access, History& history, const Entry& entry, bool records);
  static bool is_one_too_many(const Access& access, const History& history, const Entry& entry);
  bool meet_all(Access& access, Entries& older, const Entry& entry, bool may_merge);
  bool meet_crowd(Access& access, Crowd& crowd, const Entry& entry, bool records);
  void add_to_crowd(Crowd& crowd, const Entry& entry) const;
  void cut_to_newer(const Entry& newer, Entry& older) const;
  void gather_crowd(History& history) const;
  [[nodiscard]] CrowdKind crowd_kind(const Entry& entry) const;
  [[nodiscard]] bool is_of_crowd(const Access& access, const Entry& older,
                                 const Entry& entry) const;
  void meet_older(Access& access, Entry& older, const Entry& entry);
  bool compare_lanes(Access& access, Entry& older, const Entry& entry);
  [[nodiscard]] std::optional<Verdict> worth_of(const Access& access, const Entry& older,
                                                const Entry& entry, bool& defies) const;
  bool find_unordered(Access& access, const Entry& older, const Entry& entry, std::uint32_t byte,
                      bool defies) const;
  [[nodiscard]] std::uint32_t replaced_lanes(const Access& access, const Entry& older,
                                             const Entry& entry, std::uint32_t byte) const;
  void replace(const Access& access, Entry& older, const Entry& entry) const;
  void outdate(Entry& older, const Entry& entry) const;
  [[nodiscard]] bool is_all_before(const Access& access, const Entry& older,
                                   const Entry& entry) const;
  [[nodiscard]] static bool is_line_before(const Access& access, const Entry& older,
                                           const Entry& entry);
  [[nodiscard]] bool is_before(const Access& access, const Entry& older, std::uint32_t older_lane,
                               std::uint32_t lane) const;
  [[nodiscard]] bool may_stand_for(const Entry& entry, const Entry& older) const;
  [[nodiscard]] bool is_between_proxies(const Access& access, const Entry& older) const;
  [[nodiscard]] bool lacks_proxy_fence(const Access& access, const Entry& older,
                                       std::uint32_t older_lane, std::uint32_t lane) const;
  [[nodiscard]] bool was_observed(const Access& access, const Entry& older, std::uint32_t byte,
                                  std::uint32_t lane) const;
  void report(Access& access, const Entry& older, const Entry& entry);
  void meet_host_copies(Access& access, const Entry& entry);
  void meet_host_copy(Access& access, const Entry& entry, const LiveCopy& copy, const Bytes& bytes);
  [[nodiscard]] Side side_of(const Entry& entry) const;

  EngineState& engine_;
};

// What a report says of `lane` of the entry, at an address that it touches.
[[nodiscard]] RaceAccess describe_entry(const EngineState& engine, const Entry& entry,
                                        std::uint32_t lane, std::uint64_t address,
                                        wire::AddressSpace space = wire::AddressSpace::kGlobal);

}  // namespace barracuda::detector
