#include "host_detector/pipeline.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/held_lock.h"
#include "base/own_thread.h"
#include "host_detector/queue/drain.h"
#include "host_detector/queue/ordering.h"
#include "host_detector/queue/quiet_tables.h"
#include "host_detector/queue/record_sample.h"

namespace barracuda::detector {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTakeTimeout{20};
// A program that launches small kernels without a pause always has one batch more: what it has kept
// is detected nevertheless.
constexpr std::chrono::milliseconds kLongestGathering{50};
// How often the blocks of running kernels are looked through, while nothing is logged.
constexpr std::chrono::milliseconds kDeadlockLookEvery{250};
constexpr std::size_t kBusiestSites = 400;

}  // namespace

struct Pipeline::State {
  explicit State(PipelineOptions pipeline_options)
      : options(std::move(pipeline_options)), detector(make_detector(options.detector)) {
    detector->limit_races(options.race_limit,
                          [this](wire::SiteId site) { quiet_tables.make_quiet(site); });
  }

  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  PipelineOptions options;

  // What a program's own threads must not wait for the detector to do: they leave it here, and it
  // is done before the next record, which can only be of launches that are known by then.
  struct Inbox {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::function<void(State&)>> tasks;
    LaunchId newest{};                            // of those that have begun
    boost::unordered_flat_set<LaunchId> running;  // begun and not over, as far as is known

    [[nodiscard]] bool is_over(LaunchId launch) const {
      return launch <= newest && !running.contains(launch);
    }
  };

  Inbox inbox;
  QuietTables quiet_tables;
  // Guards everything up to `started`. Taken as Locked by all but the detection thread.
  mutable std::mutex mutex;
  mutable std::atomic<std::uint32_t> callers{0};  // that wait for the mutex
  std::condition_variable changed;                // batches_done
  const std::unique_ptr<Detector> detector;
  Ordering ordering{*detector,
                    {.observer = options.observer,
                     .threads = options.detector_threads,
                     .late_after = options.late_after,
                     .now = options.now}};
  PipelineStatistics statistics;
  RecordSample sample;
  std::uint64_t batches_done = 0;

  // Threads exist only where there are queues, so that a process without kernels has none.
  std::once_flag started;
  SteadyClock::time_point start_time;
  std::unique_ptr<Drain> drain;
  std::atomic<const Drain*> started_drain{nullptr};  // for who may not wait for the start
  std::thread detection;
  std::atomic<bool> is_stopping{false};
  boost::unordered_flat_set<LaunchId> known_deadlocks;
  SteadyClock::time_point next_deadlock_look{};

  void start();
  class Locked;  // holds the mutex
  void leave(std::function<void(State&)> task);
  void do_tasks();
  void publish_ended();
  void detect();
  void apply(DrainedBatch& batch);
  void on_idle();
  void abandon_detection();
  std::vector<LaunchId> find_new_deadlocks(SteadyClock::time_point now);
  // Waits until what is complete in the queues now was applied or parked.
  void catch_up();
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
    start_time = SteadyClock::now();
    drain = std::make_unique<Drain>(
        options.drain_threads,
        Drain::Limits{.queued = options.max_queued_bytes, .held = options.max_parked_bytes});
    started_drain = drain.get();
    detection = std::thread([this] { detect(); });
  });
}

// With all that was left done. The detection thread, which locks again and again, makes way.
class Pipeline::State::Locked {
 public:
  explicit Locked(State& state) : state_(announced(state)), held_(state.mutex) {
    --state_.callers;
    state_.do_tasks();
  }

 private:
  static State& announced(State& state) {
    ++state.callers;
    return state;
  }

  State& state_;
  const HeldLock held_;
};

// An assertion has failed in the detection thread, which is stuck there: others must not wait for
// it.
void Pipeline::State::abandon_detection() {
  is_stopping = true;
  drain->discard();
  changed.notify_all();
  const std::lock_guard held(inbox.mutex);
  inbox.running.clear();
  inbox.changed.notify_all();
}

void Pipeline::State::leave(std::function<void(State&)> task) {
  const std::lock_guard held(inbox.mutex);
  inbox.tasks.push_back(std::move(task));
}

void Pipeline::State::do_tasks() {
  std::vector<std::function<void(State&)>> tasks;
  {
    const std::lock_guard held(inbox.mutex);
    tasks.swap(inbox.tasks);
  }
  for (const auto& task : tasks) {
    task(*this);
  }
  publish_ended();
}

