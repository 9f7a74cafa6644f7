// Without a seed: several host threads, each with one CTA at a time; a CTA that has used up its
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

constexpr std::int32_t kCtaSlice = 64 * 1024;

class CtaQueue {
 public:
  CtaQueue(Launch& launch, std::uint32_t workers)
      : launch_(launch), residency_(launch, workers), total_(launch.config.grid.volume()) {}

  // A CTA that is to run next; null when all have ended.
  std::unique_ptr<Cta> next(Worker& worker) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (launch_.stop.load(std::memory_order_relaxed) || (started_ == total_ && resident_ == 0)) {
        return nullptr;
      }
      if (started_ < total_ && resident_ < residency_.limit()) {
        ++resident_;
        const std::uint64_t number = started_++;
        lock.unlock();
        return make_cta(worker, number);
      }
      if (!waiting_.empty()) {
        std::unique_ptr<Cta> cta = std::move(waiting_.front());
        waiting_.pop_front();
        return cta;
      }
      changed_.wait(lock);
    }
  }

  void suspend(std::unique_ptr<Cta> cta) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(cta));
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
  std::deque<std::unique_ptr<Cta>> waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

void work(Launch& launch, CtaQueue& queue) {
  Worker worker(launch);
  while (std::unique_ptr<Cta> cta = queue.next(worker)) {
    if (run_slice(worker, *cta, kCtaSlice) == SliceResult::kEnded) {
      end_cta(worker, std::move(cta));
      queue.ended();
    } else {
      check_deadline(launch);
      queue.suspend(std::move(cta));
    }
  }
  worker.account();
}

}  // namespace

void run_on_workers(Launch& launch, std::uint32_t workers) {
  // More than the machine has would only take turns.
  workers = std::min(workers, static_cast<std::uint32_t>(tbb::info::default_concurrency()));
  CtaQueue queue(launch, workers);
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
