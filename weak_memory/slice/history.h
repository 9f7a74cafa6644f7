// What the threads of one launch did that can order them, and each access of the instructions that
// are asked about, as a trace has it. The number of its record is the time of everything: records
// of a thread are in its program order, and a write has its time before the reads that see it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host_detector/launch.h"
#include "host_detector/warp_operation.h"
#include "ptx/site_table.h"
#include "trace/event.h"

namespace barracuda::weak_memory {

struct ThreadPlace {
  std::uint32_t cta = 0;  // linear index in the grid
  std::uint8_t warp = 0, lane = 0;

  friend auto operator<=>(const ThreadPlace&, const ThreadPlace&) = default;
};

struct MemoryPlace {
  bool is_shared = false;
  std::uint32_t cta = 0;      // whose shared memory
  std::uint64_t address = 0;  // the offset in it

  friend auto operator<=>(const MemoryPlace&, const MemoryPlace&) = default;
};

struct HistoryAccess {
  std::uint64_t time = 0;
  // When what it read was there: of an atomic that acquires, a later record has it.
  std::uint64_t read_time = 0;
  ThreadPlace thread;
  wire::SiteId site{};
  MemoryPlace place;
  std::uint32_t bytes = 0;
  bool reads = false, writes = false;
  // Only of strong accesses, flags and polls of kernels that synchronise.
  std::optional<std::uint64_t> read, written;

  [[nodiscard]] bool overlaps(const HistoryAccess& other) const {
    return place.is_shared == other.place.is_shared && place.cta == other.place.cta &&
           place.address < other.place.address + other.bytes &&
           other.place.address < place.address + bytes;
  }
};

// A fence, or what the memory models do not have, by lanes of a warp.
struct HistoryStep {
  std::uint64_t time = 0;
  std::uint32_t cta = 0;
  std::uint8_t warp = 0;
  std::uint32_t mask = 0;
  wire::SiteId site{};

  [[nodiscard]] bool is_of(const ThreadPlace& thread) const {
    return cta == thread.cta && warp == thread.warp && (mask >> thread.lane & 1) != 0;
  }
};

// One opening of a barrier of a CTA or a warp.
struct HistoryBarrier {
  struct Arrival {
    std::uint64_t time = 0;
    ThreadPlace thread;
    bool waits = true;
  };

  std::vector<Arrival> arrivals;
};

class History {
 public:
  // `statements`: the instructions that are asked about (ptx/statement_name.h).
  History(detector::LaunchId launch, std::set<std::string> statements)
      : launch_(launch), statements_(std::move(statements)) {}

  // An event of the process of the launch, one after the other.
  void take(const trace::Event& event);

  // More happened than is looked at.
  [[nodiscard]] bool is_cut() const { return steps_ > kMostSteps; }

  [[nodiscard]] const std::vector<HistoryAccess>& accesses() const { return accesses_; }

  [[nodiscard]] const std::vector<HistoryStep>& fences() const { return fences_; }

  [[nodiscard]] const std::vector<HistoryStep>& others() const { return others_; }

  [[nodiscard]] const std::vector<HistoryBarrier>& barriers() const { return barriers_; }

  [[nodiscard]] const ptx::Site& site(wire::SiteId id) const {
    return sites_[static_cast<std::size_t>(id)];
  }

  [[nodiscard]] std::uint32_t cluster_of(std::uint32_t cta) const;

 private:
  static constexpr std::size_t kMostSteps = 500'000;

  void take_record(const trace::RecordApplied& record);
  void take_accesses(const detector::WarpOperation& operation, const wire::SiteInfo& info);
  void take_event(const detector::WarpOperation& operation, const wire::SiteInfo& info);
  void take_barrier(const detector::WarpOperation& operation, const wire::SiteInfo& info);
  void complete(HistoryAccess access, const detector::LaneAccess& lane, wire::RecordKind kind,
                const wire::SiteInfo& info);
  void arrive(std::size_t barrier, const detector::WarpOperation& operation, std::uint32_t lanes,
              bool waits);
  [[nodiscard]] std::optional<MemoryPlace> place_of(std::uint32_t cta, std::uint64_t tagged) const;

  detector::LaunchId launch_;
  std::set<std::string> statements_;
  std::optional<detector::LaunchInfo> info_;
  std::uint64_t time_ = 0;
  std::size_t steps_ = 0;
  ptx::SiteTable sites_;
  std::vector<bool> is_asked_;  // by site
  std::vector<HistoryAccess> accesses_;
  std::vector<HistoryStep> fences_, others_;
  std::vector<HistoryBarrier> barriers_;
  detector::WarpOperation operation_;
  // Atomics whose first record came: their second one says that they acquire.
  std::map<std::pair<ThreadPlace, wire::SiteId>, std::size_t> begun_;
  // CTA, warp (of a warp's barrier, else no warp), number or members.
  using BarrierName = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<std::pair<BarrierName, ThreadPlace>, std::uint32_t> rounds_;  // that a thread has passed
  std::map<std::pair<BarrierName, std::uint32_t>, std::size_t> by_round_;
  std::map<BarrierName, std::pair<std::size_t, std::uint32_t>> counted_;  // and who has come
};

}  // namespace barracuda::weak_memory
