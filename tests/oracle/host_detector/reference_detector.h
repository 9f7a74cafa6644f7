// The rules of model=ptx, transcribed from RACE_RULES.md as directly as they can be: full vector
// clocks for every thread, every access kept for ever, every pair of them looked at. The engine is
// held against it; nothing here is shared with it but the formats of its input.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "host_detector/detector.h"
#include "tests/oracle/host_detector/work_number.h"

namespace barracuda::oracle {

using detector::LaunchId;
using detector::Severity;
using detector::WorkId;

using Thread = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t,
                          std::uint32_t>;  // launch, cta, warp, lane
using VectorClock = std::map<Thread, std::uint64_t>;

void join(VectorClock& into, const VectorClock& from);

// Which memory: global, or the shared memory of a CTA of a launch.
using Space = std::optional<std::pair<std::uint32_t, std::uint32_t>>;

struct Race {
  std::uint32_t low_site = 0, high_site = 0;
  Thread older, newer;
  std::optional<detector::MemoryRows> older_rows, newer_rows;  // of a copy by the host
  Space space;
  std::uint64_t byte = 0;
  Severity severity = Severity::kError;
  bool is_with_exit = false;  // `newer` is the last thread of the block whose memory it is
  // RACE_RULES section 3 lets an engine forget `older`. Never with
  // DetectorOptions::keeps_everything.
  bool may_be_missed = false;
};

class ReferenceDetector {
 public:
  explicit ReferenceDetector(const detector::DetectorOptions& options) : options_(options) {}

  // Those known so far, and new ones behind them.
  void add_sites(const std::vector<wire::SiteInfo>& sites) {
    sites_.insert(sites_.end(), sites.begin() + static_cast<std::ptrdiff_t>(sites_.size()),
                  sites.end());
  }

  void begin_launch(const detector::LaunchInfo& launch);
  void apply(const detector::WarpOperation& operation);
  void apply(const detector::CopyInfo& copy);

  [[nodiscard]] const std::vector<Race>& races() const { return races_; }

  // Lanes of the warp that could do something now: alive, and not waiting at a barrier.
  [[nodiscard]] std::uint32_t runnable(std::uint32_t launch, std::uint32_t cta,
                                       std::uint32_t warp) const;

  [[nodiscard]] bool lets_dependents_begin(std::uint32_t launch) const {
    return launches_.at(launch).lets_dependents_begin;
  }

  [[nodiscard]] bool is_over(std::uint32_t launch) const;
  // The CTA exists and some thread of it lives.
  [[nodiscard]] bool is_alive(std::uint32_t launch, std::uint32_t cta) const;

  enum class ClusterBarrierState : std::uint8_t { kCanArrive, kMustWait, kCanWait };
  [[nodiscard]] ClusterBarrierState cluster_barrier_state(const Thread& thread) const;

  struct MbarrierCounts {
    std::uint32_t pending = 0, expected = 0;
    std::int64_t bytes = 0;
    std::uint64_t phase = 0;  // that is not complete, from 1 on
  };

  // Nothing where no valid mbarrier is.
  [[nodiscard]] std::optional<MbarrierCounts> mbarrier_counts(std::uint32_t launch,
                                                              std::uint32_t cta,
                                                              std::uint64_t offset) const;

 private:
  static constexpr std::size_t kScopes = wire::kScopeCount;

  struct ThreadState {
    VectorClock clock;                          // C, own time included
    std::array<VectorClock, kScopes> released;  // F
    std::array<VectorClock, kScopes> pending;   // A
    bool is_alive = true;
    std::optional<std::uint32_t> barrier;       // waits at this CTA barrier
    std::optional<std::uint32_t> warp_barrier;  // waits with these members
  };

  struct Access {
    std::size_t instruction = 0;  // index of the operation
    const wire::SiteInfo* site = nullptr;
    std::uint32_t site_id = 0;
    Thread thread;
    std::uint64_t time = 0;
    VectorClock clock;  // when it was made
    Space space;
    std::uint64_t address = 0;
    std::uint32_t size = 0;
    std::uint32_t width = 0;  // of the element that it is or is part of
    bool reads = false, writes = false, agrees = false;
    std::optional<std::uint64_t> known_value;  // a constant, or uniform in the warp; of a vector
    std::uint32_t elements = 1;
    bool is_published = false;
    std::optional<std::uint64_t> published_value;
    std::size_t location_size = 0;     // of the synchronising access
    std::optional<Thread> completion;  // of an asynchronous access: what it is known by
    std::uint64_t completion_time = 0;
    std::uint64_t map_group = 0;  // of a read of a map: the bulk group that its thread was in
    bool is_of_mbarrier = false;
    std::optional<detector::MemoryRows> rows;  // of a copy by the host
    detector::HostOperation operation = detector::HostOperation::kCopy;
    std::set<std::uint64_t> given_away;  // bytes that have a new owner

