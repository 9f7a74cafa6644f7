// Without a seed: several host threads, each with one cluster at a time; one that has used up its
// slice goes to the end of the queue.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <tbb/info.h>
#include <tbb/task_arena.h>

#include "base/assert.h"
#include "base/own_workers.h"
#include "emulator/schedules/grid.h"
#include "emulator/schedules/polling.h"
#include "emulator/schedules/schedule.h"

namespace barracuda::emulator {

namespace {

constexpr std::uint64_t kClusterSlice = std::uint64_t{64} * 1024;
// Most clusters run to their end, or to where they must wait, before the next one begins. What
// hangs on two threads meeting (a lock that is taken, a flag that two find cleared) would not be
// seen so: the warps of the first clusters give way before some of their first strong accesses,
// each warp at its own pace, for in step they would come too late for each other again and again.
// Others then run as before, and see what those have left behind.
constexpr std::uint64_t kMeetingClusters = 4;
constexpr std::uint32_t kMeetings = 12, kPaces = 4;
// Waking a thread costs more than a launch of less than this: programs make a million such.
constexpr std::uint64_t kAlone = std::uint64_t{16} * 1024;
// Where several launches take turns.
constexpr std::uint64_t kShortSlice = 4096;
// A cluster's warps are watched when its slices end with polls, and else now and then; after so
// many short slices in which something happened, more rarely.
constexpr std::uint32_t kSlicesOfObservation = 64, kRarestLooks = 10;
constexpr std::uint64_t kWorkOfShortSlice = 1024;
constexpr std::uint32_t kFirstLook = 64;
constexpr std::uint64_t kPollsOn = std::uint64_t{1} << 18;

class ClusterQueue {
 public:
  ClusterQueue(Launch& launch, std::uint32_t workers)
      : launch_(launch), residency_(launch, workers), total_(cluster_count(launch)) {}

  // Before the first next(): clusters run on.
  void begin(const RunLimit& limit) {
    left_ = limit.work;
    result_.reset();
    gathers_ = false;
    polls_on_ = limit.polls_on ? kPollsOn : 0;
  }

  // After next() has given null to all: how it came.
  [[nodiscard]] RunResult result() const { return result_.value_or(RunResult::kEnded); }

  [[nodiscard]] bool is_outdated() const {
    return std::ranges::any_of(waiting_, [this](const auto& cluster) {
      return emulator::is_outdated(*cluster, launch_.memory);
    });
  }

  [[nodiscard]] const Cluster* stands() const {
    return waiting_.empty() ? nullptr : waiting_.front().get();
  }

  // A cluster that is to run next; null when all have ended, or are not to run on.
  std::unique_ptr<Cluster> next(Worker& worker) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (launch_.stop.load(std::memory_order_relaxed) || result_ ||
          (started_ == total_ && resident_ == 0)) {
        return nullptr;
      }
      if (gathers_) {
        changed_.wait(lock);
        continue;
      }
      if (started_ < total_ && (resident_ < residency_.limit() || started_ < kMeetingClusters)) {
        ++resident_;
        const std::uint64_t number = started_++;
        lock.unlock();
        return start(worker, number);
      }
      if (!waiting_.empty()) {
        std::unique_ptr<Cluster> cluster = std::move(waiting_.front());
        waiting_.pop_front();
        return cluster;
      }
      changed_.wait(lock);
    }
  }

  // `polled`: whether it did nothing else in the slice before the one that is over now.
  void suspend(std::unique_ptr<Cluster> cluster, std::uint64_t work, bool polled) {
    ASSERT(cluster != nullptr && cluster->number < total_);
    bool all = false;
    {
      const std::lock_guard lock(mutex_);
      polling_ = polling_ + (cluster->only_polls ? 1 : 0) - (polled ? 1 : 0);
      waiting_.push_back(std::move(cluster));
      residency_.ran(resident_);
      left_ -= std::min(left_, work);
      polls_on_ -= std::min(polls_on_, work);
      all = decide();
    }
    if (all) {
      changed_.notify_all();
    } else {
      changed_.notify_one();
    }
  }

