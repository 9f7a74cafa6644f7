#include "host_detector/queue/drain.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "base/own_thread.h"
#include "device_logger/launch_descriptor.h"
#include "host_detector/queue/idle_wait.h"

namespace barracuda::detector {

QueueGroup::QueueGroup(const QueueSet& queues) : set(queues) {
  ASSERT(set.queue_count != 0 && set.slots_log2 < 32);
  readers.reserve(set.queue_count);
  for (std::size_t queue = 0; queue < set.queue_count; ++queue) {
    readers.emplace_back(set.rings + queue * (wire::kSlotBytes << set.slots_log2), set.slots_log2,
                         set.read_positions + queue * wire::kReadPositionStride);
  }
}

Drain::Drain(std::uint32_t threads, const Limits& limits)
    : thread_count_(std::max<std::uint32_t>(1, threads)),
      limits_(limits),
      sweeps_done_(thread_count_) {
  for (std::uint32_t thread = 0; thread < thread_count_; ++thread) {
    threads_.emplace_back([this, thread] { run(thread); });
  }
}

Drain::~Drain() {
  stop();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void Drain::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  arrived_.notify_all();
  swept_.notify_all();
}

void Drain::add(std::shared_ptr<QueueGroup> group) {
  const std::lock_guard lock(mutex_);
  groups_.push_back(std::move(group));
}

std::shared_ptr<QueueGroup> Drain::remove(const std::byte* rings) {
  std::shared_ptr<QueueGroup> removed;
  {
    const std::lock_guard lock(mutex_);
    const auto place =
        std::ranges::find_if(groups_, [&](const auto& group) { return group->set.rings == rings; });
    if (place == groups_.end()) {
      return nullptr;
    }
    removed = *place;
    groups_.erase(place);
  }
  sweep();  // every thread has begun a round without it
  return removed;
}

void Drain::sweep() {
  std::unique_lock lock(mutex_);
  const std::uint64_t wanted = ++sweeps_wanted_;
  swept_.wait(lock, [&] {
    return stopped_ ||
           std::ranges::all_of(sweeps_done_, [&](std::uint64_t done) { return done >= wanted; });
  });
}

std::uint64_t Drain::batches() const {
  const std::lock_guard lock(mutex_);
  return batches_made_;
}

std::vector<std::shared_ptr<QueueGroup>> Drain::groups() const {
  const std::lock_guard lock(mutex_);
  return groups_;
}

bool Drain::read_one(const std::shared_ptr<QueueGroup>& group, RingReader& reader,
                     std::vector<DrainedBatch>& read) {
  DEBUG_ASSERT(group != nullptr);
  DrainedBatch batch{.group = group, .ring = &reader, .records = {}};
  const std::uint64_t malformed_before = reader.malformed();
  const std::size_t slots = reader.read(batch.records, kBatchSlots);
  if (slots == 0) {
    return false;
  }
  reader.publish();
  slots_.fetch_add(slots, std::memory_order_relaxed);
  malformed_.fetch_add(reader.malformed() - malformed_before, std::memory_order_relaxed);
  if (!batch.records.slots.empty() && !discards_.load(std::memory_order_relaxed)) {
    read.push_back(std::move(batch));
  }
  return true;
}

// Those of many queues at once: a queue of a GPU often has one record alone, and to wake the
// detection thread costs as much as some ten of them.
void Drain::hand_over(std::vector<DrainedBatch>& read) {
  if (read.empty()) {
    return;
  }
  std::size_t bytes = 0;
  for (const DrainedBatch& batch : read) {
    bytes += batch.records.bytes.size();
  }
  queued_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    batches_made_ += read.size();
    std::ranges::move(read, std::back_inserter(batches_));
  }
  arrived_.notify_one();
  read.clear();
}

bool Drain::read_all(std::uint32_t thread, const std::vector<std::shared_ptr<QueueGroup>>& groups) {
  bool found = false;
  std::size_t number = 0;
  std::vector<DrainedBatch> read;
  for (const auto& group : groups) {
    for (RingReader& reader : group->readers) {
      if (number++ % thread_count_ == thread) {
        found = read_one(group, reader, read) || found;
      }
      if (read.size() == kMostBatchesAtOnce) {
        hand_over(read);
      }
    }
  }
  hand_over(read);
  return found;
}

// Until the queues are empty, or everything that was in them at the beginning is read.
bool Drain::read_rounds(std::uint32_t thread,
                        const std::vector<std::shared_ptr<QueueGroup>>& groups) {
  std::size_t rounds = 0;
  for (const auto& group : groups) {
    rounds = std::max(rounds, (std::size_t{1} << group->set.slots_log2) / kBatchSlots + 2);
  }
  bool found = false;
  while (rounds-- > 0 && read_all(thread, groups)) {
    found = true;
  }
  return found;
}

void Drain::run(std::uint32_t thread) {
  name_own_thread();
  IdleWait idle;
  for (;;) {
    std::vector<std::shared_ptr<QueueGroup>> groups;
    std::uint64_t sweep = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) {
        return;
      }
      groups = groups_;
      sweep = sweeps_wanted_;
    }
    const bool is_held_up = held_bytes_.load(std::memory_order_relaxed) >= limits_.held;
    const std::size_t queued = queued_bytes();
    // With nothing queued, what is held may wait for what is still in a ring.
    const bool may_read = discards_.load(std::memory_order_relaxed) ||
                          (queued < limits_.queued && (!is_held_up || queued == 0));
    const bool found = may_read && read_rounds(thread, groups);
    {
      const std::lock_guard lock(mutex_);
      if ((may_read || is_held_up) && sweeps_done_[thread] < sweep) {
        sweeps_done_[thread] = sweep;
        swept_.notify_all();
      }
    }
    if (found) {
      idle.reset();
    } else {
      idle.wait();
    }
  }
}

std::vector<DrainedBatch> Drain::take(std::chrono::milliseconds timeout) {
  std::vector<DrainedBatch> taken;
  std::size_t bytes = 0;
  {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, timeout, [&] { return stopped_ || !batches_.empty(); });
    for (; !batches_.empty() && bytes < kMostBytesAtOnce; batches_.pop_front()) {
      bytes += batches_.front().records.bytes.size();
      taken.push_back(std::move(batches_.front()));
    }
  }
  const std::size_t queued = queued_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  ASSERT(queued >= bytes);
  return taken;
}

}  // namespace barracuda::detector
