#include "preload/process_end.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "base/assert.h"
#include "base/held_lock.h"
#include "preload/guard.h"
#include "preload/process.h"
#include "preload/process_plan.h"
#include "report/exit_status.h"
#include "report/finish.h"
#include "trace/recorder.h"

namespace barracuda::preload {
namespace {

constexpr std::chrono::seconds kPatience{2};
constexpr std::chrono::seconds kExitPatience{10};

struct Reporting {
  // Nobody waits for a kernel or for the program while holding it.
  std::mutex mutex;
  report::Outlet outlet{process_options()};
};

// Never destroyed, because hooks may run until the process is gone; a forked child gets one of its
// own.
std::atomic<Reporting*> g_reporting = nullptr;
std::atomic<bool> g_finished = false;
std::atomic<bool> g_dying = false;  // by a signal: nobody else may end the process
std::atomic<int> g_exit_status = report::kUnknownStatus;

Reporting& reporting() {
  if (Reporting* const known = g_reporting.load()) {
    return *known;
  }
  auto* const made = new Reporting;
  Reporting* none = nullptr;
  if (!g_reporting.compare_exchange_strong(none, made)) {
    delete made;
    return *none;
  }
  return *made;
}

session::Session* working_session() {
  return tool_is_off() ? nullptr : existing_session();
}

report::RunData collect(int own_status) {
  report::RunData run;
  if (session::Session* const session = working_session()) {
    HookScope::protect(Loss::kReport,
                       [&] { run = session->run_data(session::Session::Reading::kLast); });
  }
  add_process_data(run);
  if (std::string misfit = plan_misfit(); !misfit.empty()) {
    run.problems.push_back(std::move(misfit));
  }
  run.own_status = own_status;
  return run;
}

// The trace ends before the report is made: what went wrong with it is part of the report.
report::Outcome finish_run(report::RunData run) {
  session::Session* const session = existing_session();
  HookScope::protect(Loss::kReport, [&] {
    Expected<void> finished;
    if (tool_is_off() || report::has_nothing_to_say(run)) {
      return;
    }
    if (session != nullptr) {
      if (const auto written = session->write_fence_places(run);
          !written && run.tool_failure.empty()) {
        run.tool_failure =
            "the list of places for fences could not be written: " + written.error().to_string();
      }
      finished = session->finish_trace(run);
    } else {
      finished = trace::record_without_device(run, process_options());
    }
    if (!finished && run.tool_failure.empty()) {
      run.tool_failure =
          "the trace could not be written and is of no use: " + finished.error().to_string();
    }
  });
  report::Outcome outcome;
  const bool is_told = HookScope::protect(Loss::kReport, [&] {
    const HeldLock lock(reporting().mutex);
    outcome = reporting().outlet.finish(run);
  });
  return is_told ? outcome
                 : report::Outcome{.status = report::kStatusToolFailed, .change_status = true};
}

// True if nothing was under way, or is no longer.
bool check_arrived() {
  session::Session* const session = working_session();
  bool is_all = session == nullptr;
  if (session != nullptr) {
    HookScope::protect(Loss::kReport,
                       [&] { is_all = session->in_flight().check_arrived(kPatience); });
  }
  return is_all;
}

}  // namespace

void leave(int status) {
  (void)std::fflush(nullptr);
  leave_at_once(status);
}

void leave_at_once(int status) {
  while (true) {
    (void)syscall(SYS_exit_group, status);  // not _exit, which is hooked
  }
}

void wait_if_dying() {
  while (g_dying.load(std::memory_order_relaxed)) {
    pause();
  }
}

void announce_process() {
  HookScope::protect(Loss::kNothing, [] {
    const HeldLock lock(reporting().mutex);
    reporting().outlet.announce();
  });  // if that fails, so will the report
}

void note_exit_status(int status) {
  g_exit_status = status;
}

void finish_process() {
  if (g_finished.exchange(true)) {
    wait_if_dying();
    return;
  }
  const report::Outcome outcome = finish_run(collect(g_exit_status));
  if (outcome.change_status) {
    leave(outcome.status);
  }
}

// The program's other threads go on while this runs; what they launch now is not checked.
std::optional<int> finish_at_exit_call(int status) {
  if (g_finished.exchange(true)) {
    return std::nullopt;
  }
  close_session();
  const report::Outcome outcome = finish_run(collect(status));
  return outcome.change_status ? std::optional(outcome.status) : std::nullopt;
}

std::optional<int> finish_killed_process(int signal, const std::string& reason, GapIs gap) {
  if (g_finished.exchange(true)) {
    std::this_thread::sleep_for(kExitPatience);  // it is at its end already
    return std::nullopt;
  }
  g_dying = true;
  const bool is_at_rest = check_arrived();
  report::RunData run = collect(report::status_of_signal(signal));
  if (!is_at_rest || gap == GapIs::kAlways) {
    run.problems.push_back(reason);
  }
  const report::Outcome outcome = finish_run(std::move(run));
  return outcome.change_status ? std::optional(outcome.status) : std::nullopt;
}

void finish_before_exec() {
  if (!g_finished.exchange(true)) {
    (void)check_arrived();
    (void)finish_run(collect(report::kUnknownStatus));
  }
}

void exec_failed() {
  g_finished = false;
}

void finish_without_device() {
  if (g_finished.exchange(true)) {
    while (true) {
      pause();
    }
  }
  HookScope::protect(Loss::kReport, [] {
    ASSERT(existing_session() != nullptr);  // which calls this
    session::LaunchesInFlight& launches = existing_session()->in_flight();
    (void)launches.check_arrived(kPatience);
    launches.give_up_all();
  });
  report::RunData run = collect(report::kUnknownStatus);
  run.problems.emplace_back(
      "the program was ended with kernels under way: what they had not done yet is not checked");
  const report::Outcome outcome = finish_run(std::move(run));
  const auto status = static_cast<int>(process_options().error_exitcode);
  leave(outcome.change_status ? outcome.status : status);
}

bool updates_are_wanted() {
  const Options& options = process_options();
  return options.halt_on_error || !report::run_directory().empty() || !options.json.empty() ||
         !options.log_file.empty() || options.report == "live";
}

bool update_report() {
  bool has_error = false;
  HookScope::protect(Loss::kNothing, [&] {
    session::Session* const session = working_session();
    if (session == nullptr || g_finished) {
      return;
    }
    report::RunData run = session->run_data(session::Session::Reading::kSoFar);
    add_process_data(run);
    const HeldLock lock(reporting().mutex);
    if (!g_finished) {
      has_error = reporting().outlet.update(run);
    }
  });  // it is tried again
  return has_error && process_options().halt_on_error;
}

void forget_report_after_fork() {
  g_reporting = nullptr;
  g_finished = false;
  g_dying = false;
}

}  // namespace barracuda::preload
