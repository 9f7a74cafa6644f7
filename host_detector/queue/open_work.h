// The launches and copies that are not over: which awaits which, and what has come of each launch.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "host_detector/launch.h"
#include "host_detector/observer.h"
#include "host_detector/queue/open_launch.h"

namespace barracuda::detector {

class OpenWork {
 public:
  // A launch is late that has run for `late_after`; 0: none is.
  explicit OpenWork(std::chrono::milliseconds late_after) : late_after_(late_after) {}

  // By the low bits of its id, which records have; null if there is none that is not over.
  [[nodiscard]] OpenLaunch* find(std::uint16_t low_bits) {
    if (last_ == nullptr || last_->low_bits() != low_bits) {
      turn_to(look_up(low_bits));
    }
    return last_;
  }

  [[nodiscard]] OpenLaunch* find(LaunchId id) {
    OpenLaunch* const launch = find(static_cast<std::uint16_t>(id));
    return launch != nullptr && launch->id() == id ? launch : nullptr;
  }

  // The same for several threads at once.
  [[nodiscard]] OpenLaunch* look_up(std::uint16_t low_bits) const {
    const auto known = launches_.find(low_bits);
    return known == launches_.end() ? nullptr : known->second.get();
  }

  // One record of the launch that was found last was taken; or `count` records of `launch`.
  void count_record() { ++taken_; }

  void count_records(OpenLaunch& launch, std::uint64_t records) const {
    launch.count(records, now_);
  }

  // Those of `all`, which are ids of launches or of either kind of work, that are not over.
  template <typename Id>
  [[nodiscard]] std::vector<WorkId> not_over(const std::vector<Id>& all) {
    std::vector<WorkId> some;
    for (const WorkId each : all) {
      if (each.is_copy() ? copies_.contains(each.copy()) : find(each.launch()) != nullptr) {
        some.push_back(each);
      }
    }
    return some;
  }

  // It awaits what its `awaited` names.
  void add(std::unique_ptr<OpenLaunch> launch);
  void add(const CopyInfo& copy, std::vector<WorkId> awaited);
  // True if a part of the same copy waits already: this one goes with it.
  [[nodiscard]] bool joins_waiting(const CopyInfo& copy);
  // Of a copy that waits no longer.
  [[nodiscard]] const std::vector<CopyInfo>& parts_of(CopyId copy) const;

  // It is over and forgotten. The work that awaited nothing else, in the order in which it came.
  [[nodiscard]] std::vector<WorkId> close(WorkId work);

  // What is to be closed next: a launch that has just ended, a copy that waits no longer. The last
  // that was added comes first.
  void add_over(WorkId work) { over_.push_back(work); }

  [[nodiscard]] bool has_over() const { return !over_.empty(); }

  [[nodiscard]] WorkId take_over();

  // Launches that may go on logging after their end, which was forced; until their number comes
  // again.
  void note_force_ended(LaunchId id) { force_ended_.insert(static_cast<std::uint16_t>(id)); }

  void forget_force_ended(LaunchId id) { force_ended_.erase(static_cast<std::uint16_t>(id)); }

  [[nodiscard]] bool was_force_ended(std::uint16_t low_bits) const {
    return force_ended_.contains(low_bits);
  }

  // Launches that have become late since the last call, the oldest first.
  [[nodiscard]] std::vector<LateLaunch> find_late(std::chrono::steady_clock::time_point now,
                                                  std::size_t parked_bytes);

  // Launches await only what is not over, and what is parked of them, `parked_bytes` in all, lies
  // in queues of theirs.
  [[nodiscard]] bool is_valid(std::size_t parked_bytes) const;

 private:
  struct WaitingCopies {
    std::vector<WorkId> awaited, followers;
    std::vector<CopyInfo> copies;
  };

  void turn_to(OpenLaunch* launch);
  void follow(WorkId follower, const std::vector<WorkId>& awaited);
  [[nodiscard]] static bool is_launch_valid(const OpenLaunch& launch);

  const std::chrono::milliseconds late_after_;
  boost::unordered_flat_map<std::uint16_t, std::unique_ptr<OpenLaunch>> launches_;
  std::map<CopyId, WaitingCopies> copies_;  // by the number that they share
  OpenLaunch* last_ = nullptr;              // that was found, or none
  std::uint64_t taken_ = 0;                 // records, by one thread,
  std::uint64_t counted_ = 0;               // and those that are counted for their launches
  std::chrono::steady_clock::time_point now_, next_look_;
  std::vector<WorkId> over_;
  boost::unordered_flat_set<std::uint16_t> force_ended_;  // low bits of launches
};

}  // namespace barracuda::detector
