#include "host_detector/pipeline.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "host_detector/queue/drain.h"
#include "host_detector/queue/ordering.h"

namespace barracuda::detector {
namespace {

constexpr std::chrono::milliseconds kTakeTimeout{20};

}  // namespace

struct Pipeline::State {
  explicit State(const PipelineOptions& pipeline_options)
      : options(pipeline_options), detector(options.detector) {}

  ~State();

  PipelineOptions options;
  // Guards everything up to `started`.
  mutable std::mutex mutex;
  std::condition_variable changed;  // batches_done, or a launch is over
  Detector detector;
  Ordering ordering{detector};
  PipelineStatistics statistics;
  std::uint64_t batches_done = 0;

  // Threads exist only where there are queues, so that a process without kernels has none.
  std::once_flag started;
  std::unique_ptr<Drain> drain;
  std::thread detection;
  std::atomic<bool> is_stopping{false};

  void start();
  void detect();
  void apply(const DrainedBatch& batch);
  void on_idle();
  // Waits until what is complete in the queues now was applied or parked.
  void settle();
};

Pipeline::State::~State() {
  if (drain == nullptr) {
    return;
  }
  is_stopping = true;
  drain->stop();
  detection.join();
}

void Pipeline::State::start() {
  std::call_once(started, [this] {
    drain = std::make_unique<Drain>(options.drain_threads, options.max_parked_bytes);
    detection = std::thread([this] { detect(); });
  });
}

void Pipeline::State::apply(const DrainedBatch& batch) {
  std::size_t offset = 0;
  for (const std::uint32_t slots : batch.records.slots) {
    const std::size_t bytes = slots * wire::kSlotBytes;
    ordering.take(batch.group->counters, std::span(batch.records.bytes).subspan(offset, bytes));
    offset += bytes;
  }
  statistics.records += batch.records.slots.size();
  statistics.parked_peak = std::max<std::uint64_t>(statistics.parked_peak, ordering.parked_bytes());
}

void Pipeline::State::on_idle() {
  for (const auto& group : drain->groups()) {
    while (ordering.skip_hole(group->counters)) {
    }
  }
}

void Pipeline::State::detect() {
  while (!is_stopping) {
    const std::optional<DrainedBatch> batch = drain->take(kTakeTimeout);
    const std::lock_guard lock(mutex);
    if (batch) {
      apply(*batch);
      ++batches_done;
    } else {
      on_idle();
    }
    drain->set_held_bytes(ordering.parked_bytes());
    changed.notify_all();
  }
}

void Pipeline::State::settle() {
  if (drain == nullptr) {
    return;
  }
  drain->sweep();
  const std::uint64_t wanted = drain->batches();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return is_stopping || batches_done >= wanted; });
}

Pipeline::Pipeline(const PipelineOptions& options) : state_(std::make_unique<State>(options)) {}

Pipeline::~Pipeline() = default;

void Pipeline::add_queues(const QueueSet& queues) {
  state_->start();
  state_->drain->add(std::make_shared<QueueGroup>(queues));
}

void Pipeline::remove_queues(const std::byte* rings) {
  if (state_->drain == nullptr) {
    return;
  }
  state_->settle();
  state_->drain->remove(rings);
  state_->settle();
}

void Pipeline::add_sites(wire::SiteId first, std::span<const wire::SiteInfo> sites) {
  const std::lock_guard lock(state_->mutex);
  state_->detector.add_sites(first, sites);
}

void Pipeline::begin_launch(const LaunchInfo& launch) {
  const std::lock_guard lock(state_->mutex);
  state_->ordering.begin_launch(launch);
}

bool Pipeline::wait_for(LaunchId launch, std::chrono::milliseconds timeout) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, timeout,
                                  [&] { return state_->detector.launch_over(launch); });
}

void Pipeline::end_launch(LaunchId launch) {
  state_->settle();
  const std::lock_guard lock(state_->mutex);
  state_->ordering.end_launch(launch);
  state_->changed.notify_all();
}

void Pipeline::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(state_->mutex);
  state_->detector.forget(address, bytes);
}

Findings Pipeline::findings() const {
  const std::lock_guard lock(state_->mutex);
  return state_->detector.findings();
}

PipelineStatistics Pipeline::statistics() const {
  const std::lock_guard lock(state_->mutex);
  PipelineStatistics statistics = state_->statistics;
  statistics.rejected = state_->detector.rejected() + state_->ordering.rejected();
  if (state_->drain != nullptr) {
    statistics.slots = state_->drain->slots();
    statistics.rejected += state_->drain->malformed();
  }
  return statistics;
}

void Pipeline::abandon() {
  const PipelineOptions options = state_->options;
  // Its threads and locks are those of another process: leaked on purpose.
  static_cast<void>(state_.release());
  state_ = std::make_unique<State>(options);
}

}  // namespace barracuda::detector
