#include "preload/process.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <unistd.h>
#include <vector>

#include "base/assert.h"
#include "base/driver_presence.h"
#include "base/file.h"
#include "base/held_lock.h"
#include "base/log.h"
#include "emulator/execution_counts.h"
#include "emulator/libcuda.h"
#include "emulator/libcudart.h"
#include "fatbin/host_image.h"
#include "preload/assembler_child.h"
#include "preload/code_origins.h"
#include "preload/driver_library.h"
#include "preload/guard.h"
#include "preload/hooks.h"
#include "preload/process_end.h"
#include "preload/process_plan.h"
#include "preload/reporter.h"
#include "preload/unhooked_driver.h"
#include "report/finish.h"
#include "session/execution_log.h"
#include "session/native_logger.h"
#include "session/plan.h"
#include "session/store_delayer.h"
#include "session/weak_options.h"

namespace barracuda::preload {
namespace {

// What is never destroyed, because hooks may run until the process is gone.
struct ProcessState {
  std::mutex session_mutex;  // held while the session is made
  std::mutex mutex;          // of what follows
  std::vector<std::string> blocked;
  std::string failure;
  std::shared_ptr<const session::PlanDecisions> decisions;  // of its plan, if there is one
};

std::atomic<session::Session*> g_session = nullptr;
std::atomic<bool> g_off = false;
std::atomic<bool> g_cuda_used = false;

ProcessState& state() {
  static auto* const made = new ProcessState;
  return *made;
}

[[noreturn]] void end_with_bad_option(const std::string& message) {
  report::RunData run;
  run.option_error = message;
  const report::Outcome outcome = report::Outlet(Options{}).finish(run);
  constexpr int kBadOption = 64;
  leave(outcome.change_status ? outcome.status : kBadOption);
}

const Options& read_options() {
  auto* const options = new Options;
  if (const char* const text = std::getenv("BARRACUDA_OPTIONS")) {
    if (const Expected<void> parsed = parse_options(*options, text); !parsed) {
      end_with_bad_option(parsed.error().to_string());
    }
  }
  const std::string as_given = to_string(*options);
  make_paths_absolute(*options);
  if (const std::string absolute = to_string(*options); absolute != as_given) {
    (void)setenv("BARRACUDA_OPTIONS", absolute.c_str(), 1);  // children may start in another folder
  }
  if (const Expected<void> taken = session::take_plan(*options); !taken) {
    end_with_bad_option(taken.error().to_string());
  }
  if (const Expected<void> resolved = resolve_schedule(*options); !resolved) {
    end_with_bad_option(resolved.error().to_string());
  }
  if (options->seeds > 1) {
    end_with_bad_option(
        "seeds=" + std::to_string(options->seeds) +
        ": only barracuda run and barracuda kernel can run a program several times");
  }
  if (const auto levels = parse_log_levels(options->log)) {
    set_log_levels(*levels);
  } else {
    end_with_bad_option(levels.error().to_string());
  }
  return *options;
}

// Our own bug. Protected work of a hook is left; a consumer thread stops where it is. Kernels of
// the emulated device cannot go on without us.
void assertion_failed_in_guest(const char* description) {
  tool_failed(description);
  HookScope::escape();
  if (device_choice() == DeviceChoice::kEmulated) {
    finish_process();
    constexpr int kToolFailed = 70;
    leave(kToolFailed);
  }
  while (true) {
    pause();
  }
}

// The hooks of its kernels tell a map by its bytes alone.
void note_changed_map(const void* bytes, const TensorMap& map) {
  if (session::Session* const session = existing_session()) {
    session->tensor_maps().made(bytes, map);
  }
}

void device_failed(const emulator::DeviceError& error, const void* /*function*/,
                   std::string_view kernel, std::uint64_t launch) {
  if (session::Session* const session = existing_session(); session != nullptr && !tool_is_off()) {
    const auto id = static_cast<detector::LaunchId>(launch);
    HookScope::protect(Loss::kCoverage,
                       [&] { session->failures().device_failed(error, kernel, id); });
  }
}

std::uint64_t current_launch() {
  return index_of(session::LaunchTracker::current());
}

void* resolve_emulated_driver(const char* name) {
  void* const hook = find_hook(name);
  return hook != nullptr ? hook : emulator::driver::find_function(name);
}

// A GPU's stores can be delayed; for the rest it has a weak memory of its own.
void check_weakness() {
  const Options& options = process_options();
  const bool is_emulated = device_choice() == DeviceChoice::kEmulated;
  const std::string simulated = session::simulated_option(options);
  if (simulated.empty()) {
    return;
  }
  if (!is_emulated) {
    end_with_bad_option(simulated +
                        ": only the emulated device makes loads stale, repeats decisions and "
                        "delays single lines; add device=cpu");
  }
  if (session::rewrites_stores(options, is_emulated)) {
    end_with_bad_option(simulated + " does not go with delay-levels=rewrite");
  }
}

session::Session* make_session() {
  ASSERT(existing_session() == nullptr);  // its signal handlers and threads are the process's
  check_weakness();
  auto made = session::Session::create(process_options(), make_unhooked_driver(),
                                       {.on_deadlock = report_deadlock, .on_finding = report_news});
  if (!made) {
    end_with_bad_option(made.error().to_string());
  }
  session::Session* const session = made->release();  // never destroyed
  session->images().know_code(find_origin);
  session->watch_launches(finish_without_device);
  start_reporter();
  // From here, so that it runs before the destructors of libraries, in which the report is made.
  (void)on_exit([](int status, void*) { note_exit_status(status); }, nullptr);
  if (device_choice() == DeviceChoice::kEmulated) {
    drain_at_exit();  // with NVIDIA's driver its own handlers must be registered first
  }
  return session;
}

// A forked child has the parent's memory but none of its threads: what was found is the parent's.
void forget_after_fork() {
  g_cuda_used = false;
  if (session::Session* const session = g_session.exchange(nullptr)) {
    g_off = true;
    session->abandon();
  }
  forget_report_after_fork();
}

void at_quick_end() {
  close_session();
  finish_process();
}

// Why the emulated device cannot run the program.
void check_runtime() {
  const auto image = fatbin::read_host_image("/proc/self/exe");
  if (image && image->has_static_runtime()) {
    block_process(
        "the program contains its own copy of the CUDA runtime (nvcc's default), which needs an "
        "NVIDIA driver, and there is none here. Build it with the shared runtime to run it on the "
        "emulated device: NVCC_APPEND_FLAGS=\"-cudart shared\"");
  } else if (image && !image->other_runtime().empty()) {
    block_process(
        "the program is linked with " + image->other_runtime() +
        ", which needs an NVIDIA driver, and there is none here. The emulated device "
        "stands in for the CUDA runtimes of 11.x, 12.x and 13.x: build the program with one of "
        "these");
  }
}

[[gnu::constructor]] void start(int count, char** arguments, char** /*environment*/) {
  const Options& options = process_options();
  if (options.help) {
    (void)std::fputs(options_help().c_str(), stderr);
  }
  set_assertion_handler(assertion_failed_in_guest);
  (void)pthread_atfork(nullptr, nullptr, forget_after_fork);
  watch_assembler(count, arguments);
  // Looking for the driver means loading it, which is left to programs that use CUDA.
  const bool no_gpu =
      options.device == "cpu" || (options.device == "auto" && !gpu_device_node_exists());
  if (no_gpu) {
    check_runtime();
  }
}

[[gnu::destructor]] void stop() {
  finish_process();
}

std::function<void(const emulator::ExecutionCounts&)> execution_log(const Options& options) {
  if (options.execution_log.empty()) {
    return nullptr;
  }
  const auto path = expand_file_name(options.execution_log);
  if (!path) {
    end_with_bad_option("option execution-log: " + path.error().to_string());
  }
  return [file = *path](const emulator::ExecutionCounts& counts) {
    session::append_execution_log(file, counts);
  };
}

}  // namespace

const Options& process_options() {
  static const Options& options = read_options();
  return options;
}

session::Session* existing_session() {
  return g_session.load(std::memory_order_acquire);
}

session::Session& process_session() {
  if (session::Session* const session = existing_session()) {
    return *session;
  }
  const HeldLock lock(state().session_mutex);
  if (g_session.load() == nullptr) {
    g_session.store(make_session(), std::memory_order_release);
  }
  return *g_session.load();
}

bool tool_is_off() {
  return g_off.load(std::memory_order_relaxed);
}

void switch_tool_off() noexcept {
  g_off = true;
}

void tool_failed(const std::string& what) {
  if (!g_off.exchange(true)) {
    const std::lock_guard lock(state().mutex);
    state().failure = what;
  }
}

void close_session() {
  if (session::Session* const session = existing_session(); session != nullptr && !tool_is_off()) {
    HookScope::protect(Loss::kReport, [&] {
      if (device_choice() == DeviceChoice::kEmulated && !in_host_callback()) {
        emulator::driver::end_unfinished_launches();
      }
      session->close(!in_host_callback());
    });
  }
}

void add_process_data(report::RunData& run) {
  std::ranges::move(hook_failures(), std::back_inserter(run.problems));
  const std::lock_guard lock(state().mutex);
  run.used_cuda = run.used_cuda || g_cuda_used;
  run.blocked.insert(run.blocked.end(), state().blocked.begin(), state().blocked.end());
  run.tool_failure = state().failure;
}

std::string plan_misfit() {
  const std::lock_guard lock(state().mutex);
  return state().decisions == nullptr ? "" : state().decisions->misfit();
}

void note_cuda_use() {
  if (!g_cuda_used.exchange(true)) {
    announce_process();
  }
}

void block_process(const std::string& sentence) {
  const std::lock_guard lock(state().mutex);
  state().blocked.push_back(sentence);
}

// Runs before what the driver has registered with atexit itself, which is later in the process's
// end.
void drain_at_exit() {
  static const bool registered =
      std::atexit(close_session) == 0 && at_quick_exit(at_quick_end) == 0;
  (void)registered;
}

void configure_emulated_device() {
  static const bool configured = [] {
    const Options& options = process_options();
    constexpr std::uint64_t kMilliseconds = 1000;
    if (options.seed && options.workers > 1) {
      log(Folder::kEmulator, LogLevel::kWarning,
          "with a seed one host thread executes all blocks, not workers=%llu",
          static_cast<unsigned long long>(options.workers));
    }
    auto weakness = session::weakness_of(options);
    if (!weakness) {
      end_with_bad_option(weakness.error().to_string());
    }
    std::optional<emulator::Weakness> memory;
    if (*weakness) {
      memory = std::move((*weakness)->weakness);
      const std::lock_guard lock(state().mutex);
      state().decisions = std::move((*weakness)->decisions);
    }
    emulator::driver::configure({.seed = options.seed,
                                 .is_reversed = options.schedule == "reversed",
                                 .workers = static_cast<std::uint32_t>(options.workers),
                                 .launch_timeout_ms = ends_late_kernels(options)
                                                          ? options.launch_timeout * kMilliseconds
                                                          : 0,
                                 .native_functions = session::native_logger(),
                                 .weakness = std::move(memory),
                                 .executed = execution_log(options)});
    emulator::driver::set_launch_failure_handler(device_failed);
    emulator::driver::set_launch_tagger(current_launch);
    emulator::driver::set_tensor_map_handler(note_changed_map);
    emulator::runtime::set_driver_resolver(resolve_emulated_driver);
    return true;
  }();
  (void)configured;
}

}  // namespace barracuda::preload
