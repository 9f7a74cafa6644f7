#include "session/session.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/file.h"
#include "base/log.h"
#include "base/signals_blocked.h"
#include "base/strong_id.h"
#include "emulator/libcuda.h"
#include "emulator/libcudart.h"
#include "report/process_name.h"
#include "report/symbol_name.h"
#include "session/block_schedule.h"
#include "session/source_line.h"
#include "session/store_delayer.h"
#include "trace/detector_options.h"

namespace barracuda::session {
namespace {

constexpr std::chrono::seconds kStreamPatience{10};

std::uint32_t detector_threads(const Options& options, const DeviceDriver& driver,
                               const detector::PipelineOptions& made) {
  constexpr std::uint64_t kMostByDefault = 16;
  const bool is_shareable = made.detector.model == detector::Model::kPtx;
  const bool repeats = driver.is_emulated() && options.seed.has_value();
  if (repeats || made.observer != nullptr || !is_shareable) {
    return 1;  // whose findings are the same again
  }
  const std::uint64_t cores = std::max(std::thread::hardware_concurrency(), 1U);
  const std::uint64_t wanted =
      options.detector_threads != 0 ? options.detector_threads : kMostByDefault;
  return static_cast<std::uint32_t>(std::min(wanted, cores));
}

// Kernels that a module has at least if it is loaded in parts.
std::size_t split_from(const Options& options, bool is_emulated) {
  constexpr std::size_t kDefault = 8;
  if (rewrites_program(options, is_emulated)) {
    return 0;
  }
  return options.split_modules.value_or(kDefault);
}

detector::PipelineOptions pipeline_options(const Options& options, const DeviceDriver& driver,
                                           detector::Observer* observer,
                                           std::function<void(const detector::LateLaunch&)> on_late,
                                           std::function<void(detector::LaunchId)> on_deadlock) {
  detector::PipelineOptions made;
  made.detector = trace::detector_options(options);
  made.observer = observer;
  made.drain_threads =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(options.drain_threads, 1));
  made.detector_threads = detector_threads(options, driver, made);
  made.late_after = std::chrono::seconds(ends_late_kernels(options) ? 0 : options.launch_timeout);
  made.on_late = std::move(on_late);
  made.on_deadlock = std::move(on_deadlock);
  return made;
}

detector::Dim3 extent_of(const emulator::Dim3& extent) {
  return {.x = extent.x, .y = extent.y, .z = extent.z};
}

struct StickyError {
  DriverStatus status;
  const char* what;
};

constexpr StickyError kStickyErrors[] = {
    {.status = 700, .what = "access to an illegal address"},
    {.status = 702, .what = "kernel timed out"},
    {.status = 710, .what = "device-side assertion failed"},
    {.status = 714, .what = "hardware stack error"},
    {.status = 715, .what = "illegal instruction"},
    {.status = 716, .what = "misaligned access"},
    {.status = 717, .what = "access in the wrong address space"},
    {.status = 718, .what = "jump to an invalid address"},
    {.status = 719, .what = "kernel ended by a trap or an unspecified fault"},
};

const StickyError* find_sticky(DriverStatus status) {
  const auto* const found = std::ranges::find(kStickyErrors, status, &StickyError::status);
  return found == std::end(kStickyErrors) ? nullptr : found;
}

Options with_filter_of(Options options, bool is_emulated) {
  if (options.filter == "gpu") {
    options.filter = is_emulated ? "off" : "auto";
  }
  return options;
}

// What the queues carried, and how busy detection was. `end`: how it came that no more did.
void log_queues(const detector::PipelineStatistics& queues, const char* end) {
  if (queues.records == 0) {
    return;
  }
  log(Folder::kSession, LogLevel::kInfo,
      "%llu records in %llu slots of %u bytes, at most %llu bytes waited to be applied%s",
      static_cast<unsigned long long>(queues.records),
      static_cast<unsigned long long>(queues.slots), static_cast<unsigned>(wire::kSlotBytes),
      static_cast<unsigned long long>(queues.parked_peak), end);
  const auto seconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  };
  log(Folder::kSession, LogLevel::kInfo,
      "detection was busy %.3f s of %.3f s; %.3f s of it on several threads, %.3f s for them all",
      seconds(queues.busy), seconds(queues.lifetime), seconds(queues.shared),
      seconds(queues.shared_by_threads));
}

}  // namespace