void Pipeline::State::publish_ended() {
  const std::vector<LaunchId> ended = ordering.take_ended();
  if (ended.empty()) {
    return;
  }
  const std::lock_guard held(inbox.mutex);
  for (const LaunchId launch : ended) {
    inbox.running.erase(launch);
  }
  inbox.changed.notify_all();
}

void Pipeline::State::apply(DrainedBatch& batch) {
  statistics.records += batch.records.slots.size();
  sample.take(batch.records);
  quiet_tables.drop_from(batch.records);
  if (batch.records.slots.empty()) {
    return;
  }
  ordering.take(batch.group->counters, batch.ring, std::move(batch.records));
  statistics.parked_peak = std::max<std::uint64_t>(statistics.parked_peak, ordering.parked_bytes());
}

void Pipeline::State::on_idle() {
  if (options.observer != nullptr) {
    options.observer->queues_idle();
  }
  for (const auto& group : drain->groups()) {
    while (ordering.skip_hole(group->counters)) {
    }
  }
}

std::vector<LaunchId> Pipeline::State::find_new_deadlocks(SteadyClock::time_point now) {
  std::vector<LaunchId> found;
  if (options.on_deadlock == nullptr || now < next_deadlock_look) {
    return found;
  }
  next_deadlock_look = now + kDeadlockLookEvery;
  for (const LaunchId launch : detector->find_deadlocked()) {
    if (known_deadlocks.insert(launch).second) {
      found.push_back(launch);
    }
  }
  return found;
}

void Pipeline::State::detect() {
  name_own_thread();
  std::vector<LateLaunch> all_late;
  std::vector<LaunchId> deadlocks;
  std::uint64_t told_changes = 0;
  while (!is_stopping) {
    if (const std::uint64_t changes = detector->finding_changes();
        std::exchange(told_changes, changes) != changes && options.on_finding != nullptr) {
      options.on_finding();
    }
    for (const LateLaunch& late : all_late) {
      options.on_late(late);
    }
    for (const LaunchId launch : std::exchange(deadlocks, {})) {
      options.on_deadlock(launch);
    }
    std::vector<DrainedBatch> taken = drain->take(kTakeTimeout);
    while (callers != 0) {
      std::this_thread::yield();
    }
    const HeldLock held(
        mutex, [](void* state) { static_cast<State*>(state)->abandon_detection(); }, this);
    if (taken.empty()) {
      do_tasks();
      on_idle();
      deadlocks = find_new_deadlocks(SteadyClock::now());
    }
    const SteadyClock::time_point start = SteadyClock::now();
    std::uint64_t batches = 0;
    while (!taken.empty()) {
      do_tasks();
      for (DrainedBatch& batch : taken) {
        apply(batch);
      }
      batches += taken.size();
      const bool goes_on =
          ordering.has_kept() && callers == 0 && SteadyClock::now() - start < kLongestGathering;
      taken = goes_on ? drain->take(std::chrono::milliseconds(0)) : std::vector<DrainedBatch>();
    }
    ordering.go_on();
    const SteadyClock::time_point end = SteadyClock::now();
    statistics.busy += end - start;
    batches_done += batches;
    publish_ended();
    all_late = ordering.find_late(options.now());
    for (LateLaunch& late : all_late) {
      late.waiting_bytes += drain->queued_bytes();
    }
    drain->set_held_bytes(ordering.parked_bytes());
    changed.notify_all();
  }
}

void Pipeline::State::catch_up() {
  if (drain == nullptr) {
    return;
  }
  drain->sweep();
  const std::uint64_t wanted = drain->batches();
  {
    const Locked held(*this);
  }
  ++callers;
  std::unique_lock waiting(mutex);
  --callers;
  changed.wait(waiting, [&] { return is_stopping || batches_done >= wanted; });
}

Pipeline::Pipeline(const PipelineOptions& options) : state_(std::make_unique<State>(options)) {}

Pipeline::~Pipeline() = default;

void Pipeline::add_queues(const QueueSet& queues) {
  state_->start();
  state_->quiet_tables.add(queues.quiet_sites);
  state_->drain->add(std::make_shared<QueueGroup>(queues));
}

void Pipeline::remove_queues(const std::byte* rings) {
  if (state_->drain == nullptr) {
    return;
  }
  state_->catch_up();
  const std::shared_ptr<QueueGroup> removed = state_->drain->remove(rings);
  state_->catch_up();
  if (removed != nullptr) {
    state_->quiet_tables.remove(removed->set.quiet_sites);
  }
}

