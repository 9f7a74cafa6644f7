#include "host_detector/queue/ordering.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <utility>

#include <tbb/parallel_for.h>

#include "host_detector/sync/launch_state.h"

namespace barracuda::detector {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMostSpare = 4096;
constexpr std::size_t kMostSpareBytes = 16384;
constexpr std::chrono::milliseconds kLookEvery{1000};
constexpr std::size_t kSharesOfThread = 8;  // of a round, so that none waits long for the last

void read_numbers(std::span<const std::byte> record, OrderNumbers& numbers) {
  const wire::RecordKind kind = header_of(record).kind;
  numbers.count = 0;
  if (kind == wire::RecordKind::kRelease || kind == wire::RecordKind::kAcquire) {
    read_order_numbers(record, numbers);
  }
}

}  // namespace

struct Ordering::Launch {
  explicit Launch(const LaunchInfo& info) : shape(info) {}

  LaunchState shape;
  std::vector<LaunchId> awaited;   // launches before it that are not over
  SteadyClock::time_point begun;   // when they were over
  std::uint64_t records = 0;       // that were taken
  SteadyClock::time_point newest;  // when the last of them was
  boost::unordered_flat_map<std::uint32_t, std::unique_ptr<ClusterQueue>> queues;  // none is empty
  static constexpr std::uint32_t kRecent = 256;
  std::array<ClusterQueue*, kRecent> recent{};  // of these, where they were found last
  std::vector<ClusterQueue*> early;  // all of them, in the order they came, while some are awaited
  bool ends_by_decree = false;       // once those before it are over
  bool is_late = false;
};

// A round of strands: the queue that is next, and what was done.
struct Ordering::Round {
  std::atomic<std::size_t> next{0};
  std::size_t at_once = 1;  // queues that a thread takes: neighbours tend to share memory
  std::uint64_t contentions_before = 0;
  std::atomic<std::uint32_t> left{0};  // threads that left it to the others
  std::atomic<std::uint64_t> applied{0}, refused{0}, malformed{0};
};

Ordering::Ordering(Detector& detector, const OrderingOptions& options)
    : detector_(detector),
      options_(options),
      arena_(options.threads > 1
                 ? std::make_unique<tbb::task_arena>(static_cast<int>(options.threads))
                 : nullptr),
      sharers_(options.threads) {}

Ordering::~Ordering() = default;

Ordering::Launch* Ordering::find(std::uint16_t low_bits) {
  if (last_ == nullptr || static_cast<std::uint16_t>(last_->shape.info.id) != low_bits) {
    const auto known = launches_.find(low_bits);
    turn_to(known == launches_.end() ? nullptr : known->second.get());
  }
  return last_;
}

// Records mostly come many in a row from one launch, and are counted for it when another's come.
void Ordering::turn_to(Launch* launch) {
  if (last_ != nullptr && counted_ != taken_) {
    last_->records += taken_ - counted_;
    last_->newest = std::max(now_, last_->begun);
  }
  counted_ = taken_;
  last_ = launch;
}

std::vector<LateLaunch> Ordering::find_late(SteadyClock::time_point now) {
  std::vector<LateLaunch> found;
  now_ = now;
  turn_to(last_);
  if (options_.late_after == std::chrono::milliseconds{0} || now < next_look_) {
    return found;
  }
  next_look_ = now + std::min(options_.late_after / 8, kLookEvery);
  for (const auto& [low, launch] : launches_) {
    if (launch->is_late || !launch->awaited.empty() || now - launch->begun < options_.late_after) {
      continue;
    }
    launch->is_late = true;
    LateLaunch& late = found.emplace_back();
    late.id = launch->shape.info.id;
    late.records = launch->records;
    late.since_last = std::chrono::duration_cast<std::chrono::milliseconds>(
        now - (late.records == 0 ? launch->begun : launch->newest));
    late.waiting_bytes = parked_bytes_;
  }
  std::ranges::sort(found, {}, &LateLaunch::id);
  return found;
}

void Ordering::begin_launch(const LaunchInfo& info) {
  auto launch = std::make_unique<Launch>(info);
  launch->awaited = not_over(info.ordered_after);
  if (launch->awaited.empty()) {
    begin(*launch);
    if (detector_.launch_over(info.id)) {
      ended_.push_back(info.id);
      return;  // an empty grid
    }
  }
  turn_to(nullptr);
  launches_.insert_or_assign(static_cast<std::uint16_t>(info.id), std::move(launch));
}

void Ordering::begin(Launch& launch) {
  launch.begun = SteadyClock::now();
  if (options_.observer != nullptr) {
    options_.observer->launch_begun(launch.shape.info);
  }
  detector_.begin_launch(launch.shape.info);
}