bool is_sticky(DriverStatus status) {
  return find_sticky(status) != nullptr;
}

Expected<std::unique_ptr<Session>> Session::create(const Options& options,
                                                   std::unique_ptr<DeviceDriver> driver,
                                                   DeadlockHandler on_deadlock) {
  TRY(KernelFilter filter, KernelFilter::parse(options));
  TRY(PtxChanges changes, PtxChanges::read(options));
  // The constructor is private: no make_unique.
  std::unique_ptr<Session> session(new Session(options, std::move(filter), std::move(changes),
                                               std::move(driver), std::move(on_deadlock)));
  TRY(auto stress, LaunchStress::create(options, *session->driver_, session->problems_));
  if (rewrites_program(options, session->driver_->is_emulated())) {
    TRY(auto delayer, StoreDelayer::create(options, *session->driver_, session->problems_));
    const bool stresses = is_stressed(options, session->driver_->is_emulated());
    session->launches_.rewrite(std::move(delayer), stresses ? std::move(stress) : nullptr);
  }
  return session;
}

Session::Session(const Options& options, KernelFilter filter, PtxChanges changes,
                 std::unique_ptr<DeviceDriver> driver, DeadlockHandler on_deadlock)
    : options_(with_filter_of(options, driver->is_emulated())),
      driver_(std::move(driver)),
      recorder_(trace::Recorder::create(options)),
      pipeline_(pipeline_options(
          options, *driver_, recorder_.get(),
          [this](const detector::LateLaunch& late) { tell_late(late); },
          // The emulated device ends such a kernel itself.
          driver_->is_emulated() ? nullptr : std::move(on_deadlock))),
      modules_(std::move(changes),
               {.reduce_in_block = options_.reduce_in_block,
                .for_paper = options_.model == "paper",
                .renumbers_blocks = renumbers_blocks(options_, *driver_),
                .delays_stores = rewrites_stores(options_, driver_->is_emulated()),
                .is_stressed = is_stressed(options_, driver_->is_emulated()),
                .is_unlogged = rewrites_program(options_, driver_->is_emulated()),
                .permutes_warps = options_.shuffle == "warps"},
               split_from(options_, driver_->is_emulated())),
      launches_(options_, std::move(filter), *driver_, pipeline_, modules_, streams_, allocations_,
                problems_) {
  launches_.record(recorder_.get());
}

const ProgramImage& Session::prepare(const void* image) {
  return prepare_guarded([&] { return read_image(image, *driver_, find_origin_); });
}

const ProgramImage& Session::prepare_file(const std::string& content) {
  return prepare_guarded([&] { return read_image_file(content, *driver_, find_origin_); });
}

// What is thrown here is our fault, and costs this image its instrumentation, not the tool.
template <typename Read>
const ProgramImage& Session::prepare_guarded(const Read& read) {
  try {
    return prepare_source(read());
  } catch (const std::exception& error) {
    const std::string reason = fmt::format("the tool failed on its module: {}", error.what());
    problems_.add("a module is loaded without instrumentation: " + reason);
    return modules_.unreadable(reason);
  }
}

const ProgramImage& Session::prepare_source(const ImageSource& source) {
  {
    // Later, while the process exits, the driver may not answer any more.
    const std::lock_guard lock(mutex_);
    if (device_name_.empty()) {
      device_name_ = driver_->device_name();
      if (recorder_ != nullptr) {
        recorder_->device_named(device_name_);
      }
    }
  }
  ptx::SiteTable added;
  const ProgramImage& prepared = modules_.prepare(source, added);
  if (!added.empty()) {
    ASSERT(prepared.site_count == added.size());
    std::vector<wire::SiteInfo> sites;
    sites.reserve(added.size());
    std::ranges::transform(added, std::back_inserter(sites), &ptx::Site::info);
    if (recorder_ != nullptr) {
      recorder_->sites_described(added);
    }
    pipeline_.add_sites(added.front().id, sites);
    has_sites_ = true;
  }
  return prepared;
}

void Session::image_blocked(const std::string& reason) {
  kernel_blocked(reason + ". The emulated device executes PTX only.");
}