void Pipeline::add_sites(wire::SiteId first, std::span<const wire::SiteInfo> sites) {
  state_->leave([first, sites = std::vector(sites.begin(), sites.end())](State& state) {
    if (state.options.observer != nullptr) {
      state.options.observer->sites_added(first, sites);
    }
    state.detector->add_sites(first, sites);
  });
}

void Pipeline::add_tensor_map(std::uint64_t number, const TensorMap& map) {
  state_->leave([number, map](State& state) {
    if (state.options.observer != nullptr) {
      state.options.observer->tensor_map_added(number, map);
    }
    state.detector->add_tensor_map(number, map);
  });
}

void Pipeline::begin_launch(const LaunchInfo& launch) {
  {
    const std::lock_guard held(state_->inbox.mutex);
    state_->inbox.newest = std::max(state_->inbox.newest, launch.id);
    state_->inbox.running.insert(launch.id);
  }
  state_->leave([launch](State& state) { state.ordering.begin_launch(launch); });
}

void Pipeline::begin_copy(const CopyInfo& copy) {
  state_->leave([copy](State& state) { state.ordering.begin_copy(copy); });
  if (state_->drain == nullptr) {
    const State::Locked held(*state_);  // nobody else would ever do it
  }
}

bool Pipeline::wait_for(LaunchId launch, std::chrono::milliseconds timeout) {
  std::unique_lock held(state_->inbox.mutex);
  return state_->inbox.changed.wait_for(held, timeout,
                                        [&] { return state_->inbox.is_over(launch); });
}

bool Pipeline::is_over(LaunchId launch) const {
  const std::lock_guard held(state_->inbox.mutex);
  return state_->inbox.is_over(launch);
}

void Pipeline::end_launch(LaunchId launch) {
  state_->catch_up();
  const State::Locked held(*state_);
  state_->ordering.end_launch(launch);
  state_->publish_ended();
}

// Shadow goes page by page, which takes a tenth of a second for a gigabyte: the detection thread
// does it, before any record of what is launched later.
void Pipeline::forget(std::uint64_t address, std::uint64_t bytes) {
  state_->leave([address, bytes](State& state) {
    if (state.options.observer != nullptr) {
      state.options.observer->memory_forgotten(address, bytes);
    }
    state.detector->forget(address, bytes);
  });
  if (state_->drain == nullptr) {
    const State::Locked held(*state_);  // nobody else would ever do it
  }
}

Pipeline::Rest::Rest(const Pipeline& pipeline, std::chrono::milliseconds timeout)
    : pipeline_(pipeline) {
  constexpr std::chrono::milliseconds kSlice{1};
  ++pipeline_.state_->callers;
  const SteadyClock::time_point deadline = SteadyClock::now() + timeout;
  while (!pipeline_.state_->mutex.try_lock()) {
    if (SteadyClock::now() >= deadline) {
      return;
    }
    std::this_thread::sleep_for(kSlice);
  }
  pipeline_.state_->mutex.unlock();
  has_come_ = true;
}

Pipeline::Rest::~Rest() {
  --pipeline_.state_->callers;
}

Findings Pipeline::findings() const {
  const State::Locked held(*state_);
  if (state_->options.observer != nullptr) {
    state_->options.observer->findings_read();
  }
  return state_->detector->findings();
}

Findings Pipeline::findings_so_far() const {
  return state_->detector->findings_so_far();
}

std::uint64_t Pipeline::finding_changes() const {
  return state_->detector->finding_changes();
}

std::size_t Pipeline::queued_bytes() const {
  const Drain* const drain = state_->started_drain;
  return drain == nullptr ? 0 : drain->queued_bytes();
}

PipelineStatistics Pipeline::statistics() const {
  const State::Locked held(*state_);
  PipelineStatistics statistics = state_->statistics;
  statistics.rejected = state_->detector->rejected() + state_->ordering.rejected();
  statistics.busiest = state_->sample.largest(kBusiestSites);
  statistics.shared = state_->ordering.shared_time().wall;
  statistics.shared_by_threads = state_->ordering.shared_time().of_threads;
  if (state_->drain != nullptr) {
    statistics.lifetime = SteadyClock::now() - state_->start_time;
    statistics.slots = state_->drain->slots();
    statistics.rejected += state_->drain->malformed();
  }
  return statistics;
}

void Pipeline::abandon() {
  const PipelineOptions options = state_->options;
  // Its threads and locks are those of another process: leaked on purpose.
  [[maybe_unused]] State* const leaked = state_.release();
  state_ = std::make_unique<State>(options);
}

}  // namespace barracuda::detector