std::vector<LaunchId> Ordering::not_over(const std::vector<LaunchId>& all) {
  std::vector<LaunchId> some;
  for (const LaunchId each : all) {
    const Launch* const launch = is_copy(each) ? nullptr : find(static_cast<std::uint16_t>(each));
    if (is_copy(each) ? copies_.contains(each)
                      : launch != nullptr && launch->shape.info.id == each) {
      some.push_back(each);
    }
  }
  return some;
}

void Ordering::begin_copy(const CopyInfo& copy) {
  if (const auto same = copies_.find(copy.id); same != copies_.end()) {
    same->second.copies.push_back(copy);
    return;
  }
  std::vector<LaunchId> awaited = not_over(copy.ordered_after);
  if (awaited.empty()) {
    apply_copy(copy);
    return;
  }
  copies_.emplace(copy.id, WaitingCopies{.awaited = std::move(awaited), .copies = {copy}});
}

void Ordering::apply_copy(const CopyInfo& copy) {
  if (options_.observer != nullptr) {
    options_.observer->copy_begun(copy);
  }
  detector_.apply_copy(copy);
}

void Ordering::on_copy_over(LaunchId id) {
  const auto known = copies_.find(id);
  for (const CopyInfo& copy : known->second.copies) {
    apply_copy(copy);
  }
  copies_.erase(known);
  release(id);
}

void Ordering::count_numbers(OrderCounters& counters, std::span<const std::byte> record) {
  if (header_of(record).kind != wire::RecordKind::kRelease) {
    return;
  }
  read_order_numbers(record, numbers_);
  for (std::size_t index = 0; index < numbers_.count; ++index) {
    counters.applied(numbers_.of_lanes[index], ready_);
  }
}

void Ordering::apply(OrderCounters& counters, LaunchId launch, std::span<const std::byte> record) {
  if (options_.observer != nullptr) {
    options_.observer->record_applied(launch, record);
  }
  if (decode(record, operation_)) {
    operation_.launch = launch;
    detector_.apply(operation_);
  } else {
    ++rejected_;
  }
  count_numbers(counters, record);
  if (operation_.kind == wire::RecordKind::kEvent && detector_.launch_over(launch)) {
    over_.push_back(launch);
  }
}

std::optional<OrderNumber> Ordering::unreached(const OrderCounters& counters,
                                               std::span<const std::byte> record) {
  if (header_of(record).kind == wire::RecordKind::kAcquire) {
    read_order_numbers(record, numbers_);
    for (std::size_t index = 0; index < numbers_.count; ++index) {
      if (!counters.has_reached(numbers_.of_lanes[index])) {
        return numbers_.of_lanes[index];
      }
    }
  }
  return std::nullopt;
}

ClusterQueue* Ordering::find_queue(Launch& launch, std::uint32_t cluster) {
  ClusterQueue*& recent = launch.recent[cluster % Launch::kRecent];
  if (recent == nullptr || recent->cluster() != cluster) {
    const auto known = launch.queues.find(cluster);
    if (known == launch.queues.end()) {
      return nullptr;
    }
    recent = known->second.get();
  }
  return recent;
}

ClusterQueue& Ordering::make_queue(OrderCounters& counters, Launch& launch, std::uint32_t cluster) {
  const LaunchId id = launch.shape.info.id;
  std::unique_ptr<ClusterQueue> queue;
  if (spare_.empty()) {
    queue = std::make_unique<ClusterQueue>(id, cluster, counters);
  } else {
    queue = std::move(spare_.back());
    spare_.pop_back();
    queue->reuse(id, cluster, counters);
  }
  return *launch.queues.emplace(cluster, std::move(queue)).first->second;
}

void Ordering::drop(ClusterQueue& queue) {
  Launch* launch = find(static_cast<std::uint16_t>(queue.launch()));
  if (launch == nullptr) {
    return;
  }
  ClusterQueue*& recent = launch->recent[queue.cluster() % Launch::kRecent];
  recent = recent == &queue ? nullptr : recent;
  const auto place = launch->queues.find(queue.cluster());
  if (spare_.size() < kMostSpare && queue.capacity() <= kMostSpareBytes) {
    spare_.push_back(std::move(place->second));
  }
  launch->queues.erase(place);
}