void Session::kernel_blocked(const std::string& reason) {
  const std::string sentence = "a kernel cannot run on the emulated device: " + reason;
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(blocked_, sentence) == blocked_.end()) {
    blocked_.push_back(sentence);
  }
}

void Session::context_synchronized(Handle context, DriverStatus status) {
  if (status == 0) {
    streams_.device_synchronized();
  } else if (is_sticky(status)) {
    context_failed(context, status);
  }
}

void Session::observe(DriverStatus status) {
  if (is_sticky(status)) {
    context_failed(driver_->current_context(), status);
  }
}

// On the emulated device the launch itself has said where it failed.
void Session::context_failed(Handle context, DriverStatus status) {
  {
    const std::lock_guard lock(mutex_);
    if (!failed_contexts_.insert(context).second) {
      return;
    }
    if (!driver_->is_emulated()) {
      report::MemoryErrorRecord& error = memory_errors_.emplace_back();
      error.what = find_sticky(status)->what;
    }
  }
  launches_.drain(context, true);
}

void Session::drain_current() {
  if (closed_) {
    return;  // the driver may be gone already
  }
  const Handle context = driver_->current_context();
  if (context == 0) {
    return;
  }
  if (captures_ > 0) {
    launches_.settle(kStreamPatience);
    return;
  }
  const DriverStatus status = synchronize(context);
  context_synchronized(context, status);
  if (status == 0) {
    launches_.drain(context, false);
  }
}

// A kernel may run for ever.
DriverStatus Session::synchronize(Handle context) {
  const SignalsAllowed while_waiting;
  return driver_->synchronize(context);
}

void Session::forget(const MemoryRange& range) {
  ASSERT(range.address != 0 && range.bytes != 0);
  pipeline_.forget(range.address, range.bytes);
}

void Session::before_free(std::uint64_t address) {
  const auto range = allocations_.find(address);
  if (!range || closed_) {
    return;
  }
  drain_current();
  forget(*range);
  allocations_.remove(address);
}

void Session::before_stream_free(std::uint64_t address, Handle stream) {
  const auto range = allocations_.find(address);
  if (range && !closed_ && !driver_->stream_is_capturing(stream)) {
    allocations_.remove(address, launches_.freed(*range, stream));
  }
}

void Session::prepare_launches() {
  if (!closed_ && has_sites_) {
    launches_.prepare(driver_->current_context());
  }
}

void Session::allocated(const MemoryRange& range, const std::string& description) {
  allocations_.add(range.address, range.bytes, description);
  prepare_launches();
  if (!closed_ && !allocations_.take_frees(range).empty()) {
    drain_current();  // a pool that gave it up did not wait for less
    forget(range);
  }
}

void Session::stream_allocated(const MemoryRange& range, Handle stream, const char* function) {
  allocations_.add(range.address, range.bytes, function);
  if (!closed_ && !driver_->stream_is_capturing(stream)) {
    launches_.allocated(range, stream, allocations_.take_frees(range));
  }
}

void Session::before_unload(Handle module) {
  const auto loaded = modules_.find_module(module);
  if (loaded == nullptr || closed_) {
    return;
  }
  drain_current();
  for (const DeviceVariable& variable : loaded->image->variables) {
    const auto range = driver_->variable(loaded->handle, loaded->is_library, variable.name);
    if (range && allocations_.find(range->address)) {
      forget(*range);
      allocations_.remove(range->address);
    }
  }
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(constants_, [&](const auto& entry) { return entry.first.first == loaded.get(); });
    std::erase_if(placed_, [&](const auto& entry) { return entry.module == loaded.get(); });
  }
  modules_.forget(module);
}

void Session::before_context_end(Handle context) {
  const DriverStatus status = synchronize(context);
  context_synchronized(context, status);
  launches_.drain(context, status != 0);
  launches_.close_context(context);
  const std::lock_guard lock(mutex_);
  failed_contexts_.erase(context);
  std::erase_if(constants_, [&](const auto& entry) { return entry.first.second == context; });
  std::erase_if(placed_, [&](const auto& entry) { return entry.context == context; });
}