  void ended(bool polled) {
    bool all = false;
    std::uint64_t were_resident = 0;
    {
      const std::lock_guard lock(mutex_);
      were_resident = resident_--;
      residency_.ended();
      polling_ -= polled ? 1 : 0;
      all = std::exchange(gathers_, false) || launch_.stop.load(std::memory_order_relaxed) ||
            (started_ == total_ && resident_ == 0);
    }
    ASSERT(were_resident != 0);
    if (all) {
      changed_.notify_all();
    } else {
      changed_.notify_one();
    }
  }

 private:
  // Whether clusters are run on, now that one was suspended. True: all are to hear of it.
  bool decide() {
    const bool gathered = std::exchange(gathers_, false);
    if (left_ == 0) {
      result_ = RunResult::kPaused;
      return true;
    }
    // No block is to come that a GPU would run beside these.
    const bool has_all = started_ == total_ || residency_.is_full();
    if (polls_on_ != 0 || polling_ != resident_ || !has_all) {
      return gathered;
    }
    if (waiting_.size() != resident_) {
      gathers_ = true;  // who still runs may see a change
    } else if (!is_outdated()) {
      result_ = RunResult::kPolling;
    }
    return gathered || result_;
  }

  std::unique_ptr<Cluster> start(Worker& worker, std::uint64_t number) {
    std::unique_ptr<Cluster> cluster =
        make_cluster(worker, launch_.is_reversed ? total_ - 1 - number : number);
    cluster->is_observed = cluster->only_polls = false;
    cluster->slices = cluster->looks = cluster->failures = 0;
    cluster->next_look = kFirstLook;
    if (number < kMeetingClusters && launch_.weak == nullptr) {
      for (const auto& cta : cluster->ctas) {
        for (const auto& warp : cta->warps) {
          warp->meetings = kMeetings;
          warp->meets_every = static_cast<std::uint32_t>(number + warp->index) % kPaces + 1;
        }
      }
    }
    return cluster;
  }

  Launch& launch_;
  Residency residency_;
  std::uint64_t total_, started_ = 0, resident_ = 0;
  std::deque<std::unique_ptr<Cluster>> waiting_;
  std::uint64_t left_ = 0;      // of the limit
  std::uint64_t polls_on_ = 0;  // so much is done before it matters that all poll
  std::uint64_t polling_ = 0;   // resident clusters that did nothing else in their last slice
  bool gathers_ = false;        // all seem to: nobody starts another slice before all have ended
  std::optional<RunResult> result_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

// The host threads that help the one that launches. They come late or not at all, and a launch that
// is over takes no more of them: what is left of it here does nothing.
class Crew {
 public:
  // False once the launch is over.
  bool join() {
    const std::lock_guard lock(mutex_);
    helping_ += is_over_ ? 0 : 1;
    return !is_over_;
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    if (--helping_ == 0) {
      left_.notify_all();
    }
  }