    [[nodiscard]] bool holds(std::uint64_t byte) const {
      return byte >= address && byte < address + size && !given_away.contains(byte);
    }
  };

  struct CopyGroups {
    std::uint64_t now = 1;
    std::vector<std::uint64_t> committed;  // the time each ended
  };

  struct ClusterBarrier {
    std::set<Thread> arrived, owing_wait;
    std::vector<ThreadState> given;
    ThreadState complete;
  };

  struct Mbarrier {
    struct Gift {
      std::uint64_t phase = 0;
      Thread from;
      VectorClock clock;
      bool is_unscoped = false;  // of another CTA, without a scope
    };

    bool is_valid = false;
    MbarrierCounts counts;
    std::uint64_t phases_before = 0;  // of earlier uses of its memory
    std::vector<Gift> gifts;
  };

  using MbarrierKey = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;

  struct Write {  // to a synchronising location
    std::size_t instruction = 0;
    Thread thread;
    bool is_atomic = false;
    std::optional<std::uint64_t> read, written;
    std::array<std::array<VectorClock, kScopes>, 2> published;  // to strong reads, to polls
  };

  struct Observation {
    std::size_t instruction = 0;
    Thread thread;
    std::uint64_t time = 0;
    std::optional<std::uint64_t> value;
    bool is_poll = false;
  };

  struct Location {
    std::vector<Write> writes;
    std::vector<Observation> observations;
  };

  using LocationKey = std::tuple<Space, std::uint64_t, std::uint64_t>;

  struct Barrier {
    std::set<Thread> arrived = {}, waiting = {};
    std::uint32_t count = 0;
    std::vector<ThreadState> given = {};
    // By who had arrived already.
    std::set<Thread> early = {};
    std::uint32_t early_count = 0;
    std::vector<ThreadState> given_early = {};
  };

  struct Launch {
    detector::LaunchInfo info;
    std::set<std::uint32_t> before;
    bool lets_dependents_begin = false;
    std::uint32_t awaited = 0;  // the launch that griddepcontrol.wait waits for
  };

  // These and all that was over before them.
  // The same of what has this number.
  void begin(std::uint32_t id, const detector::LaunchInfo& info);
  [[nodiscard]] std::set<std::uint32_t> closure(const std::vector<WorkId>& launches);
  [[nodiscard]] static Thread end_of(std::uint32_t launch);
  void wait_for_grid(const Thread& thread);
  void event(const detector::WarpOperation& operation, const std::vector<Thread>& threads);
  void fence(const wire::SiteInfo& site, ThreadState& state) const;
  void publish(const wire::SiteInfo& site, const detector::LaneAccess& lane, const Thread& thread);
  void acquire(const wire::SiteInfo& site, const detector::LaneAccess& lane, const Thread& thread);
  void access(const detector::WarpOperation& operation, const Thread& thread, bool reads,
              bool writes);
  void make(const Access& access, const detector::LaneAccess& lane);
  void check(const Access& older, const Access& newer);
  void arrive(const detector::WarpOperation& operation, const std::vector<Thread>& threads,
              bool waits);
  void open_barriers(std::uint32_t launch, std::uint32_t cta);
  [[nodiscard]] bool divides_shared_memory(std::uint32_t launch, std::uint32_t cta,
                                           const Barrier& barrier) const;
  void open_warp_barriers(std::uint32_t launch, std::uint32_t cta, std::uint32_t warp);
  void exit(const detector::WarpOperation& operation, const std::vector<Thread>& threads);
  void end_block(const detector::WarpOperation& operation, const Thread& last);

  // reference_copies.cpp
  void renew(std::uint64_t address, std::uint64_t bytes);
  void end_life(const detector::MemoryRows& range, const Thread& free);
  // Allocations and frees stand for nothing any more once the other has come.
  void give_way(const detector::MemoryRows& range, detector::HostOperation operation);

