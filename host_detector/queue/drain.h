// The threads that empty the queues. They never wait for detection: what they read goes into a list
// that the detection thread takes from, up to limits of bytes, beyond which the device waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "host_detector/pipeline.h"
#include "host_detector/queue/order_counters.h"
#include "host_detector/queue/ring_reader.h"

namespace barracuda::detector {

// The queues of one device context, and the order numbers that its kernels share.
struct QueueGroup {
  explicit QueueGroup(const QueueSet& queues);

  QueueSet set;
  std::vector<RingReader> readers;
  OrderCounters counters;  // the detection thread's
  std::atomic<bool> is_removed{false};
};

struct DrainedBatch {
  std::shared_ptr<QueueGroup> group;
  const RingReader* ring = nullptr;
  RecordBatch records;  // of this ring
};

class Drain {
 public:
  // Bytes of records that have not been taken yet, and of those that the taker holds.
  struct Limits {
    std::size_t queued = 0, held = 0;
  };

  Drain(std::uint32_t threads, const Limits& limits);
  ~Drain();
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;

  void add(std::shared_ptr<QueueGroup> group);
  // The group is not read any more when this returns. False if it is not there.
  std::shared_ptr<QueueGroup> remove(const std::byte* rings);
  // Returns when every record that was complete when it was called has been read.
  void sweep();

  // For the detection thread: the next batches, as many as are worth a round of detection; none
  // after `timeout` or when stopped.
  std::vector<DrainedBatch> take(std::chrono::milliseconds timeout);

  void set_held_bytes(std::size_t bytes) { held_bytes_.store(bytes, std::memory_order_relaxed); }

  void stop();

  // No batch is taken any more: what is read is dropped, so that no kernel waits for the host.
  void discard() { discards_ = true; }

  // Batches made since the beginning.
  [[nodiscard]] std::uint64_t batches() const;

  // Of records that have not been taken yet.
  [[nodiscard]] std::size_t queued_bytes() const {
    return queued_bytes_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t slots() const { return slots_.load(std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t malformed() const {
    return malformed_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] std::vector<std::shared_ptr<QueueGroup>> groups() const;

 private:
  static constexpr std::size_t kBatchSlots = 4096;
  static constexpr std::size_t kMostBatchesAtOnce = 32;
  static constexpr std::size_t kMostBytesAtOnce = std::size_t{1} << 20;

  void run(std::uint32_t thread);
  bool read_all(std::uint32_t thread, const std::vector<std::shared_ptr<QueueGroup>>& groups);
  bool read_rounds(std::uint32_t thread, const std::vector<std::shared_ptr<QueueGroup>>& groups);
  bool read_one(const std::shared_ptr<QueueGroup>& group, RingReader& reader,
                std::vector<DrainedBatch>& read);
  void hand_over(std::vector<DrainedBatch>& read);

  std::uint32_t thread_count_;
  Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;  // batches_ or stopped_
  std::condition_variable swept_;
  std::vector<std::shared_ptr<QueueGroup>> groups_;
  std::deque<DrainedBatch> batches_;
  std::uint64_t batches_made_ = 0;
  // Sweeps asked for, and which of them each thread has finished.
  std::uint64_t sweeps_wanted_ = 0;
  std::vector<std::uint64_t> sweeps_done_;
  bool stopped_ = false;
  std::atomic<std::size_t> queued_bytes_{0}, held_bytes_{0};
  std::atomic<std::uint64_t> slots_{0}, malformed_{0};
  std::atomic<bool> discards_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace barracuda::detector