std::vector<ptx::SourceFrame> Session::frames_at(std::string_view kernel,
                                                 const std::string& function,
                                                 std::uint32_t ptx_line) const {
  std::vector<ptx::SourceFrame> frames;
  if (const ProgramImage* const image = modules_.find_image_of(kernel); image != nullptr) {
    const ptx::SiteList sites = modules_.sites();
    const auto first = sites.table().begin() + index_of(image->first_site);
    frames = source_frames(modules_.loaded_text(*image, kernel), ptx_line,
                           {first, first + image->site_count});
  }
  if (frames.empty()) {
    frames.push_back({.function = function});
  }
  return frames;
}

void Session::device_failed(const emulator::DeviceError& error, std::string_view kernel) {
  if (error.code == emulator::DeviceErrorCode::kIllegalInstruction) {
    // The program did nothing wrong.
    kernel_blocked(error.message);
    return;
  }
  report::MemoryErrorRecord record;
  record.end = error.code == emulator::DeviceErrorCode::kTimeout ? report::KernelEnd::kTimeout
               : error.code == emulator::DeviceErrorCode::kDeadlock
                   ? report::KernelEnd::kDeadlock
                   : report::KernelEnd::kMemoryError;
  record.what = error.what.empty() ? error.message : error.what;
  record.kernel = kernel;
  record.launch = LaunchTracker::current();
  record.address = error.address;
  record.size = error.access_bytes;
  record.is_write = error.is_write;
  record.has_thread = !error.function.empty();
  record.block = extent_of(error.block);
  record.thread = extent_of(error.thread);
  record.inlined = frames_at(kernel, error.function, error.ptx_line);
  record.where = record.inlined.front();
  for (const emulator::Standing& standing : error.standing) {
    record.standing.push_back({.frames = frames_at(kernel, standing.function, standing.ptx_line),
                               .block = extent_of(standing.block),
                               .thread = extent_of(standing.thread),
                               .waits = standing.waits});
  }
  const std::lock_guard lock(mutex_);
  memory_errors_.push_back(std::move(record));
}

void Session::tell_late(const detector::LateLaunch& launch) const {
  constexpr std::chrono::seconds kQuiet{1};
  constexpr std::size_t kMebibyte = std::size_t{1} << 20;
  constexpr std::size_t kBehind = 16 * kMebibyte;  // less is applied in no time
  const bool is_quiet = launch.since_last >= kQuiet;
  const double seconds_ago = std::chrono::duration<double>(launch.since_last).count();
  const std::string logged = launch.records == 0
                                 ? "nothing so far"
                                 : fmt::format("{} records so far, the last one {:.1f} s ago",
                                               launch.records, seconds_ago);
  const std::string backlog =
      launch.waiting_bytes < kBehind
          ? ""
          : fmt::format(" Detection is behind, {} MiB of records wait: it may be over already.",
                        launch.waiting_bytes / kMebibyte);
  log(Folder::kSession, LogLevel::kWarning,
      "launch %u%s is not over %llu seconds after it could begin (launch-timeout) and has logged "
      "%s: %s.%s If you interrupt the program (Ctrl-C), it reports what was found and which "
      "threads wait at a barrier; at-launch-timeout=end ends such a kernel",
      static_cast<std::uint32_t>(launch.id), launches_.describe(launch.id).c_str(),
      static_cast<unsigned long long>(options_.launch_timeout), logged.c_str(),
      is_quiet ? "it computes without touching memory, stands behind other work, or its threads "
                 "wait for what never comes"
               : "it polls what never changes, or is a long kernel that the tool slows down",
      backlog.c_str());
}

void Session::watch_launches(const std::function<void()>& too_long) {
  if (!ends_late_kernels(options_) || driver_->is_emulated()) {
    return;
  }
  const std::chrono::seconds timeout(options_.launch_timeout);
  launches_.watch(timeout, [this, too_long](const WatchedLaunch& launch) {
    {
      const std::lock_guard lock(mutex_);
      report::MemoryErrorRecord& error = memory_errors_.emplace_back();
      error.end = report::KernelEnd::kTimeout;
      error.what = "did not end within " + std::to_string(options_.launch_timeout) +
                   " s (launch-timeout); a GPU's kernel cannot be ended, so the program was";
      error.kernel = launch.kernel;
      error.launch = launch.id;
    }
    too_long();
  });
}