  // reference_async.cpp
  void async_event(const detector::WarpOperation& operation, const std::vector<Thread>& threads);
  void matrix_group(const detector::WarpOperation& operation, const std::vector<Thread>& threads);
  void tensor_product(const detector::WarpOperation& operation, const Thread& thread);
  void matrix_product(const detector::WarpOperation& operation, const Thread& thread);
  void async_access(const detector::WarpOperation& operation, const Thread& thread, Access access,
                    std::uint64_t tagged, std::uint32_t bytes);
  void operands(const detector::WarpOperation& operation, const std::vector<Thread>& threads);
  void mbarrier_step(const wire::SiteInfo& site, const detector::LaneAccess& lane,
                     const Thread& thread);
  void wait_for(const wire::SiteInfo& site, const detector::LaneAccess& lane, const Thread& thread,
                const MbarrierKey& key);
  void copy(const detector::WarpOperation& operation, const Thread& thread);
  void fence_maps(const detector::WarpOperation& operation, const std::vector<Thread>& threads);
  // Of a copy by a map in memory.
  void read_map(const detector::WarpOperation& operation, const Thread& thread);
  // By a wait for bulk groups of its thread.
  [[nodiscard]] bool is_map_read_known(const Access& read, const Thread& to) const;
  // The thread has read that map again since: maps are read in the order of the copies.
  [[nodiscard]] bool is_read_again(const Access& read) const;
  void masked_access(const detector::WarpOperation& operation, const Thread& thread,
                     const Access& access, std::uint64_t tagged);
  void copy_once(const detector::WarpOperation& operation, const Thread& thread,
                 std::uint64_t target, std::optional<std::uint64_t> mbarrier);
  void arrive_at_cluster(const wire::SiteInfo& site, const Thread& thread);
  void wait_at_cluster(const Thread& thread);
  void open_cluster_barriers();
  static void open_if_complete(Mbarrier& mbarrier);
  [[nodiscard]] MbarrierKey mbarrier_key(std::uint64_t tagged, const Thread& thread) const;
  static Thread completion_of(const Thread& thread, wire::Asynchrony asynchrony, bool reads);
  static Thread completion_of(const MbarrierKey& mbarrier);
  // What a proxy fence came after, in clocks beside what happened.
  static Thread fenced(const Thread& thread);
  // Likewise what was released to copies by maps, and acquired for them.
  static Thread of_maps(const Thread& thread, bool is_acquired);
  [[nodiscard]] bool is_known(const Thread& who, std::uint64_t time, const Thread& to) const;
  [[nodiscard]] bool lacks_proxy_fence(const Access& older, const Access& newer) const;
  static bool is_async_proxy(const Access& access);
  static std::uint64_t address_of(std::uint64_t tagged);

  [[nodiscard]] std::optional<Severity> verdict(const Access& older, const Access& newer) const;
  [[nodiscard]] static bool stands_for(const Access& newer, const Access& older);
  [[nodiscard]] static bool has_same_value(const Access& a, const Access& b);
  [[nodiscard]] bool is_excused(const Access& between, const Access& older,
                                const Access& newer) const;
  [[nodiscard]] bool is_before(const Thread& thread, std::uint64_t time, const Thread& later) const;
  [[nodiscard]] bool was_observed(const Access& write, const Thread& later) const;
  // Whether some access happens after `older` and stands for it.
  [[nodiscard]] bool has_stand_in(const Access& older, std::uint64_t byte) const;
  [[nodiscard]] std::vector<const Access*> stand_ins(const Access& older, std::uint64_t byte) const;
  [[nodiscard]] bool is_covered(const Access& older, const Access& newer, std::uint64_t byte) const;
  [[nodiscard]] wire::Scope distance(const Thread& a, const Thread& b) const;
  [[nodiscard]] bool is_between_surfaces(const Access& older, const Access& newer) const;
  [[nodiscard]] Space space_of(std::uint64_t tagged, const Thread& thread) const;
  [[nodiscard]] std::uint32_t cluster_of(const Thread& thread) const;
  // What may lead from a write of `thread` to those who saw it: not the accesses of launches that
  // were over before its launch began (RACE_RULES section 1, launches).
  [[nodiscard]] Location since(const Location& location, const Thread& thread) const;
  static std::set<std::uint64_t> values(const Location& location, std::uint64_t from,
                                        bool backwards);
  static bool is_anything_possible(const Location& location);
  // With which a poll that has read `value` would have been over (RACE_RULES section 1).
  static std::uint64_t first_with_same(const Location& location, std::uint64_t bits,
                                       std::uint64_t value);

  detector::DetectorOptions options_;
  std::deque<wire::SiteInfo> sites_;  // accesses point into it
  std::map<std::uint32_t, Launch> launches_;
  std::map<Thread, ThreadState> threads_;
  std::map<LocationKey, Location> locations_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Barrier> barriers_;
  std::map<Thread, bool> atomic_wrote_;
  std::map<Thread, std::array<CopyGroups, 2>> groups_;  // of cp.async, of bulk copies
  std::map<Thread, CopyGroups> matrix_groups_;          // of wgmma, by their completion
  std::map<Thread, std::uint64_t> commits_;             // of tcgen05, that a thread has made
  std::map<std::pair<std::uint32_t, std::uint32_t>, ClusterBarrier> cluster_barriers_;
  std::map<MbarrierKey, Mbarrier> mbarriers_;
  std::map<Thread, std::pair<wire::SiteId, std::uint64_t>> maps_;  // that they copy by next
  std::vector<Access> accesses_;
  std::vector<Race> races_;
  std::size_t instruction_ = 0;
};

}  // namespace barracuda::oracle
