#include "session/launches_in_flight.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "base/held_lock.h"
#include "base/log.h"
#include "base/signals_blocked.h"
#include "base/strong_id.h"
#include "session/block_schedule.h"
#include "session/owned_memory.h"

namespace barracuda::session {
namespace {

using detector::LaunchId;
using std::chrono::steady_clock;

// Records carry 16 bits of the launch id: two launches in flight must not share them.
constexpr std::uint32_t kMaximumInFlight = 1U << 15;
// Each keeps some kilobytes, so a program waits long before.
constexpr std::uint32_t kEnoughInFlight = 1U << 12;
constexpr std::uint64_t kThoroughReapEvery = 4096;
// For as long a program waits for detection, once, before a launch that there is no room for runs
// unchecked: some kernel may wait for the program.
constexpr std::chrono::seconds kPatienceForRoom{20};

constexpr std::chrono::milliseconds kWaitSlice{250};
constexpr std::chrono::milliseconds kCheckSlice{50};
constexpr int kQuietSlices = 6;
constexpr std::chrono::seconds kMessageEvery{2};
// Without a single new record for so long, a launch that the device has finished is given up.
constexpr std::chrono::seconds kPatience{120};

wire::SiteId first_site_of(const ptx::Kernel& kernel) {
  return wire::SiteId{first_owned_site(kernel.accesses)};
}

}  // namespace

LaunchesInFlight::LaunchesInFlight(const Options& options, DeviceDriver& driver,
                                   detector::Pipeline& pipeline, StreamTracker& streams,
                                   const AllocationTable& allocations, RunBooks& books,
                                   Problems& problems)
    : options_(options),
      driver_(driver),
      pipeline_(pipeline),
      books_(books),
      problems_(problems),
      unlogged_(options, allocations, streams, problems,
                [this](LaunchId id) { return books_.describe(id); }) {}

DeviceArea* LaunchesInFlight::area_of(Handle context) {
  if (const auto known = areas_.find(context); known != areas_.end()) {
    return known->second.get();
  }
  Expected<std::unique_ptr<DeviceArea>> area = DeviceArea::create(driver_, options_);
  if (!area) {
    problems_.add("kernels run unchecked: " + area.error().message);
    areas_.emplace(context, nullptr);
    return nullptr;
  }
  pipeline_.add_queues((*area)->queues());
  return areas_.emplace(context, std::move(*area)).first->second.get();
}

void LaunchesInFlight::prepare(Handle context) {
  const HeldLock lock(mutex_);
  if (context != Handle{} && closed_.empty()) {
    area_of(context);
  }
}

bool LaunchesInFlight::is_valid() const {
  return std::ranges::is_sorted(in_flight_, std::less_equal<>(), &InFlight::id) &&
         std::ranges::all_of(in_flight_, [this](const InFlight& launch) {
           const auto area = areas_.find(launch.context);
           return launch.id != LaunchId{} && launch.descriptor != nullptr &&
                  launch.area != nullptr && area != areas_.end() &&
                  area->second.get() == launch.area;
         });
}

void LaunchesInFlight::release(const InFlight& launch) {
  unlogged_.end(launch.id, launch.descriptor->unlogged);
  launch.area->states().release(launch.descriptor->states);
  launch.area->release(launch.descriptor);
}

// Launches mostly end in the order they began, so looking at the oldest ones is enough most times.
void LaunchesInFlight::reap(bool thoroughly) {
  DEBUG_ASSERT(is_valid());
  const auto is_over = [this](const InFlight& launch) { return pipeline_.is_over(launch.id); };
  while (!in_flight_.empty() && is_over(in_flight_.front())) {
    release(in_flight_.front());
    in_flight_.pop_front();
  }
  if (thoroughly) {
    std::erase_if(in_flight_, [&](const InFlight& launch) {
      const bool over = is_over(launch);
      if (over) {
        release(launch);
      }
      return over;
    });
  }
}

std::size_t LaunchesInFlight::span_in_flight() const {
  return in_flight_.empty() ? 0 : books_.opened() + 1 - index_of(in_flight_.front().id);
}

// A program that launches faster than is detected is made to wait, for half of what is in flight so
// that it does not wait at each launch.
void LaunchesInFlight::make_room(std::size_t launches) {
  LaunchId awaited{};
  {
    const HeldLock lock(mutex_);
    const auto is_enough = [&] { return span_in_flight() + launches > kEnoughInFlight; };
    if (!is_enough() || in_flight_.front().id == in_the_way_) {
      return;
    }
    reap(true);
    if (!is_enough() || in_flight_.front().id == in_the_way_) {
      return;
    }
    awaited = in_flight_[in_flight_.size() / 2].id;
  }
  const bool is_over = pipeline_.wait_for(awaited, kPatienceForRoom);
  const HeldLock lock(mutex_);
  reap(true);
  if (!in_flight_.empty() && (!is_over || span_in_flight() + launches > kEnoughInFlight)) {
    in_the_way_ = in_flight_.front().id;
  }
}

const LaunchesInFlight::InFlight* LaunchesInFlight::add(const KernelBinding& kernel,
                                                        const detector::LaunchInfo& info,
                                                        Handle context, std::string& reason) {
  DeviceArea* const area = area_of(context);
  if (area == nullptr) {
    reason = "no memory for log queues";
    return nullptr;
  }
  // The launch itself is in the book already.
  ASSERT(info.id != LaunchId{} && (in_flight_.empty() || in_flight_.back().id < info.id));
  look_for_strays(*area);
  const auto is_full = [this] { return span_in_flight() > kMaximumInFlight; };
  reap(++begun_ % kThoroughReapEvery == 0 || is_full());
  wire::LaunchDescriptor* const descriptor = is_full() ? nullptr : area->acquire(index_of(info.id));
  if (descriptor == nullptr) {
    reason = "too many launches at the same time";
    return nullptr;
  }
  descriptor->block_order = block_order_of(options_, driver_, *kernel.kernel, info);
  return &in_flight_.emplace_back(
      InFlight{.id = info.id, .context = context, .area = area, .descriptor = descriptor});
}

LaunchesInFlight::LeftOut LaunchesInFlight::leave_out(const InFlight& taken,
                                                      const LaunchRequest& request,
                                                      const UnloggedAccesses::BegunLaunch& launch,
                                                      const UnloggedAccesses::LeftOut& left_out,
                                                      detector::StreamKey stream_key) {
  wire::LaunchDescriptor& descriptor = *taken.descriptor;
  wire::UnloggedMemory& unlogged = descriptor.unlogged;
  unlogged = left_out.memory;
  descriptor.owned_sites = left_out.sites;
  LeftOut result{.shortcuts = left_out.whole_shortcuts()};
  if (unlogged_.is_on()) {
    const StateMemory::States states =
        taken.area->states().acquire({.kernel = launch.kernel,
                                      .launch = request,
                                      .watched_bytes = watched_bytes(unlogged),
                                      .stream_key = stream_key});
    descriptor.states = states.of_blocks;
    result.own_shared_end = states.of_blocks.own_bytes == 0
                                ? 0
                                : states.of_blocks.own_begin + states.of_blocks.own_bytes;
    descriptor.owners = states.owners;
  }
  if (descriptor.owners == 0) {
    unlogged.count = static_cast<std::uint8_t>(unlogged.count -
                                               std::exchange(unlogged.watched, std::uint8_t{0}));
  }
  return result;
}

bool LaunchesInFlight::may_be_guarded(const ptx::Kernel& kernel) const {
  return !strayed_.contains(first_site_of(kernel));
}

std::uint64_t LaunchesInFlight::add_guarded(const InFlight& taken, const ptx::Kernel& kernel) {
  ASSERT(!kernel.guarded.empty());
  guarded_.insert_or_assign(first_site_of(kernel),
                            WatchedLaunch{.kernel = kernel.name, .id = taken.id});
  return taken.area->stray_address();
}

// Its next launches are of the form that logs.
std::optional<WatchedLaunch> LaunchesInFlight::look_for_strays(DeviceArea& area) {
  const std::optional<wire::SiteId> site = area.take_stray();
  const auto behind = site ? guarded_.upper_bound(*site) : guarded_.begin();
  if (behind == guarded_.begin()) {
    return std::nullopt;
  }
  const auto& [first_site, launch] = *std::prev(behind);
  if (strayed_.insert(first_site).second) {
    problems_.add("launch " + std::to_string(index_of(launch.id)) + books_.describe(launch.id) +
                  ", or one before it, accessed memory that none of its arguments leads to: not "
                  "checked (filter=off checks it)");
  }
  return launch;
}

void LaunchesInFlight::end(LaunchId id) {
  pipeline_.end_launch(id);
  const HeldLock lock(mutex_);
  std::erase_if(in_flight_, [&](const InFlight& launch) {
    if (launch.id == id) {
      release(launch);
    }
    return launch.id == id;
  });
}

bool LaunchesInFlight::wait_a_slice(LaunchId id, std::chrono::milliseconds slice) {
  if (pipeline_.wait_for(id, slice)) {
    return true;
  }
  const SignalsAllowed now;
  return false;
}

void LaunchesInFlight::wait_for(LaunchId id) {
  const auto begin = steady_clock::now();
  auto last_message = begin;
  auto last_progress = begin;
  std::uint64_t records = 0;
  while (!wait_a_slice(id, kWaitSlice)) {
    const auto now = steady_clock::now();
    const std::uint64_t records_now = pipeline_.statistics().records;
    if (records_now != records) {
      records = records_now;
      last_progress = now;
    }
    if (now - last_progress > kPatience) {
      problems_.add("launch " + std::to_string(index_of(id)) + " (" + books_.kernel_of(id) +
                    ") ended without the last of its records");
      pipeline_.end_launch(id);
      return;
    }
    if (now - last_message > kMessageEvery) {
      last_message = now;
      log(Folder::kSession, LogLevel::kWarning, "still checking launch %u: %llu records so far",
          index_of(id), static_cast<unsigned long long>(records));
    }
  }
}

void LaunchesInFlight::drain(Handle context, bool failed) {
  std::vector<LaunchId> launches;
  {
    const HeldLock lock(mutex_);
    for (const InFlight& launch : in_flight_) {
      if (launch.context == context) {
        launches.push_back(launch.id);
      }
    }
  }
  for (const LaunchId id : launches) {
    if (failed) {
      end(id);
    } else {
      wait_for(id);
    }
  }
  const HeldLock lock(mutex_);
  reap(true);
  if (const auto area = areas_.find(context); area != areas_.end() && area->second != nullptr) {
    look_for_strays(*area->second);
    guarded_.clear();
  }
}

std::optional<std::vector<LaunchId>> LaunchesInFlight::try_in_flight() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) {
    return std::nullopt;
  }
  std::vector<LaunchId> launches;
  launches.reserve(in_flight_.size());
  for (const InFlight& launch : in_flight_) {
    launches.push_back(launch.id);
  }
  return launches;
}

