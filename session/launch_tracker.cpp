#include "session/launch_tracker.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/strong_id.h"
#include "report/symbol_name.h"
#include "session/python_place.h"

namespace barracuda::session {
namespace {

using detector::LaunchId;
using std::chrono::steady_clock;

// Records carry 16 bits of the launch id: two launches in flight must not share them.
constexpr std::uint32_t kMaximumInFlight = 1U << 15;
constexpr std::uint64_t kThoroughReapEvery = 256;

constexpr int kDescribeTries = 100;  // a millisecond apart
constexpr std::chrono::milliseconds kWaitSlice{250};
constexpr std::chrono::seconds kMessageEvery{2};
// Without a single new record for so long, a launch that the device has finished is given up.
constexpr std::chrono::seconds kPatience{120};

constexpr const char* kLeftOut = "left out by the options kernel-name, launch-skip or launch-count";

thread_local LaunchId g_current{};

detector::Dim3 cluster_of(const std::optional<detector::Dim3>& at_launch,
                          const KernelBinding& kernel) {
  if (at_launch) {
    return *at_launch;
  }
  const auto& compiled = kernel.module->image->clusters;
  const auto found = compiled.find(kernel.name);
  return found == compiled.end() ? detector::Dim3{} : found->second;
}

}  // namespace

LaunchTracker::LaunchTracker(const Options& options, KernelFilter filter, DeviceDriver& driver,
                             detector::Pipeline& pipeline, ModuleRegistry& modules,
                             StreamTracker& streams, Problems& problems)
    : options_(options),
      filter_(std::move(filter)),
      driver_(driver),
      pipeline_(pipeline),
      modules_(modules),
      streams_(streams),
      problems_(problems) {}

LaunchTracker::~LaunchTracker() = default;

LaunchId LaunchTracker::current() {
  return g_current;
}

bool LaunchTracker::is_left_out(const KernelBinding& kernel) {
  if (!filter_.matches(kernel.name)) {
    return true;
  }
  const std::uint64_t number = matching_launches_++;
  return number < options_.launch_skip ||
         (options_.launch_count != 0 && number - options_.launch_skip >= options_.launch_count);
}

LaunchId LaunchTracker::open(const KernelBinding& kernel, const detector::LaunchInfo& info,
                             detector::StreamKey stream) {
  const LaunchId id = book_.open(kernel, info, streams_.number_of(stream));
  if (recorder_ != nullptr) {
    recorder_->launch_described(book_.record(id));
  }
  return id;
}

DeviceArea* LaunchTracker::area_of(Handle context) {
  if (const auto known = areas_.find(context); known != areas_.end()) {
    return known->second.get();
  }
  Expected<std::unique_ptr<DeviceArea>> area = DeviceArea::create(driver_, options_);
  if (!area) {
    problems_.add("kernels run unchecked: " + area.error().message);
    areas_.emplace(context, nullptr);
    return nullptr;
  }
  pipeline_.add_queues((*area)->queues());
  return areas_.emplace(context, std::move(*area)).first->second.get();
}

// Launches mostly end in the order they began, so looking at the oldest ones is enough most times.
void LaunchTracker::reap(bool thoroughly) {
  const auto is_over = [this](const InFlight& launch) {
    return pipeline_.wait_for(launch.id, std::chrono::milliseconds{0});
  };
  while (!in_flight_.empty() && is_over(in_flight_.front())) {
    in_flight_.front().area->release(in_flight_.front().descriptor);
    in_flight_.pop_front();
  }
  if (thoroughly) {
    std::erase_if(in_flight_, [&](const InFlight& launch) {
      const bool over = is_over(launch);
      if (over) {
        launch.area->release(launch.descriptor);
      }
      return over;
    });
  }
}

const wire::LaunchDescriptor* LaunchTracker::add_in_flight(LaunchId id, Handle context,
                                                           std::string& reason) {
  DeviceArea* const area = area_of(context);
  if (area == nullptr) {
    reason = "no memory for log queues";
    return nullptr;
  }
  const auto is_full = [&] {
    return !in_flight_.empty() &&
           index_of(id) - index_of(in_flight_.front().id) >= kMaximumInFlight;
  };
  reap(++begun_ % kThoroughReapEvery == 0 || is_full());
  wire::LaunchDescriptor* const descriptor = is_full() ? nullptr : area->acquire(index_of(id));
  if (descriptor == nullptr) {
    reason = "too many launches at the same time";
    return nullptr;
  }
  in_flight_.push_back({.id = id, .context = context, .area = area, .descriptor = descriptor});
  return descriptor;
}

void LaunchTracker::watch(std::chrono::milliseconds timeout, TimeoutHandler too_long) {
  watch_ = std::make_unique<LaunchWatch>(driver_, timeout, std::move(too_long));
}

Mark LaunchTracker::watch_begin(Handle stream) {
  return watch_ == nullptr ? Mark{} : watch_->before(stream);
}

void LaunchTracker::watch_end(Mark begin, Handle stream, WatchedLaunch launch) {
  if (begin != Mark{}) {
    watch_->after(begin, stream, std::move(launch));
  }
}

void LaunchTracker::begin(Launch& launch, const LaunchRequest& request) {
  note_python_place();
  launch.kernel_ = modules_.find(request.function);
  launch.captured_ = driver_.stream_is_capturing(request.stream);
  launch.stream_ = request.stream;
  if (!launch.captured_) {
    launch.begin_ = watch_begin(request.stream);
  }
  const detector::StreamKey stream = streams_.key_of(request.stream);
  if (launch.kernel_ == nullptr || !launch.kernel_->instrumented()) {
    streams_.launch_unchecked(stream);
    return;
  }
  const KernelBinding& kernel = *launch.kernel_;
  std::uint64_t descriptor = 0;
  if (!launch.captured_) {
    const std::lock_guard lock(mutex_);
    if (!closed_.empty()) {
      launch.unchecked_ = closed_;
    } else if (is_left_out(kernel)) {
      launch.unchecked_ = kLeftOut;
    } else {
      detector::LaunchInfo info{.id = {},
                                .grid = request.grid,
                                .block = request.block,
                                .cluster = cluster_of(request.cluster, kernel),
                                .ordered_after = {}};
      info.id = open(kernel, info, stream);
      const wire::LaunchDescriptor* const taken =
          add_in_flight(info.id, driver_.current_context(), launch.unchecked_);
      if (taken != nullptr) {
        descriptor = reinterpret_cast<std::uint64_t>(taken);
        order(info, stream, request.is_programmatic);
        pipeline_.begin_launch(info);
        launch.id_ = g_current = info.id;
      }
    }
  }
  if (!launch.captured_ && launch.id_ == LaunchId{}) {
    streams_.launch_unchecked(stream);
  }
  if (!launch.captured_ && request.event != 0) {
    streams_.event_recorded(request.event, stream);
  }
  void** const parameters = launch.parameters();
  void** const extra = launch.extra();
  launch.arguments_.emplace(*kernel.kernel, parameters, extra, descriptor);
}

void LaunchTracker::order(detector::LaunchInfo& info, detector::StreamKey stream,
                          bool is_programmatic) {
  if (!is_programmatic) {
    info.ordered_after = streams_.launch(stream, info.id);
    return;
  }
  detector::ProgrammaticOrder order =
      streams_.launch_programmatic(stream, info.id, copies_.next_id());
  info.ordered_after = std::move(order.ordered_after);
  info.prerequisite = order.prerequisite;
  info.prerequisite_over = order.prerequisite_over;
}

void LaunchTracker::begin_unlogged(Launch& launch, Handle function) {
  const auto kernel = modules_.find(function);
  if (kernel != nullptr && kernel->instrumented()) {
    void** const parameters = launch.parameters();
    void** const extra = launch.extra();
    launch.arguments_.emplace(*kernel->kernel, parameters, extra, 0);
  }
}

void LaunchTracker::submitted(Launch& launch, DriverStatus status) {
  g_current = {};
  watch_end(launch.begin_, launch.stream_,
            {.kernel = launch.kernel_ == nullptr ? "" : launch.kernel_->name, .id = launch.id_});
  if (status != 0) {
    if (launch.id_ != LaunchId{}) {
      end(launch.id_);
    }
    return;
  }
  if (!launch.captured_) {
    const std::lock_guard lock(mutex_);
    book_.count(launch.kernel_.get(), launch.unchecked_);
  }
}

detector::CopyInfo LaunchTracker::open_copy(const CopyRequest& copy, detector::StreamKey stream) {
  const CopyBook::Call call = copies_.open(copy.is_memset, streams_.number_of(stream));
  if (call.is_new && recorder_ != nullptr) {
    recorder_->copy_described(copies_.record(call.number));
  }
  detector::CopyInfo info;
  info.call = call.number;
  for (const detector::MemoryRows& rows : copy.accesses) {
    if (rows.rows <= kMaximumCopyRows) {
      info.accesses.push_back(rows);
    } else {
      problems_.add("a copy or memset of more than a million rows was not checked");
    }
  }
  return info;
}

void LaunchTracker::copied(const CopyRequest& copy) {
  note_python_place();
  const detector::StreamKey stream = streams_.key_of(copy.stream);
  if (copy.host_order == HostOrder::kWorkBefore) {
    streams_.stream_synchronized(stream);
  }
  {
    const std::lock_guard lock(mutex_);
    if (closed_.empty() && !copy.accesses.empty()) {
      detector::CopyInfo info = open_copy(copy, stream);
      detector::CopyOrder order = streams_.copy(stream, copies_.next_id());
      info.id = order.id;
      info.ordered_after = std::move(order.ordered_after);
      info.host_waited = std::move(order.host_waited);
      pipeline_.begin_copy(info);
    }
  }
  if (copy.host_order == HostOrder::kCopy) {
    streams_.stream_synchronized(stream);
  }
}

std::vector<report::CopyRecord> LaunchTracker::copies_named_in(
    const detector::Findings& findings) const {
  const std::lock_guard lock(mutex_);
  return copies_.named_in(findings);
}

std::vector<GraphKernelLaunch> LaunchTracker::begin_graph(const std::vector<GraphKernel>& nodes,
                                                          detector::StreamKey stream,
                                                          std::uint64_t executable) {
  const std::lock_guard lock(mutex_);
  std::vector<GraphKernelLaunch> launches(nodes.size());
  std::vector<GraphStep> steps(nodes.size());
  std::vector<detector::LaunchInfo> infos(nodes.size());
  std::vector<detector::CopyInfo> copies(nodes.size());
  const Handle context = driver_.current_context();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const GraphKernel& node = nodes[i];
    steps[i].dependencies = node.dependencies;
    if (node.copy && !node.is_disabled && closed_.empty()) {
      copies[i] = open_copy(*node.copy, stream);
      copies[i].id = steps[i].launch = copies_.next_id();
    }
    if (!node.is_checked || node.is_disabled || !closed_.empty() || is_left_out(*node.kernel)) {
      continue;
    }
    infos[i].grid = node.grid;
    infos[i].block = node.block;
    infos[i].cluster = cluster_of(node.cluster, *node.kernel);
    const LaunchId id = open(*node.kernel, infos[i], stream);
    std::string reason;
    if (const wire::LaunchDescriptor* const taken = add_in_flight(id, context, reason)) {
      launches[i] = {.id = id, .descriptor = reinterpret_cast<std::uint64_t>(taken)};
      infos[i].id = steps[i].launch = id;
    }
  }
  const auto after = streams_.graph_launch(stream, executable, steps);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (launches[i].id != LaunchId{}) {
      infos[i].ordered_after = after[i];
      pipeline_.begin_launch(infos[i]);
    } else if (copies[i].id != LaunchId{}) {
      copies[i].ordered_after = after[i];
      copies[i].host_waited = streams_.host_waited();
      pipeline_.begin_copy(copies[i]);
    }
  }
  return launches;
}