void Ordering::route(OrderCounters& counters, Launch& launch, std::uint32_t cta,
                     std::span<const std::byte> record) {
  const std::uint32_t cluster = launch.shape.cluster_of(cta);
  ClusterQueue* queue = find_queue(launch, cluster);
  if (queue == nullptr) {
    const bool may_start = launch.awaited.empty();
    std::optional<OrderNumber> number;
    if (may_start && arena_ == nullptr) {
      number = unreached(counters, record);
      if (!number) {
        apply(counters, launch.shape.info.id, record);
        return;
      }
    }
    queue = &make_queue(counters, launch, cluster);
    if (!may_start) {
      launch.early.push_back(queue);
    } else if (arena_ != nullptr) {
      ready_.push_back(queue);
    } else {
      counters.wait(*number, queue);
    }
  }
  queue->push(record);
  parked_bytes_ += record.size();
}

void Ordering::take(OrderCounters& counters, std::span<const std::byte> record) {
  const RecordHeader header = header_of(record);
  if (header.kind == wire::RecordKind::kVoid) {
    return;
  }
  Launch* launch = find(header.launch);
  if (launch == nullptr) {
    ++rejected_;
    count_numbers(counters, record);
  } else {
    route(counters, *launch, header.cta, record);
  }
  ++taken_;
  if (arena_ == nullptr || kept() >= kMostKept) {
    go_on();
  }
}

bool Ordering::apply_front(ClusterQueue& queue) {
  if (const std::optional<OrderNumber> number = unreached(queue.counters(), queue.front())) {
    queue.counters().wait(*number, &queue);
    return false;
  }
  parked_bytes_ -= queue.front().size();
  apply(queue.counters(), queue.launch(), queue.front());
  queue.pop();
  return true;
}

void Ordering::advance(ClusterQueue& queue) {
  while (!queue.is_empty()) {
    if (!apply_front(queue)) {
      queue.shrink();
      return;
    }
  }
  drop(queue);
}

void Ordering::apply_strand(ClusterQueue& queue, Round& round) const {
  Detector::Strand strand(detector_, queue.launch());
  WarpOperation operation;
  OrderNumbers numbers;
  std::uint64_t applied = 0;
  std::uint64_t refused = 0;
  std::uint64_t malformed = 0;
  for (; !queue.is_empty(); queue.pop()) {
    read_numbers(queue.front(), numbers);
    if (numbers.count != 0) {
      break;
    }
    if (!decode(queue.front(), operation)) {
      ++malformed;
      continue;
    }
    operation.launch = queue.launch();
    const bool is_applied = strand.apply(operation);
    applied += is_applied ? 1 : 0;
    refused += is_applied ? 0 : 1;
  }
  round.applied += applied;
  round.refused += refused;
  round.malformed += malformed;
}

// Threads that want the same memory at the same time hinder each other: then all but one leave, one
// by one.
bool Ordering::should_leave(Round& round) const {
  constexpr std::uint64_t kFew = 256;
  const std::uint64_t contentions = detector_.contentions() - round.contentions_before;
  const std::uint64_t bearable = (round.applied + round.refused) / 8 + kFew;
  if (contentions / bearable <= round.left) {
    return false;
  }
  std::uint32_t left = round.left;
  return left + 1 < sharers_ && round.left.compare_exchange_strong(left, left + 1);
}

void Ordering::apply_strands(const std::vector<ClusterQueue*>& queues, Round& round) const {
  do {
    const std::size_t first = round.next.fetch_add(round.at_once);
    if (first >= queues.size()) {
      return;
    }
    const std::size_t past = std::min(first + round.at_once, queues.size());
    for (std::size_t index = first; index < past; ++index) {
      apply_strand(*queues[index], round);
    }
  } while (!should_leave(round));
}

// What is at the front concerns other clusters.
void Ordering::settle(ClusterQueue& queue) {
  while (!queue.is_empty()) {
    read_numbers(queue.front(), numbers_);
    if (numbers_.count == 0) {
      ready_.push_back(&queue);
      break;
    }
    if (!apply_front(queue)) {
      break;
    }
  }
  if (queue.is_empty()) {
    drop(queue);
  } else {
    queue.shrink();
  }
}

void Ordering::share_out(const std::vector<ClusterQueue*>& queues, Round& round) {
  const SteadyClock::time_point start = SteadyClock::now();
  std::atomic<SteadyClock::rep> of_threads{0};
  rounds_begun_.fetch_add(1, std::memory_order_release);
  arena_->execute([&] {
    tbb::parallel_for(
        0U, sharers_,
        [&](std::uint32_t /*thread*/) {
          static_cast<void>(rounds_begun_.load(std::memory_order_acquire));
          const SteadyClock::time_point thread_start = SteadyClock::now();
          apply_strands(queues, round);
          of_threads += (SteadyClock::now() - thread_start).count();
        },
        tbb::simple_partitioner());
  });
  shared_time_.wall += SteadyClock::now() - start;
  shared_time_.of_threads += SteadyClock::duration(of_threads);
}

