#include "session/session.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <sched.h>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/held_lock.h"
#include "base/log.h"
#include "emulator/libcuda.h"
#include "emulator/libcudart.h"
#include "report/coverage.h"
#include "report/process_name.h"
#include "report/symbol_name.h"
#include "session/block_schedule.h"
#include "session/device_area.h"
#include "session/store_delayer.h"
#include "session/unlogged_accesses.h"
#include "trace/detector_options.h"

namespace barracuda::session {
namespace {

constexpr std::size_t kMostPlaces = 6;  // that are named for having the most records

// That its threads may run on: a container, or taskset, may leave it fewer than there are.
std::uint32_t cores_of_process() {
  cpu_set_t cores;
  const int count = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 0;
  return count > 0 ? static_cast<std::uint32_t>(count)
                   : std::max(std::thread::hardware_concurrency(), 1U);
}

std::uint32_t detector_threads(const Options& options, const DeviceDriver& driver,
                               const detector::PipelineOptions& made) {
  constexpr std::uint64_t kMostByDefault = 16;
  const bool is_shareable = made.detector.model == detector::Model::kPtx;
  const bool repeats = driver.is_emulated() && options.seed.has_value();
  if (repeats || made.observer != nullptr || !is_shareable) {
    return 1;  // whose findings are the same again
  }
  const std::uint64_t cores = cores_of_process();
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
                                           Session::Handlers handlers) {
  detector::PipelineOptions made;
  made.detector = trace::detector_options(options);
  made.observer = observer;
  made.drain_threads =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(options.drain_threads, 1));
  made.detector_threads = detector_threads(options, driver, made);
  made.race_limit = DeviceArea::has_quiet_sites(driver, options) ? options.race_limit : 0;
  made.late_after = std::chrono::seconds(ends_late_kernels(options) ? 0 : options.launch_timeout);
  made.on_late = std::move(on_late);
  // The emulated device ends such a kernel itself.
  made.on_deadlock = driver.is_emulated() ? nullptr : std::move(handlers.on_deadlock);
  made.on_finding = std::move(handlers.on_finding);
  return made;
}

// Why nothing is checked where the program is rewritten.
std::string reason_of_rewriting(const Options& options, bool is_emulated) {
  return rewrites_stores(options, is_emulated)
             ? "races are not looked for where stores are delayed by rewriting the program"
         : is_stressed(options, is_emulated)
             ? "races are not looked for where the program is rewritten for stress"
             : "races are not looked for where instructions are counted or timed";
}

Options with_filter_of(Options options, bool is_emulated) {
  if (options.filter == "gpu") {
    options.filter = is_emulated ? "off" : "auto";
  }
  return options;
}

// Its line, or its instruction if it has none, and its kernel.
std::string place_of(const ptx::Site& site) {
  const bool has_line = !site.frames.empty() && !site.frames.front().file.empty();
  return (has_line ? fmt::format("{}:{}", site.frames.front().file, site.frames.front().line)
                   : site.instruction) +
         " of " + report::demangle(site.function);
}

void log_busiest(const std::vector<detector::SiteShare>& busiest, const ptx::SiteTable& sites) {
  if (!log_enabled(Folder::kSession, LogLevel::kInfo)) {
    return;  // names cost more than the rest of an end
  }
  std::map<std::string, double> share_of;
  for (const auto& [site, share] : busiest) {
    const auto index = static_cast<std::size_t>(site);
    if (index < sites.size()) {
      share_of[place_of(sites[index])] += share;
    }
  }
  std::vector<std::pair<double, std::string>> places;
  places.reserve(share_of.size());
  for (const auto& [place, share] : share_of) {
    places.emplace_back(share, place);
  }
  std::ranges::sort(places, std::greater<>());
  places.resize(std::min(places.size(), kMostPlaces));
  for (const auto& [share, place] : places) {
    log(Folder::kSession, LogLevel::kInfo, "%.0f %% of them: %s", 100 * share, place.c_str());
  }
}

// What the queues carried, by which instructions, and how busy detection was. `end`: how it came
// that no more did.
void log_queues(const detector::PipelineStatistics& queues, const ptx::SiteTable& sites,
                const char* end) {
  if (queues.records == 0) {
    return;
  }
  log(Folder::kSession, LogLevel::kInfo,
      "%llu records in %llu slots of %u bytes, at most %llu bytes waited to be applied%s",
      static_cast<unsigned long long>(queues.records),
      static_cast<unsigned long long>(queues.slots), static_cast<unsigned>(wire::kSlotBytes),
      static_cast<unsigned long long>(queues.parked_peak), end);
  log_busiest(queues.busiest, sites);
  const auto seconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  };
  log(Folder::kSession, LogLevel::kInfo,
      "detection was busy %.3f s of %.3f s; %.3f s of it on several threads, %.3f s for them all",
      seconds(queues.busy), seconds(queues.lifetime), seconds(queues.shared),
      seconds(queues.shared_by_threads));
}

