// Without a seed: several host threads, each with one cluster at a time; one that has used up its
// slice goes to the end of the queue.
#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <tbb/info.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "emulator/schedules/grid.h"

namespace barracuda::emulator {

namespace {

constexpr std::int32_t kClusterSlice = 64 * 1024;

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
      if (started_ < total_ && resident_ < residency_.limit()) {
        ++resident_;
        const std::uint64_t number = started_++;
        lock.unlock();
        return make_cluster(worker, number);
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
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(cluster));
      residency_.ran(resident_);
    }
    changed_.notify_one();
  }

  void ended() {
    bool all = false;
    {
      const std::lock_guard lock(mutex_);
      --resident_;
      residency_.ended();
      all = launch_.stop.load(std::memory_order_relaxed) || (started_ == total_ && resident_ == 0);
    }
    if (all) {
      changed_.notify_all();
    } else {
      changed_.notify_one();
    }
  }

 private:
  Launch& launch_;
  Residency residency_;
  std::uint64_t total_, started_ = 0, resident_ = 0;
  std::deque<std::unique_ptr<Cluster>> waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

void work(Launch& launch, ClusterQueue& queue) {
  Worker worker(launch);
  while (std::unique_ptr<Cluster> cluster = queue.next(worker)) {
    const SliceResult result = run_slice(worker, *cluster, kClusterSlice);
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
  ClusterQueue queue(launch, workers);
  if (workers == 1) {
    work(launch, queue);
    return;
  }
  tbb::task_arena arena(static_cast<int>(workers));
  arena.execute([&] {
    tbb::task_group group;
    for (std::uint32_t i = 1; i < workers; ++i) {
      group.run([&] { work(launch, queue); });
    }
    work(launch, queue);
    group.wait();
  });
}

}  // namespace barracuda::emulator