void LaunchTracker::graph_submitted(const std::vector<GraphKernel>& nodes,
                                    const std::vector<GraphKernelLaunch>& launches,
                                    DriverStatus status) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (status != 0) {
      if (launches[i].id != LaunchId{}) {
        end(launches[i].id);
      }
    } else if (nodes[i].is_kernel && !nodes[i].is_disabled) {
      const std::lock_guard lock(mutex_);
      book_.count(nodes[i].kernel.get(), launches[i].id == LaunchId{}
                                             ? "launched by a graph in a way that is not checked"
                                             : "");
    }
  }
}

void LaunchTracker::give_up(GraphKernelLaunch& launch) {
  if (launch.id != LaunchId{}) {
    end(launch.id);
  }
  launch = {};
}

void LaunchTracker::end(LaunchId id) {
  pipeline_.end_launch(id);
  const std::lock_guard lock(mutex_);
  std::erase_if(in_flight_, [&](const InFlight& launch) {
    if (launch.id == id) {
      launch.area->release(launch.descriptor);
    }
    return launch.id == id;
  });
}

void LaunchTracker::wait_for(LaunchId id) {
  const auto begin = steady_clock::now();
  auto last_message = begin;
  auto last_progress = begin;
  std::uint64_t records = 0;
  while (!pipeline_.wait_for(id, kWaitSlice)) {
    const auto now = steady_clock::now();
    const std::uint64_t records_now = pipeline_.statistics().records;
    if (records_now != records) {
      records = records_now;
      last_progress = now;
    }
    if (now - last_progress > kPatience) {
      std::string kernel;
      read_book([&](const LaunchBook& book) { kernel = book.kernel_of(id); });
      problems_.add("launch " + std::to_string(index_of(id)) + " (" + kernel +
                    ") ended without the last of its records");
      pipeline_.end_launch(id);
      return;
    }
    if (now - last_message > kMessageEvery) {
      last_message = now;
      log(Folder::kSession, LogLevel::kWarning, "still checking launch %u: %llu records so far",
          index_of(id), static_cast<unsigned long long>(records));
    }
  }
}

