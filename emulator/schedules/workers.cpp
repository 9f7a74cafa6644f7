// Without a seed: several host threads, each with one cluster at a time; one that has used up its
// slice goes to the end of the queue.
#include <algorithm>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include <tbb/info.h>
#include <tbb/task_arena.h>

#include "base/assert.h"
#include "base/own_workers.h"
#include "emulator/schedules/grid.h"

namespace barracuda::emulator {

namespace {

constexpr std::int32_t kClusterSlice = 64 * 1024;
// Most clusters run to their end, or to where they must wait, before the next one begins. What
// hangs on two threads meeting (a lock that is taken, a flag that two find cleared) would not be
// seen so: the warps of the first clusters give way before some of their first strong accesses,
// each warp at its own pace, for in step they would come too late for each other again and again.
// Others then run as before, and see what those have left behind.
constexpr std::uint64_t kMeetingClusters = 4;
constexpr std::uint32_t kMeetings = 12, kPaces = 4;
// Waking a thread costs more than a launch of less than this: programs make a million such.
constexpr std::uint64_t kAlone = 16 * 1024;

class ClusterQueue {
 public:
  ClusterQueue(Launch& launch, std::uint32_t workers)
      : launch_(launch), residency_(launch, workers), total_(cluster_count(launch)) {}

  // A cluster that is to run next; null when all have ended.
  std::unique_ptr<Cluster> next(Worker& worker) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (launch_.stop.load(std::memory_order_relaxed) || (started_ == total_ && resident_ == 0)) {
        return nullptr;
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

  void suspend(std::unique_ptr<Cluster> cluster) {
    ASSERT(cluster != nullptr && cluster->number < total_);
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(cluster));
      residency_.ran(resident_);
    }
    changed_.notify_one();
  }

  void ended() {
    bool all = false;
    std::uint64_t were_resident = 0;
    {
      const std::lock_guard lock(mutex_);
      were_resident = resident_--;
      residency_.ended();
      all = launch_.stop.load(std::memory_order_relaxed) || (started_ == total_ && resident_ == 0);
    }
    ASSERT(were_resident != 0);
    if (all) {
      changed_.notify_all();
    } else {
      changed_.notify_one();
    }
  }

 private:
  std::unique_ptr<Cluster> start(Worker& worker, std::uint64_t number) {
    std::unique_ptr<Cluster> cluster =
        make_cluster(worker, launch_.is_reversed ? total_ - 1 - number : number);
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

// Calls `is_long` once, when the launch is worth more host threads.
void work(Launch& launch, ClusterQueue& queue, std::function<void()> is_long) {
  Worker worker(launch);
  while (std::unique_ptr<Cluster> cluster = queue.next(worker)) {
    const SliceResult result = run_slice(worker, *cluster, kClusterSlice);
    if (is_long != nullptr && worker.context.clock >= kAlone) {
      std::exchange(is_long, nullptr)();
    }
    if (result == SliceResult::kEnded) {
      end_cluster(worker, std::move(cluster));
      queue.ended();
      continue;
    }
    if (result == SliceResult::kPolling) {
      check_stalled(launch, *cluster);
    }
    check_deadline(launch, *cluster);
    queue.suspend(std::move(cluster));
  }
  worker.account();
}

}  // namespace

void run_on_workers(Launch& launch, std::uint32_t workers) {
  // More than the machine has would only take turns.
  workers = std::min(workers, static_cast<std::uint32_t>(tbb::info::default_concurrency()));
  ASSERT(workers != 0);
  ClusterQueue queue(launch, workers);
  if (workers == 1) {
    work(launch, queue, nullptr);
    return;
  }
  const auto crew = std::make_shared<Crew>();
  work(launch, queue, [&] {
    const NamedAsOwn while_threads_start;
    for (std::uint32_t i = 1; i < workers; ++i) {
      helpers().enqueue([&launch, &queue, crew] {
        if (crew->join()) {
          work(launch, queue, nullptr);
          crew->leave();
        }
      });
    }
  });
  crew->end();
}

}  // namespace barracuda::emulator
