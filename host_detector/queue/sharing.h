// Shares the pieces of a round out among threads, as long as that is worth it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <tbb/task_arena.h>

#include "base/own_workers.h"

namespace barracuda::detector {

class Sharing {
 public:
  // How long several threads worked at once, and how long that was for all of them together.
  struct Time {
    std::chrono::nanoseconds wall{}, of_threads{};
  };

  // Does a piece and says how many records that was.
  using Work = std::function<std::uint64_t(std::size_t piece)>;
  // How often threads have waited for each other's memory.
  using Contentions = std::function<std::uint64_t()>;

  // Rounds of less than `least_bytes` are left to one thread: waking others takes some
  // microseconds.
  Sharing(std::uint32_t threads, std::size_t least_bytes, Contentions contentions);

  // Does the pieces 0 to `count` - 1, of `bytes` in all. Neighbours, which tend to share memory,
  // are mostly done by one thread; threads that meet too often leave it to the others.
  void for_each(std::size_t count, std::size_t bytes, const Work& work);
  // The same of pieces that share no memory.
  void for_each_apart(std::size_t count, std::size_t bytes, const Work& work);

  [[nodiscard]] const Time& time() const { return time_; }

 private:
  struct Round;

  void run(std::size_t bytes, const Work& work, Round& round);
  void share_out(const Work& work, Round& round);
  void do_some(const Work& work, Round& round) const;
  [[nodiscard]] bool should_leave(Round& round) const;

  const std::uint32_t threads_;
  const std::size_t least_bytes_;
  const Contentions contentions_;
  tbb::task_arena arena_;
  OwnWorkers workers_;
  std::uint32_t sharers_;  // threads of a round
  // Orders what precedes a round before it, as tbb does where ThreadSanitizer cannot see it.
  std::atomic<std::uint64_t> rounds_begun_{0};
  Time time_;
};

}  // namespace barracuda::detector