// A program whose works never touch the same memory at one time may say so.
void log_unforeseen(LaunchesInFlight& in_flight) {
  const HeldLock lock(in_flight.mutex());
  if (const std::uint64_t launches = in_flight.unlogged().unforeseen_launches(); launches != 0) {
    log(Folder::kSession, LogLevel::kInfo,
        "%llu launches were logged as a whole, for work of another stream might have joined them: "
        "filter=on leaves out what it can of such launches, and reports if work did join",
        static_cast<unsigned long long>(launches));
  }
}

}  // namespace

Expected<std::unique_ptr<Session>> Session::create(const Options& options,
                                                   std::unique_ptr<DeviceDriver> driver,
                                                   Handlers handlers) {
  TRY(KernelFilter filter, KernelFilter::parse(options));
  TRY(PtxChanges changes, PtxChanges::read(options));
  // The constructor is private: no make_unique.
  std::unique_ptr<Session> session(new Session(options, std::move(filter), std::move(changes),
                                               std::move(driver), std::move(handlers)));
  TRY(auto stress, LaunchStress::create(options, *session->driver_, session->problems_));
  const bool is_emulated = session->driver_->is_emulated();
  if (rewrites_program(options, is_emulated)) {
    TRY(auto delayer, StoreDelayer::create(options, *session->driver_, session->problems_));
    session->launches_.rewrite(std::make_unique<RewrittenLaunches>(
        std::move(delayer), is_stressed(options, is_emulated) ? std::move(stress) : nullptr));
    const std::string reason = reason_of_rewriting(options, is_emulated);
    if (!is_emulated && !options.execution_log.empty()) {
      TRY(const std::string path, expand_file_name(options.execution_log));
      session->launches_.time(std::make_unique<KernelTimer>(*session->driver_, path));
    }
    session->in_flight_.close(reason);
    session->problems_.add(reason);
  }
  return session;
}

Session::Session(const Options& options, KernelFilter filter, PtxChanges changes,
                 std::unique_ptr<DeviceDriver> driver, Handlers handlers)
    : options_(with_filter_of(options, driver->is_emulated())),
      driver_(std::move(driver)),
      recorder_(trace::Recorder::create(options)),
      pipeline_(pipeline_options(
          options_, *driver_, recorder_.get(),
          [this](const detector::LateLaunch& late) { tell_late(late); }, std::move(handlers))),
      modules_(std::move(changes),
               {.reduce_in_block = options_.reduce_in_block,
                .for_paper = options_.model == "paper",
                .renumbers_blocks = renumbers_blocks(options_, *driver_),
                .is_emulated = driver_->is_emulated(),
                .tells_shared_places = !driver_->is_emulated(),
                .has_shortcuts = UnloggedAccesses::are_wanted(options_),
                .delays_stores = rewrites_stores(options_, driver_->is_emulated()),
                .is_stressed = is_stressed(options_, driver_->is_emulated()),
                .is_unlogged = rewrites_program(options_, driver_->is_emulated()),
                .permutes_warps = options_.shuffle == "warps"},
               split_from(options_, driver_->is_emulated())),
      images_(*driver_, modules_, pipeline_, recorder_.get(), problems_),
      variables_(*driver_, modules_, allocations_),
      failures_(*driver_, modules_),
      books_(recorder_.get()),
      in_flight_(options_, *driver_, pipeline_, streams_, allocations_, books_, problems_),
      copies_(pipeline_, streams_, books_, in_flight_, problems_),
      filter_(options_, std::move(filter)),
      launches_(filter_, *driver_, pipeline_, modules_, streams_, books_, in_flight_, copies_),
      graphs_(filter_, *driver_, pipeline_, streams_, books_, in_flight_, copies_),
      contexts_(*driver_, streams_, images_, in_flight_, launches_, variables_, failures_),
      memory_(*driver_, pipeline_, allocations_, places_, contexts_, copies_) {}