void Ordering::run_round() {
  const std::vector<ClusterQueue*> queues = std::exchange(ready_, {});
  std::size_t bytes = 0;
  std::vector<LaunchId> launches;
  for (const ClusterQueue* queue : queues) {
    bytes += queue->bytes();
    if (std::ranges::find(launches, queue->launch()) == launches.end()) {
      launches.push_back(queue->launch());
    }
  }
  Round round;
  round.contentions_before = detector_.contentions();
  round.at_once = std::max<std::size_t>(1, queues.size() / (sharers_ * kSharesOfThread));
  if (bytes < options_.least_shared_bytes || queues.size() == 1) {
    apply_strands(queues, round);
  } else {
    share_out(queues, round);
    sharers_ = round.left != 0 ? std::max(1U, sharers_ - round.left)
                               : std::min(options_.threads, sharers_ * 2);
  }
  detector_.count(round.applied, round.refused);
  rejected_ += round.malformed;
  for (const ClusterQueue* queue : queues) {
    bytes -= queue->bytes();
  }
  parked_bytes_ -= bytes;
  for (ClusterQueue* queue : queues) {
    settle(*queue);
  }
  std::ranges::copy_if(launches, std::back_inserter(over_),
                       [&](LaunchId launch) { return detector_.launch_over(launch); });
}

void Ordering::on_launch_over(LaunchId id) {
  Launch* ended = find(static_cast<std::uint16_t>(id));
  if (ended == nullptr || ended->shape.info.id != id) {
    return;
  }
  for (const auto& [cluster, queue] : ended->queues) {
    queue->counters().forget(queue.get());
    std::erase(ready_, queue.get());
    parked_bytes_ -= queue->bytes();
  }
  turn_to(nullptr);
  launches_.erase(static_cast<std::uint16_t>(id));
  release(id);
}

// What awaited only this one goes on.
void Ordering::release(LaunchId id) {
  for (auto& [copy, waiting] : copies_) {
    if (std::erase(waiting.awaited, id) != 0 && waiting.awaited.empty()) {
      over_.push_back(copy);
    }
  }
  for (auto& [low, launch] : launches_) {
    if (std::erase(launch->awaited, id) != 0 && launch->awaited.empty()) {
      begin(*launch);
      if (launch->ends_by_decree) {
        end(*launch);
        continue;
      }
      if (detector_.launch_over(launch->shape.info.id)) {
        over_.push_back(launch->shape.info.id);
      }
      // The last that came is advanced first.
      ready_.insert(ready_.end(), launch->early.rbegin(), launch->early.rend());
      launch->early.clear();
    }
  }
}

// A launch that ends lets others start and a release lets clusters go on, either may do the other:
// not by recursion, which would be as deep as the program is long.
void Ordering::go_on() {
  if (is_going_on_) {
    return;
  }
  is_going_on_ = true;
  while (!ready_.empty() || !over_.empty()) {
    if (!over_.empty()) {
      const LaunchId id = over_.back();
      over_.pop_back();
      if (is_copy(id)) {
        on_copy_over(id);
        continue;
      }
      ended_.push_back(id);
      on_launch_over(id);
    } else if (arena_ != nullptr) {
      run_round();
    } else {
      ClusterQueue& queue = *ready_.back();
      ready_.pop_back();
      advance(queue);
    }
  }
  gone_on_ = taken_;
  is_going_on_ = false;
}

void Ordering::end_launch(LaunchId id) {
  go_on();
  Launch* launch = find(static_cast<std::uint16_t>(id));
  if (launch == nullptr || launch->shape.info.id != id) {
    return;
  }
  if (!launch->awaited.empty()) {
    launch->ends_by_decree = true;  // what comes after it comes after these as well
    return;
  }
  end(*launch);
  go_on();
}

void Ordering::end(Launch& launch) {
  const LaunchId id = launch.shape.info.id;
  may_have_holes_ = true;
  const auto queues = std::exchange(launch.queues, {});
  launch.early.clear();
  launch.recent.fill(nullptr);
  for (const auto& [cluster, queue] : queues) {
    queue->counters().forget(queue.get());
    std::erase(ready_, queue.get());
    for (; !queue->is_empty(); queue->pop()) {
      parked_bytes_ -= queue->front().size();
      apply(queue->counters(), id, queue->front());
    }
  }
  if (options_.observer != nullptr) {
    options_.observer->launch_ended(id);
  }
  detector_.end_launch(id);
  over_.push_back(id);
}

bool Ordering::skip_hole(OrderCounters& counters) {
  if (!may_have_holes_ || parked_bytes_ == 0) {
    return false;
  }
  counters.skip_hole(ready_);
  const bool can_go_on = !ready_.empty();
  go_on();
  return can_go_on;
}

}  // namespace barracuda::detector
