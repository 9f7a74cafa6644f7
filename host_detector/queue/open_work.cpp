#include "host_detector/queue/open_work.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace barracuda::detector {
namespace {

constexpr std::chrono::milliseconds kLookEvery{1000};

}  // namespace

// Records mostly come many in a row from one launch, and are counted for it when another's come.
void OpenWork::turn_to(OpenLaunch* launch) {
  if (last_ != nullptr && counted_ != taken_) {
    last_->count(taken_ - counted_, now_);
  }
  counted_ = taken_;
  last_ = launch;
}

// A program may have thousands of launches waiting: who ends must not look at all of them.
void OpenWork::follow(WorkId follower, const std::vector<WorkId>& awaited) {
  for (const WorkId each : awaited) {
    if (each.is_copy()) {
      copies_.at(each.copy()).followers.push_back(follower);
      continue;
    }
    OpenLaunch* const launch = find(each.launch());
    ASSERT(launch != nullptr);
    launch->followers.push_back(follower);
  }
}

void OpenWork::add(std::unique_ptr<OpenLaunch> launch) {
  follow(launch->id(), launch->awaited);
  turn_to(nullptr);
  const std::uint16_t low_bits = launch->low_bits();
  launches_.insert_or_assign(low_bits, std::move(launch));
}

void OpenWork::add(const CopyInfo& copy, std::vector<WorkId> awaited) {
  follow(copy.id, awaited);
  copies_.emplace(copy.id,
                  WaitingCopies{.awaited = std::move(awaited), .followers = {}, .copies = {copy}});
}

bool OpenWork::joins_waiting(const CopyInfo& copy) {
  const auto same = copies_.find(copy.id);
  if (same == copies_.end()) {
    return false;
  }
  same->second.copies.push_back(copy);
  return true;
}

const std::vector<CopyInfo>& OpenWork::parts_of(CopyId copy) const {
  const auto known = copies_.find(copy);
  ASSERT(known != copies_.end() && known->second.awaited.empty());
  return known->second.copies;
}

std::vector<WorkId> OpenWork::close(WorkId work) {
  std::vector<WorkId> followers;
  if (work.is_copy()) {
    const auto known = copies_.find(work.copy());
    ASSERT(known != copies_.end());
    followers = std::move(known->second.followers);
    copies_.erase(known);
  } else {
    OpenLaunch* const ended = find(work.launch());
    ASSERT(ended != nullptr);
    followers = std::move(ended->followers);
    turn_to(nullptr);
    launches_.erase(static_cast<std::uint16_t>(work.launch()));
  }
  std::erase_if(followers, [&](WorkId follower) {
    std::vector<WorkId>* awaited = nullptr;
    if (follower.is_copy()) {
      awaited = &copies_.at(follower.copy()).awaited;
    } else {
      OpenLaunch* const launch = find(follower.launch());
      ASSERT(launch != nullptr);
      awaited = &launch->awaited;
    }
    std::erase(*awaited, work);
    return !awaited->empty();
  });
  return followers;
}

WorkId OpenWork::take_over() {
  ASSERT(has_over());
  const WorkId work = over_.back();
  over_.pop_back();
  return work;
}

std::vector<LateLaunch> OpenWork::find_late(std::chrono::steady_clock::time_point now,
                                            std::size_t parked_bytes) {
  std::vector<LateLaunch> found;
  now_ = now;
  turn_to(last_);
  if (late_after_ == std::chrono::milliseconds{0} || now < next_look_) {
    return found;
  }
  next_look_ = now + std::min(late_after_ / 8, kLookEvery);
  for (const auto& [low, launch] : launches_) {
    if (launch->is_late || !launch->awaited.empty() || now - launch->begun < late_after_) {
      continue;
    }
    launch->is_late = true;
    LateLaunch& late = found.emplace_back();
    late.id = launch->id();
    late.records = launch->records;
    late.since_last = std::chrono::duration_cast<std::chrono::milliseconds>(
        now - (late.records == 0 ? launch->begun : launch->newest));
    late.waiting_bytes = parked_bytes;
  }
  std::ranges::sort(found, {}, &LateLaunch::id);
  return found;
}

bool OpenWork::is_launch_valid(const OpenLaunch& launch) {
  return (!launch.awaited.empty() || launch.early.empty()) &&
         std::ranges::all_of(launch.queues, [&](const auto& each) {
           const ClusterQueue& queue = *each.second;
           return !queue.is_empty() && queue.cluster() == each.first && queue.is_valid() &&
                  queue.launch() == launch.id();
         });
}

bool OpenWork::is_valid(std::size_t parked_bytes) const {
  std::size_t parked = 0;
  const auto is_open = [this](WorkId each) {
    return each.is_copy() ? copies_.contains(each.copy())
                          : launches_.contains(static_cast<std::uint16_t>(each.launch()));
  };
  for (const auto& [low, launch] : launches_) {
    if (launch->low_bits() != low || !is_launch_valid(*launch) ||
        !std::ranges::all_of(launch->awaited, is_open)) {
      return false;
    }
    for (const auto& [cluster, queue] : launch->queues) {
      parked += queue->bytes();
    }
  }
  return parked == parked_bytes;
}

}  // namespace barracuda::detector
