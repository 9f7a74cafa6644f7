#include "session/launch_tracker.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "base/signals_blocked.h"
#include "base/strong_id.h"
#include "report/symbol_name.h"
#include "session/block_schedule.h"
#include "session/python_place.h"

namespace barracuda::session {
namespace {

using detector::LaunchId;
using std::chrono::steady_clock;

// Records carry 16 bits of the launch id: two launches in flight must not share them.
constexpr std::uint32_t kMaximumInFlight = 1U << 15;
// Each keeps some kilobytes, so a program waits long before.
constexpr std::uint32_t kEnoughInFlight = 1U << 12;
constexpr std::uint64_t kThoroughReapEvery = 4096;
// For as long a program waits for detection, once, before a launch that there is no room for runs
// unchecked: some kernel may wait for the program.
constexpr std::chrono::seconds kPatienceForRoom{20};

constexpr std::chrono::milliseconds kWaitSlice{250};
constexpr std::chrono::milliseconds kSettleSlice{50};
constexpr int kQuietSlices = 6;
constexpr std::chrono::seconds kMessageEvery{2};
// Without a single new record for so long, a launch that the device has finished is given up.
constexpr std::chrono::seconds kPatience{120};

thread_local LaunchId g_current{};

}  // namespace

LaunchTracker::LaunchTracker(const Options& options, KernelFilter filter, DeviceDriver& driver,
                             detector::Pipeline& pipeline, ModuleRegistry& modules,
                             StreamTracker& streams, const AllocationTable& allocations,
                             Problems& problems)
    : options_(options),
      filter_(std::move(filter)),
      driver_(driver),
      pipeline_(pipeline),
      modules_(modules),
      streams_(streams),
      problems_(problems),
      unlogged_(options, allocations, streams, problems,
                [this](LaunchId id) { return describe(id); }) {}

LaunchTracker::~LaunchTracker() = default;

LaunchId LaunchTracker::current() {
  return g_current;
}

bool LaunchTracker::is_left_out(const KernelBinding& kernel, bool can_be_checked) {
  if (!filter_.matches(kernel.name)) {
    return true;
  }
  if (!can_be_checked) {
    return false;  // and has no number for launch-skip and launch-count
  }
  const std::uint64_t number = matching_launches_++;
  return number < options_.launch_skip ||
         (options_.launch_count != 0 && number - options_.launch_skip >= options_.launch_count);
}

LaunchId LaunchTracker::open(const KernelBinding& kernel, const detector::LaunchInfo& info,
                             detector::StreamKey stream) {
  const HeldLock lock(book_mutex_);
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

void LaunchTracker::prepare(Handle context) {
  const HeldLock lock(mutex_);
  if (context != 0 && closed_.empty() && !rewrites_program(options_, driver_.is_emulated())) {
    area_of(context);
  }
}

bool LaunchTracker::is_valid() const {
  return std::ranges::is_sorted(in_flight_, std::less_equal<>(), &InFlight::id) &&
         std::ranges::all_of(in_flight_, [this](const InFlight& launch) {
           const auto area = areas_.find(launch.context);
           return launch.id != LaunchId{} && launch.descriptor != nullptr &&
                  launch.area != nullptr && area != areas_.end() &&
                  area->second.get() == launch.area;
         });
}

void LaunchTracker::release(const InFlight& launch) {
  unlogged_.end(launch.id, launch.descriptor->unlogged);
  launch.area->states().release(launch.descriptor->states);
  launch.area->release(launch.descriptor);
}

// Launches mostly end in the order they began, so looking at the oldest ones is enough most times.
void LaunchTracker::reap(bool thoroughly) {
  DEBUG_ASSERT(is_valid());
  const auto is_over = [this](const InFlight& launch) { return pipeline_.is_over(launch.id); };
  while (!in_flight_.empty() && is_over(in_flight_.front())) {
    release(in_flight_.front());
    in_flight_.pop_front();
  }
  if (thoroughly) {
    std::erase_if(in_flight_, [&](const InFlight& launch) {
      const bool over = is_over(launch);
      if (over) {
        release(launch);
      }
      return over;
    });
  }
}

std::size_t LaunchTracker::span_in_flight() const {
  return in_flight_.empty() ? 0 : book_.opened() + 1 - index_of(in_flight_.front().id);
}

// A program that launches faster than is detected is made to wait, for half of what is in flight so
// that it does not wait at each launch.
void LaunchTracker::make_room(std::size_t launches) {
  LaunchId awaited{};
  {
    const HeldLock lock(mutex_);
    const auto is_enough = [&] { return span_in_flight() + launches > kEnoughInFlight; };
    if (!is_enough() || in_flight_.front().id == in_the_way_) {
      return;
    }
    reap(true);
    if (!is_enough() || in_flight_.front().id == in_the_way_) {
      return;
    }
    awaited = in_flight_[in_flight_.size() / 2].id;
  }
  const bool is_over = pipeline_.wait_for(awaited, kPatienceForRoom);
  const HeldLock lock(mutex_);
  reap(true);
  if (!in_flight_.empty() && (!is_over || span_in_flight() + launches > kEnoughInFlight)) {
    in_the_way_ = in_flight_.front().id;
  }
}

wire::LaunchDescriptor* LaunchTracker::add_in_flight(const KernelBinding& kernel,
                                                     const detector::LaunchInfo& info,
                                                     Handle context, std::string& reason) {
  DeviceArea* const area = area_of(context);
  if (area == nullptr) {
    reason = "no memory for log queues";
    return nullptr;
  }
  // The launch itself is in the book already.
  ASSERT(info.id != LaunchId{} && (in_flight_.empty() || in_flight_.back().id < info.id));
  const auto is_full = [this] { return span_in_flight() > kMaximumInFlight; };
  reap(++begun_ % kThoroughReapEvery == 0 || is_full());
  wire::LaunchDescriptor* const descriptor = is_full() ? nullptr : area->acquire(index_of(info.id));
  if (descriptor == nullptr) {
    reason = "too many launches at the same time";
    return nullptr;
  }
  descriptor->block_order = block_order_of(options_, driver_, *kernel.kernel, info);
  in_flight_.push_back({.id = info.id, .context = context, .area = area, .descriptor = descriptor});
  return descriptor;
}

void LaunchTracker::watch(std::chrono::milliseconds timeout, TimeoutHandler too_long) {
  ASSERT(watch_ == nullptr && too_long != nullptr);
  watch_ = std::make_unique<LaunchWatch>(driver_, timeout, std::move(too_long));
}

Mark LaunchTracker::watch_begin(Handle stream) {
  return watch_ == nullptr ? Mark{} : watch_->before(stream);
}

void LaunchTracker::watch_end(Mark begin, Handle stream, WatchedLaunch launch) {
  if (begin != Mark{}) {
    ASSERT(watch_ != nullptr);
    watch_->after(begin, stream, std::move(launch));
  }
}

void LaunchTracker::begin(Launch& launch, const LaunchRequest& request) {
  ASSERT(launch.id_ == LaunchId{} && !launch.is_counted_);
  note_python_place();
  launch.kernel_ = modules_.find(request.function);
  ASSERT(launch.kernel_ == nullptr || launch.kernel_->is_valid());
  launch.captured_ = driver_.stream_is_capturing(request.stream);
  launch.stream_ = request.stream;
  if (!launch.captured_) {
    launch.begin_ = watch_begin(request.stream);
  }
  const detector::StreamKey stream = streams_.key_of(request.stream);
  if (launch.kernel_ == nullptr || !launch.kernel_->instrumented()) {
    launch.check_.is_left_out = launch.kernel_ != nullptr && is_left_out(*launch.kernel_, false);
    streams_.launch_unchecked(stream);
    count(launch);
    return;
  }
  const KernelBinding& kernel = *launch.kernel_;
  ASSERT(kernel.kernel->hidden_parameter_offset % sizeof(std::uint64_t) == 0);
  if (rewrites_program(options_, driver_.is_emulated())) {
    return begin_rewritten(launch, request, stream);
  }
  std::uint64_t descriptor = 0;
  if (!launch.captured_) {
    make_room(1);
    const HeldLock lock(mutex_);
    if (!closed_.empty()) {
      launch.check_.unchecked = closed_;
    } else if (is_left_out(kernel, true)) {
      launch.check_.is_left_out = true;
    } else {
      detector::LaunchInfo info{.id = {},
                                .grid = request.grid,
                                .block = request.block,
                                .cluster = kernel.cluster(request.cluster),
                                .ordered_after = {}};
      info.id = launch.opened_ = open(kernel, info, stream);
      wire::LaunchDescriptor* const taken =
          add_in_flight(kernel, info, driver_.current_context(), launch.check_.unchecked);
      if (taken != nullptr) {
        descriptor = reinterpret_cast<std::uint64_t>(taken);
        read_constants(request, stream);
        order(info, stream, request.is_programmatic);
        const UnloggedAccesses::LeftOut left_out = unlogged_.begin(
            {.id = info.id,
             .stream = stream,
             .kernel = *kernel.kernel,
             .arguments = packed_arguments(*kernel.kernel, launch.parameters(), launch.extra()),
             .is_programmatic = request.is_programmatic,
             .grid = request.grid,
             .block = request.block});
        taken->unlogged = left_out.memory;
        taken->owned_sites = left_out.sites;
        if (unlogged_.is_on() &&
            !request.is_programmatic) {  // nothing may come between it and another
          taken->states =
              in_flight_.back().area->states().acquire({.kernel = *kernel.kernel,
                                                        .grid = request.grid,
                                                        .dynamic_bytes = request.shared_bytes,
                                                        .stream = request.stream,
                                                        .stream_key = stream});
        }
        pipeline_.begin_launch(info);
        launch.id_ = g_current = info.id;
      }
    }
  }
  if (!launch.captured_ && launch.id_ == LaunchId{}) {
    streams_.launch_unchecked(stream);
  }
  count(launch);
  ASSERT((launch.id_ == LaunchId{}) == (descriptor == 0));
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

void LaunchTracker::abandon(Launch& launch, Handle function) {
  if (launch.opened_ != LaunchId{}) {
    end(std::exchange(launch.opened_, {}));
    launch.id_ = g_current = {};
  }
  begin_unlogged(launch, function);
  if (!launch.is_counted_) {
    launch.kernel_ = modules_.find(function);
    launch.check_ = {.is_left_out = false, .unchecked = "the tool failed on its launch"};
    count(launch);
  }
}

void LaunchTracker::submitted(Launch& launch, DriverStatus status) {
  ASSERT(launch.id_ == LaunchId{} || launch.is_counted_);
  g_current = {};
  if (launch.rewritten_ != nullptr) {
    const HeldLock lock(mutex_);
    if (delayer_ != nullptr) {
      delayer_->submitted(launch.rewritten_, launch.stream_);
    }
  }
  if (launch.beside_ != 0) {
    const HeldLock lock(mutex_);
    if (stress_ != nullptr) {
      stress_->end_beside(launch.beside_, launch.stream_);
    }
  }
  watch_end(launch.begin_, launch.stream_,
            {.kernel = launch.kernel_ == nullptr ? "" : launch.kernel_->name, .id = launch.id_});
  if (status != 0) {
    if (launch.id_ != LaunchId{}) {
      end(launch.id_);
    }
    if (launch.is_counted_) {
      refused(launch.kernel_.get(), launch.check_);
    }
  }
}

// Before the driver's call and not after it: a kernel of the emulated device runs inside the call,
// and one that never ends was launched all the same.
void LaunchTracker::count(Launch& launch) {
  if (!launch.captured_) {
    count(launch.kernel_.get(), launch.check_);
    launch.is_counted_ = true;
  }
}

void LaunchTracker::count(const KernelBinding* kernel, const LaunchCheck& check) {
  const HeldLock lock(book_mutex_);
  book_.count(kernel, check);
}

void LaunchTracker::refused(const KernelBinding* kernel, const LaunchCheck& check) {
  const HeldLock lock(book_mutex_);
  book_.refused(kernel, check);
}

void LaunchTracker::end(LaunchId id) {
  pipeline_.end_launch(id);
  const HeldLock lock(mutex_);
  std::erase_if(in_flight_, [&](const InFlight& launch) {
    if (launch.id == id) {
      release(launch);
    }
    return launch.id == id;
  });
}

bool LaunchTracker::wait_a_slice(LaunchId id, std::chrono::milliseconds slice) {
  if (pipeline_.wait_for(id, slice)) {
    return true;
  }
  const SignalsAllowed now;
  return false;
}

void LaunchTracker::wait_for(LaunchId id) {
  const auto begin = steady_clock::now();
  auto last_message = begin;
  auto last_progress = begin;
  std::uint64_t records = 0;
  while (!wait_a_slice(id, kWaitSlice)) {
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
    const HeldLock lock(mutex_);
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
  const HeldLock lock(mutex_);
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

std::string LaunchTracker::describe(LaunchId id) const {
  const HeldLock lock(book_mutex_);
  return " (" + report::demangle(book_.kernel_of(id)) + ")";
}

void LaunchTracker::give_up_all() {
  for (const LaunchId id : try_in_flight()) {
    pipeline_.end_launch(id);
  }
}

void LaunchTracker::settle(std::chrono::milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  // A kernel that stands still, or whose thread is in a signal's handler, logs nothing more.
  int quiet_slices = 0;
  for (const LaunchId id : try_in_flight()) {
    while (!wait_a_slice(id, kSettleSlice)) {
      quiet_slices = pipeline_.queued_bytes() == 0 ? quiet_slices + 1 : 0;
      if (quiet_slices == kQuietSlices || steady_clock::now() >= deadline) {
        return;
      }
    }
  }
}

std::vector<Handle> LaunchTracker::contexts() const {
  const HeldLock lock(mutex_);
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
  const HeldLock lock(mutex_);
  if (delayer_ != nullptr) {
    delayer_->close(context);
  }
  if (stress_ != nullptr) {
    stress_->close(context);
  }
  const auto area = areas_.find(context);
  if (area == areas_.end()) {
    return;
  }
  std::erase_if(in_flight_, [&](const InFlight& launch) { return launch.context == context; });
  DEBUG_ASSERT(is_valid());
  if (area->second != nullptr) {
    pipeline_.remove_queues(area->second->queues().rings);
  }
  areas_.erase(area);
}

void LaunchTracker::close(const std::string& reason) {
  const HeldLock lock(mutex_);
  closed_ = reason;
  delayer_ = nullptr;  // its memory stays, and that of stress: launches may still use it
  stress_ = nullptr;
}

}  // namespace barracuda::session