void LaunchesInFlight::give_up_all() {
  for (const LaunchId id : try_in_flight().value_or(std::vector<LaunchId>())) {
    pipeline_.end_launch(id);
  }
}

bool LaunchesInFlight::check_arrived(std::chrono::milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  const std::optional<std::vector<LaunchId>> launches = try_in_flight();
  if (!launches) {
    return false;
  }
  // A kernel that stands still, or whose thread is in a signal's handler, logs nothing more.
  int quiet_slices = 0;
  for (const LaunchId id : *launches) {
    while (!wait_a_slice(id, kCheckSlice)) {
      quiet_slices = pipeline_.queued_bytes() == 0 ? quiet_slices + 1 : 0;
      if (quiet_slices == kQuietSlices || steady_clock::now() >= deadline) {
        return false;
      }
    }
  }
  return true;
}

WatchedLaunch LaunchesInFlight::first_unfinished(Handle context) {
  const HeldLock lock(mutex_);
  const auto first = std::ranges::find_if(in_flight_, [&](const InFlight& launch) {
    return launch.context == context && !pipeline_.is_over(launch.id);
  });
  if (first != in_flight_.end()) {
    return {.kernel = books_.kernel_of(first->id), .id = first->id};
  }
  const auto area = areas_.find(context);
  const std::optional<WatchedLaunch> strayed = area == areas_.end() || area->second == nullptr
                                                   ? std::nullopt
                                                   : look_for_strays(*area->second);
  return strayed ? *strayed : guarded_.size() == 1 ? guarded_.begin()->second : WatchedLaunch{};
}

std::vector<Handle> LaunchesInFlight::contexts() const {
  const HeldLock lock(mutex_);
  std::vector<Handle> contexts;
  contexts.reserve(areas_.size());
  for (const auto& [context, area] : areas_) {
    contexts.push_back(context);
  }
  return contexts;
}

void LaunchesInFlight::close_context(Handle context) {
  const HeldLock lock(mutex_);
  const auto area = areas_.find(context);
  if (area == areas_.end()) {
    return;
  }
  std::erase_if(in_flight_, [&](const InFlight& launch) { return launch.context == context; });
  DEBUG_ASSERT(is_valid());
  if (area->second != nullptr) {
    pipeline_.remove_queues(area->second->queues().rings);
  }
  areas_.erase(area);
}

void LaunchesInFlight::close(const std::string& reason) {
  const HeldLock lock(mutex_);
  closed_ = reason;
}

}  // namespace barracuda::session
