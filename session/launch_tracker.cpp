#include "session/launch_tracker.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/held_lock.h"
#include "session/python_place.h"

namespace barracuda::session {
namespace {

using detector::LaunchId;

thread_local LaunchId g_current{};

}  // namespace

LaunchTracker::LaunchTracker(LaunchFilter& filter, DeviceDriver& driver,
                             detector::Pipeline& pipeline, ModuleRegistry& modules,
                             StreamTracker& streams, RunBooks& books, LaunchesInFlight& in_flight,
                             CopyTracker& copies)
    : filter_(filter),
      driver_(driver),
      pipeline_(pipeline),
      modules_(modules),
      streams_(streams),
      books_(books),
      in_flight_(in_flight),
      copies_(copies),
      repeated_(pipeline) {}

void LaunchTracker::rewrite(std::unique_ptr<RewrittenLaunches> rewritten) {
  ASSERT(rewritten_ == nullptr && rewritten != nullptr);
  rewritten_ = std::move(rewritten);
}

LaunchId LaunchTracker::current() {
  return g_current;
}

void LaunchTracker::watch(std::chrono::milliseconds timeout, LaunchWatch::Callback too_long) {
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
  if (launch.kernel_ == nullptr || !launch.kernel_->instrumented() || request.is_uninstrumented) {
    launch.check_.is_left_out = launch.kernel_ != nullptr && !filter_.matches(*launch.kernel_);
    if (request.is_uninstrumented) {
      launch.form_ = Launch::Form::kUninstrumented;
      launch.check_.unchecked =
          "it takes all the shared memory that a block can have, of which the tool needs some";
    }
    streams_.launch_unchecked(stream);
    count(launch);
    return;
  }
  const KernelBinding& kernel = *launch.kernel_;
  ASSERT(kernel.kernel->hidden_parameter_offset % sizeof(std::uint64_t) == 0);
  const wire::LaunchDescriptor* descriptor = nullptr;
  if (!launch.captured_) {
    if (rewritten_ != nullptr) {
      launch.rewritten_ = rewritten_->begin(kernel, request, stream);
      descriptor = launch.rewritten_.descriptor;
    } else {
      in_flight_.make_room(1);
      look_for_like(launch, request);
      descriptor = begin_logged(launch, request, stream);
    }
    if (launch.id_ == LaunchId{}) {
      streams_.launch_unchecked(stream);
    }
  }
  count(launch);
  ASSERT(rewritten_ != nullptr || (launch.id_ == LaunchId{}) == (descriptor == nullptr));
  if (!launch.captured_ && request.event != Handle{}) {
    streams_.event_recorded(request.event, stream);
  }
  void** const parameters = launch.parameters();
  void** const extra = launch.extra();
  if (launch.form_ == Launch::Form::kLogging) {
    launch.hidden_.descriptor = reinterpret_cast<std::uint64_t>(descriptor);
  }
  launch.arguments_.emplace(*kernel.kernel, parameters, extra, launch.hidden_);
  if (timer_ != nullptr && !launch.captured_) {
    launch.timed_ = timer_->begin(request.stream);  // last: only the launch comes between
  }
}

void LaunchTracker::look_for_like(Launch& launch, const LaunchRequest& request) {
  const KernelBinding& kernel = *launch.kernel_;
  launch.packed_ = packed_arguments(*kernel.kernel, launch.parameters(), launch.extra());
  if (request.has_plain_form && !launch.packed_.empty()) {
    launch.key_ = RepeatedLaunches::key_of(kernel, request, launch.packed_);
    launch.is_repeated_ = repeated_.is_checked(launch.key_, *kernel.kernel);
  }
}

const wire::LaunchDescriptor* LaunchTracker::begin_logged(Launch& launch,
                                                          const LaunchRequest& request,
                                                          detector::StreamKey stream) {
  const KernelBinding& kernel = *launch.kernel_;
  const HeldLock lock(in_flight_.mutex());
  if (!in_flight_.closed().empty()) {
    launch.check_.unchecked = in_flight_.closed();
    return nullptr;
  }
  if (filter_.leaves_out_next(kernel)) {
    launch.check_.is_left_out = true;
    return nullptr;
  }
  detector::LaunchInfo info{.id = {},
                            .grid = request.grid,
                            .block = request.block,
                            .cluster = kernel.cluster(request.cluster),
                            .ordered_after = {}};
  info.id = launch.opened_ = books_.open(kernel, info, streams_.number_of(stream));
  const LaunchesInFlight::InFlight* const taken =
      in_flight_.add(kernel, info, driver_.current_context(), launch.check_.unchecked);
  if (taken == nullptr) {
    return nullptr;
  }
  const bool may_begin_early = this->may_begin_early(request, *kernel.kernel, stream);
  if (!may_begin_early) {
    copies_.read_constants(request.constants, stream);
  }
  order(info, stream, may_begin_early);
  leave_out_accesses(launch, request, stream, *taken, may_begin_early);
  if (launch.form_ != Launch::Form::kLogging) {
    info.grid = {.x = 0, .y = 0, .z = 0};  // for the detector: it does nothing, and is over at once
  }
  pipeline_.begin_launch(info);
  launch.id_ = g_current = info.id;
  return taken->descriptor;
}

void LaunchTracker::leave_out_accesses(Launch& launch, const LaunchRequest& request,
                                       detector::StreamKey stream,
                                       const LaunchesInFlight::InFlight& taken,
                                       bool may_begin_early) {
  const ptx::Kernel& kernel = *launch.kernel_->kernel;
  const UnloggedAccesses::BegunLaunch begun{
      .id = taken.id,
      .stream = stream,
      .kernel = kernel,
      .arguments = std::move(launch.packed_),
      .variables = request.variables,
      .is_programmatic = request.is_programmatic,
      .may_begin_early = may_begin_early,
      .grid = request.grid,
      .block = request.block,
      .is_repeated = launch.is_repeated_,
      .most_owner_bytes = taken.area->states().most_owner_bytes()};
  const UnloggedAccesses::LeftOut unlogged = in_flight_.unlogged().begin(begun);
  if (unlogged.is_whole) {
    launch.form_ = Launch::Form::kPlain;
  } else if (request.has_guarded_form && unlogged.is_all_of(kernel) &&
             in_flight_.may_be_guarded(kernel)) {
    launch.form_ = Launch::Form::kGuarded;
    std::ranges::copy(unlogged.shortcuts, launch.hidden_.shortcuts);
    launch.hidden_.descriptor = in_flight_.add_guarded(taken, kernel);
  } else {
    const LaunchesInFlight::LeftOut left_out =
        in_flight_.leave_out(taken, request, begun, unlogged, stream);
    std::ranges::copy(left_out.shortcuts, launch.hidden_.shortcuts);
    launch.own_shared_end_ = left_out.own_shared_end;
    if (!launch.key_.empty()) {
      repeated_.logged(launch.key_, taken.id);
    }
  }
}

bool LaunchTracker::may_begin_early(const LaunchRequest& request, const ptx::Kernel& kernel,
                                    detector::StreamKey stream) {
  const bool is_let = streams_.lets_dependents_begin(stream, kernel.lets_dependents_begin);
  return request.is_programmatic && is_let && !kernel.waits_first;
}

void LaunchTracker::order(detector::LaunchInfo& info, detector::StreamKey stream,
                          bool may_begin_early) {
  if (!may_begin_early) {
    info.ordered_after = streams_.launch(stream, info.id);
    return;
  }
  detector::ProgrammaticOrder order =
      streams_.launch_programmatic(stream, info.id, books_.next_copy());
  info.ordered_after = std::move(order.ordered_after);
  info.prerequisite = order.prerequisite;
  info.prerequisite_over = order.prerequisite_over;
}

void LaunchTracker::begin_unlogged(Launch& launch, Handle function) {
  launch.form_ = Launch::Form::kLogging;
  const auto kernel = modules_.find(function);
  if (kernel != nullptr && kernel->instrumented()) {
    void** const parameters = launch.parameters();
    void** const extra = launch.extra();
    launch.arguments_.emplace(*kernel->kernel, parameters, extra, wire::HiddenArgument{});
  }
}

void LaunchTracker::abandon(Launch& launch, Handle function) {
  if (launch.opened_ != LaunchId{}) {
    in_flight_.end(std::exchange(launch.opened_, {}));
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
  if (timer_ != nullptr) {
    timer_->end(launch.timed_, launch.stream_);
  }
  if (rewritten_ != nullptr) {
    rewritten_->submitted(launch.rewritten_, launch.stream_);
  }
  watch_end(launch.begin_, launch.stream_,
            {.kernel = launch.kernel_ == nullptr ? "" : launch.kernel_->name, .id = launch.id_});
  if (status != 0) {
    if (launch.id_ != LaunchId{}) {
      in_flight_.end(launch.id_);
    }
    if (launch.is_counted_) {
      books_.refused(launch.kernel_.get(), launch.check_);
    }
  }
}

// Before the driver's call and not after it: a kernel of the emulated device runs inside the call,
// and one that never ends was launched all the same.
void LaunchTracker::count(Launch& launch) {
  if (!launch.captured_) {
    books_.count(launch.kernel_.get(), launch.check_);
    launch.is_counted_ = true;
  }
}

void LaunchTracker::close_context(Handle context) {
  if (watch_ != nullptr) {
    watch_->forget(context);
  }
  if (rewritten_ != nullptr) {
    rewritten_->close_context(context);
  }
  if (timer_ != nullptr) {
    timer_->close_context(context);
  }
  in_flight_.close_context(context);
}

void LaunchTracker::close(const std::string& reason) {
  in_flight_.close(reason);
  if (rewritten_ != nullptr) {
    rewritten_->close();
  }
  if (timer_ != nullptr) {
    timer_->close();
  }
}

}  // namespace barracuda::session