void LaunchTracker::drain(Handle context, bool failed) {
  std::vector<LaunchId> launches;
  {
    const std::lock_guard lock(mutex_);
    for (const InFlight& launch : in_flight_) {
      if (launch.context == context) {
        launches.push_back(launch.id);
      }
    }
  }
  for (const LaunchId id : launches) {
    if (failed) {
      end(id);
    } else {
      wait_for(id);
    }
  }
  const std::lock_guard lock(mutex_);
  reap(true);
}

std::vector<LaunchId> LaunchTracker::try_in_flight() {
  std::vector<LaunchId> launches;
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) {
    for (const InFlight& launch : in_flight_) {
      launches.push_back(launch.id);
    }
  }
  return launches;
}

std::string LaunchTracker::try_describe(LaunchId id) const {
  std::unique_lock lock(mutex_, std::try_to_lock);
  for (int tries = 0; !lock && tries < kDescribeTries; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    static_cast<void>(lock.try_lock());
  }
  return lock ? " (" + report::demangle(book_.kernel_of(id)) + ")" : std::string();
}

void LaunchTracker::give_up_all() {
  for (const LaunchId id : try_in_flight()) {
    pipeline_.end_launch(id);
  }
}

void LaunchTracker::settle(std::chrono::milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  for (const LaunchId id : try_in_flight()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0 || !pipeline_.wait_for(id, left)) {
      return;
    }
  }
}

std::vector<Handle> LaunchTracker::contexts() const {
  const std::lock_guard lock(mutex_);
  std::vector<Handle> contexts;
  contexts.reserve(areas_.size());
  for (const auto& [context, area] : areas_) {
    contexts.push_back(context);
  }
  return contexts;
}

void LaunchTracker::close_context(Handle context) {
  if (watch_ != nullptr) {
    watch_->forget(context);
  }
  const std::lock_guard lock(mutex_);
  const auto area = areas_.find(context);
  if (area == areas_.end()) {
    return;
  }
  std::erase_if(in_flight_, [&](const InFlight& launch) { return launch.context == context; });
  if (area->second != nullptr) {
    pipeline_.remove_queues(area->second->queues().rings);
  }
  areas_.erase(area);
}

void LaunchTracker::close(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  closed_ = reason;
}

}  // namespace barracuda::session