void Session::before_unload(Handle module) {
  const auto loaded = modules_.find_module(module);
  if (loaded == nullptr || contexts_.is_closed()) {
    return;
  }
  memory_.before_unload(*loaded);
  variables_.forget(*loaded);
  modules_.forget(module);
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
      static_cast<std::uint32_t>(launch.id), books_.describe(launch.id).c_str(),
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
    failures_.timed_out(launch, options_.launch_timeout);
    too_long();
  });
}

void Session::close(bool can_wait) {
  contexts_.close(can_wait);
  log_queues(pipeline_.statistics(), modules_.sites(), "");
  log_unforeseen(in_flight_);
}

void Session::add_gaps(report::RunData& run, Reading reading) const {
  std::ranges::move(problems_.sentences(), std::back_inserter(run.problems));
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
    run.problems.push_back(report::malformed_records_gap(rejected));
  }
  if (std::ranges::any_of(run.findings.races, &detector::RaceEvent::is_frequent)) {
    run.problems.push_back(report::frequent_races_gap(options_.race_limit));
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
      "nobody can open",
      static_cast<std::uint32_t>(launch), books_.describe(launch).c_str());
  pipeline_.end_launch(launch);
}

report::RunData Session::run_data(Reading reading) const {
  constexpr std::chrono::seconds kPatience{5};
  report::RunData run;
  std::optional<detector::Pipeline::Rest> rest;
  if (reading == Reading::kLast && !rest.emplace(pipeline_, kPatience).has_come()) {
    reading = Reading::kSoFar;
    run.problems.emplace_back("detection was still busy: what was logged last is not checked");
  }
  run.findings = reading == Reading::kLast ? pipeline_.findings() : pipeline_.findings_so_far();
  run.sites = modules_.sites();
  run.allocations = allocations_.records();
  run.device = images_.device_name();
  failures_.add_to(run);
  places_.describe(run);
  books_.read([&run](const LaunchBook& launches, const CopyBook& copies) {
    run.copies = copies.named_in(run.findings);
    run.launches = launches.named_in(run.findings, run.memory_errors);
    run.launch_count = launches.launch_count();
    run.kernels = launches.kernels();
    run.kernel_libraries = launches.libraries();
    run.not_covered = launches.not_covered();
    run.register_hazards = launches.register_hazards();
  });
  for (report::LaunchRecord& launch : run.launches) {
    launch.leaves_out_barriers =
        launch.leaves_out_barriers && UnloggedAccesses::are_wanted(options_);
  }
  if (reading == Reading::kLast && !contexts_.is_closed()) {
    log_queues(pipeline_.statistics(), run.sites,
               "; the program was ended before its kernels were waited for");
  }
  run.process = report::this_process();
  run.used_cuda = true;
  run.waiting_bytes = reading == Reading::kLast ? 0 : pipeline_.queued_bytes();
  add_gaps(run, reading);
  return run;
}

}  // namespace barracuda::session