void Session::close(bool can_wait) {
  if (!can_wait) {
    launches_.settle(kStreamPatience);
  }
  for (const Handle context : can_wait ? launches_.contexts() : std::vector<Handle>()) {
    before_context_end(context);
  }
  launches_.close("launched while the process was ending");
  closed_ = true;
  log_queues(pipeline_.statistics(), "");
}

void Session::add_gaps(report::RunData& run, Reading reading) const {
  run.problems = problems_.sentences();
  if (reading == Reading::kLast) {  // until then, a module may still come
    std::ranges::move(modules_.unfit_changes(), std::back_inserter(run.problems));
  }
  for (const report::MemoryErrorRecord& error : run.memory_errors) {
    run.problems.push_back(
        (error.kernel.empty() ? "a kernel" : "kernel " + report::demangle(error.kernel)) +
        " was ended before its end: what its threads had not done yet is not checked");
  }
  const std::uint64_t rejected =  // waits for detection
      reading == Reading::kLast ? pipeline_.statistics().rejected : 0;
  if (rejected != 0) {
    run.problems.push_back(std::to_string(rejected) + " records were malformed");
  }
  if (!driver_->is_emulated()) {
    return;
  }
  if (run.blocked.empty()) {
    for (const std::string& reason : emulator::driver::refused_images()) {
      run.problems.push_back("an image was not loaded: " + reason);
    }
  }
  for (const auto& [kernel, launches] : emulator::runtime::refused_launches()) {
    run.launch_count += launches;
    run.kernels.push_back({.name = kernel,
                           .reason = "its module could not be loaded on the emulated device",
                           .launches = launches});
  }
  auto calls = emulator::driver::unsupported_calls();
  const auto runtime_calls = emulator::runtime::unsupported_calls();
  calls.insert(calls.end(), runtime_calls.begin(), runtime_calls.end());
  for (const auto& [name, count] : calls) {
    run.problems.push_back(name + " was called " + std::to_string(count) +
                           (count == 1 ? " time" : " times") +
                           " and is not supported by the emulated device");
  }
}

void Session::abandon() {
  if (recorder_ != nullptr) {
    recorder_->abandon();
  }
  pipeline_.abandon();
}

Expected<void> Session::finish_trace(const report::RunData& run) {
  return recorder_ == nullptr ? Expected<void>() : recorder_->finish(run);
}

Expected<void> Session::write_fence_places(const report::RunData& run) const {
  if (options_.fence_places.empty()) {
    return {};
  }
  std::set<std::string> launched;
  for (const report::KernelRecord& kernel : run.kernels) {
    if (kernel.launches != 0) {
      launched.insert(kernel.name);
    }
  }
  TRY(const std::string path, expand_file_name(options_.fence_places));
  return write_file(path, modules_.fence_places(launched));
}

std::uint64_t Session::finding_changes() const {
  return pipeline_.finding_changes();
}

void Session::end_launch(detector::LaunchId launch) {
  log(Folder::kSession, LogLevel::kWarning,
      "launch %u%s can never end: all threads that are left of a block wait at barriers that "
      "nobody "
      "can open",
      static_cast<std::uint32_t>(launch), launches_.describe(launch).c_str());
  pipeline_.end_launch(launch);
}

report::RunData Session::run_data(Reading reading) const {
  report::RunData run;
  run.findings = reading == Reading::kLast ? pipeline_.findings() : pipeline_.findings_so_far();
  run.sites = modules_.sites();
  run.allocations = allocations_.records();
  {
    const std::lock_guard lock(mutex_);
    run.memory_errors = memory_errors_;
    run.device = device_name_;
    run.blocked = blocked_;
  }
  run.copies = launches_.copies_named_in(run.findings);
  launches_.read_book([&run](const LaunchBook& book) {
    run.launches = book.named_in(run.findings, run.memory_errors);
    run.launch_count = book.launch_count();
    run.kernels = book.kernels();
    run.kernel_libraries = book.libraries();
    run.not_covered = book.not_covered();
  });
  if (reading == Reading::kLast && !closed_) {
    log_queues(pipeline_.statistics(),
               "; the program was ended before its kernels were waited for");
  }
  run.process = report::this_process();
  run.used_cuda = true;
  run.waiting_bytes = reading == Reading::kLast ? 0 : pipeline_.queued_bytes();
  add_gaps(run, reading);
  return run;
}

}  // namespace barracuda::session
