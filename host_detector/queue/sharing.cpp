#include "host_detector/queue/sharing.h"

#include <algorithm>
#include <utility>

#include <tbb/parallel_for.h>

#include "base/assert.h"

namespace barracuda::detector {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kSharesOfThread = 8;  // of a round, so that none waits long for the last

}  // namespace

// The piece that is next, and what was done.
struct Sharing::Round {
  std::size_t count = 0;
  std::uint32_t sharers = 1;
  std::size_t at_once = 1;  // pieces that a thread takes
  bool may_meet = false;
  std::uint64_t contentions_before = 0;
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint32_t> left{0};  // threads that left it to the others
  std::atomic<std::uint64_t> records{0};
};

Sharing::Sharing(std::uint32_t threads, std::size_t least_bytes, Contentions contentions)
    : threads_(threads),
      least_bytes_(least_bytes),
      contentions_(std::move(contentions)),
      arena_(static_cast<int>(threads)),
      workers_(arena_),
      sharers_(threads) {
  ASSERT(threads >= 1 && contentions_ != nullptr);
}

// Threads that want the same memory at the same time hinder each other: then all but one leave, one
// by one.
bool Sharing::should_leave(Round& round) const {
  constexpr std::uint64_t kFew = 256;
  if (!round.may_meet) {
    return false;
  }
  const std::uint64_t contentions = contentions_() - round.contentions_before;
  const std::uint64_t bearable = round.records / 8 + kFew;
  if (contentions / bearable <= round.left) {
    return false;
  }
  std::uint32_t left = round.left;
  return left + 1 < round.sharers && round.left.compare_exchange_strong(left, left + 1);
}

void Sharing::do_some(const Work& work, Round& round) const {
  do {
    const std::size_t first = round.next.fetch_add(round.at_once);
    if (first >= round.count) {
      return;
    }
    const std::size_t past = std::min(first + round.at_once, round.count);
    std::uint64_t records = 0;
    for (std::size_t piece = first; piece < past; ++piece) {
      records += work(piece);
    }
    round.records += records;
  } while (!should_leave(round));
}

void Sharing::share_out(const Work& work, Round& round) {
  const SteadyClock::time_point start = SteadyClock::now();
  std::atomic<SteadyClock::rep> of_threads{0};
  rounds_begun_.fetch_add(1, std::memory_order_release);
  const NamedAsOwn while_threads_start;
  arena_.execute([&] {
    tbb::parallel_for(
        0U, round.sharers,
        [&](std::uint32_t /*thread*/) {
          static_cast<void>(rounds_begun_.load(std::memory_order_acquire));
          const SteadyClock::time_point thread_start = SteadyClock::now();
          do_some(work, round);
          of_threads += (SteadyClock::now() - thread_start).count();
        },
        tbb::simple_partitioner());
  });
  time_.wall += SteadyClock::now() - start;
  time_.of_threads += SteadyClock::duration(of_threads);
}

void Sharing::run(std::size_t bytes, const Work& work, Round& round) {
  if (bytes < least_bytes_ || round.count <= 1) {
    do_some(work, round);
  } else {
    share_out(work, round);
  }
  ASSERT(round.next >= round.count && round.left < round.sharers);  // nothing is left undone
}

void Sharing::for_each(std::size_t count, std::size_t bytes, const Work& work) {
  Round round{.count = count, .sharers = sharers_, .may_meet = true};
  round.at_once = std::max<std::size_t>(1, count / (sharers_ * kSharesOfThread));
  round.contentions_before = contentions_();
  run(bytes, work, round);
  sharers_ =
      round.left != 0 ? std::max(1U, sharers_ - round.left) : std::min(threads_, sharers_ * 2);
  ASSERT(sharers_ >= 1 && sharers_ <= threads_);
}

void Sharing::for_each_apart(std::size_t count, std::size_t bytes, const Work& work) {
  Round round{.count = count, .sharers = threads_};
  run(bytes, work, round);
}

}  // namespace barracuda::detector