  void end() {
    std::unique_lock lock(mutex_);
    is_over_ = true;
    left_.wait(lock, [&] { return helping_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  std::uint32_t helping_ = 0;
  bool is_over_ = false;
};

// One for all launches: an arena costs memory until its threads have left it, and every arena that
// there is costs each of them time. More threads than there are are not asked for: TBB would say
// so.
tbb::task_arena& helpers() {
  static auto* const arena =
      new tbb::task_arena(std::max(1, tbb::info::default_concurrency() - 1), 0);
  static auto* const named = new OwnWorkers(*arena);
  (void)named;
  return *arena;
}

// Whether the cluster's next slice is watched.
void choose_observation(Worker& worker, Cluster& cluster) {
  if (!cluster.is_observed && cluster.slices >= cluster.next_look) {
    cluster.is_observed = true;
    cluster.looks = 0;
    forget_observations(cluster);
  }
  observe(worker.context, cluster.is_observed);
}

// What a slice was like.
struct SliceWork {
  std::uint64_t done = 0;
  bool polls = false;        // more than anything else
  bool is_observed = false;  // to its end
};

void note_slice(Cluster& cluster, const SliceWork& slice) {
  ++cluster.slices;
  if (cluster.is_observed) {
    cluster.only_polls = slice.is_observed && only_polls(cluster);
    const auto slices = slice.is_observed
                            ? static_cast<std::uint32_t>(slice.done / kWorkOfShortSlice + 1)
                            : kSlicesOfObservation;
    cluster.looks = cluster.only_polls ? 0 : cluster.looks + slices;
    if (cluster.looks >= kSlicesOfObservation) {
      cluster.is_observed = false;
      cluster.next_look = 2 * cluster.slices;
      ++cluster.failures;
    }
  } else if (slice.polls &&
             cluster.slices % (1U << std::min(cluster.failures, kRarestLooks)) == 0) {
    cluster.next_look = cluster.slices;
  }
}

// Calls `is_long` once, when the launch is worth more host threads.
void work(Launch& launch, ClusterQueue& queue, std::int32_t slice, std::function<void()> is_long) {
  Worker worker(launch);
  while (std::unique_ptr<Cluster> cluster = queue.next(worker)) {
    const std::uint64_t begin = worker.context.clock, fences = worker.context.fences;
    const bool polled = cluster->only_polls;
    choose_observation(worker, *cluster);
    const SliceResult result = run_slice(worker, *cluster, slice);
    if (is_long != nullptr && worker.context.clock >= kAlone) {
      std::exchange(is_long, nullptr)();
    }
    if (result == SliceResult::kEnded) {
      end_cluster(worker, std::move(cluster));
      queue.ended(polled);
      continue;
    }
    const std::uint64_t done = worker.context.clock - begin;
    const std::uint64_t fenced = (worker.context.fences - fences) * kPollCost;
    note_slice(*cluster, {.done = done,
                          .polls = result == SliceResult::kPolling || fenced > done,
                          .is_observed = worker.context.observer != nullptr});
    if (result == SliceResult::kPolling) {
      check_stalled(launch, *cluster);
    }
    check_deadline(launch, *cluster);
    queue.suspend(std::move(cluster), done, polled);
  }
  worker.account();
}

class WorkersSchedule : public Schedule {
 public:
  WorkersSchedule(Launch& launch, std::uint32_t workers)
      : launch_(launch), workers_(workers), queue_(launch, workers) {}

  RunResult run(const RunLimit& limit) override {
    queue_.begin(limit);
    const auto slice = static_cast<std::int32_t>(
        std::clamp<std::uint64_t>(limit.work, kShortSlice, kClusterSlice));
    if (workers_ == 1) {
      work(launch_, queue_, slice, nullptr);
      return queue_.result();
    }
    const auto crew = std::make_shared<Crew>();
    work(launch_, queue_, slice, [&] {
      const NamedAsOwn while_threads_start;
      for (std::uint32_t i = 1; i < workers_; ++i) {
        helpers().enqueue([this, slice, crew] {
          if (crew->join()) {
            work(launch_, queue_, slice, nullptr);
            crew->leave();
          }
        });
      }
    });
    crew->end();
    return queue_.result();
  }

  [[nodiscard]] bool is_outdated() const override { return queue_.is_outdated(); }

  [[nodiscard]] const Cluster* stands() const override { return queue_.stands(); }

 private:
  Launch& launch_;
  std::uint32_t workers_;
  ClusterQueue queue_;
};

}  // namespace

std::unique_ptr<Schedule> make_workers_schedule(Launch& launch, std::uint32_t workers) {
  // More than the machine has would only take turns.
  workers = std::min(workers, static_cast<std::uint32_t>(tbb::info::default_concurrency()));
  ASSERT(workers != 0);
  return std::make_unique<WorkersSchedule>(launch, workers);
}

}  // namespace barracuda::emulator
