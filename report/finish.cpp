#include "report/finish.h"

#include <algorithm>
#include <exception>
#include <string>
#include <unistd.h>
#include <utility>

#include "base/assert.h"
#include "report/exit_status.h"
#include "report/resolve.h"

namespace barracuda::report {
namespace {

void tell(const std::exception& error) {
  const std::string message =
      std::string("BARRACUDA: the report could not be made: ") + error.what() + "\n";
  (void)!write(STDERR_FILENO, message.data(), message.size());
}

}  // namespace

bool has_nothing_to_say(const RunData& run) {
  return !run.used_cuda && run.launch_count == 0 && run.kernels.empty() && run.blocked.empty() &&
         run.option_error.empty() && run.tool_failure.empty();
}

Outlet::Outlet(const Options& options) : options_(options) {}

Report Outlet::make_report(const RunData& run) const {
  Report report = resolve(run, options_);
  report.own_status = run.own_status;
  report.waiting_bytes = run.waiting_bytes;
  apply_filters(report, options_);
  return report;
}

Spool* Outlet::spool() {
  if (spool_ && spool_->process() == getpid()) {
    return &*spool_;
  }
  spool_.reset();
  if (const std::string directory = run_directory(); !directory.empty()) {
    if (auto created = Spool::create(directory)) {
      spool_.emplace(std::move(*created));
    }
  }
  return spool_ ? &*spool_ : nullptr;
}

void Outlet::announce() noexcept {
  try {
    (void)spool();  // if this fails, so will the report itself, which is printed
  } catch (const std::exception&) {
    return;
  }
}

bool Outlet::update(const RunData& run) noexcept {
  try {
    const Report report = make_report(run);
    Spool* const kept = spool();
    if (!publisher_) {
      publisher_.emplace(options_,
                         kept == nullptr ? Publishes::kEverything : Publishes::kProcessFiles);
    }
    publisher_->update(report);
    if (kept != nullptr) {
      (void)kept->update(report);
    }
    return std::ranges::count(report.findings, FindingSeverity::kError, &Finding::severity) != 0;
  } catch (const std::exception&) {
    return false;  // tried again at the end, and only then reported
  }
}

Outcome Outlet::hand_to_run(Report report) {
  if (!publisher_) {
    publisher_.emplace(options_, Publishes::kProcessFiles);
  }
  ASSERT(spool_.has_value());
  (void)publisher_->finish(report);
  if (auto written = spool_->end(report); !written) {
    report.tool_failure =
        "the report could not be handed to barracuda run: " + written.error().to_string();
    publisher_.reset();
    return publish_alone(std::move(report));
  }
  return {};
}

Outcome Outlet::publish_alone(Report report) {
  if (!publisher_) {
    publisher_.emplace(options_, Publishes::kEverything);
  }
  const int status = publisher_->finish(report);
  return status == report.own_status ? Outcome{} : Outcome{.status = status, .change_status = true};
}

Outcome Outlet::finish(const RunData& run) noexcept {
  try {
    if (has_nothing_to_say(run)) {
      return {};
    }
    Report report = make_report(run);
    return spool() != nullptr ? hand_to_run(std::move(report)) : publish_alone(std::move(report));
  } catch (const std::exception& error) {
    tell(error);
    return {.status = kStatusToolFailed, .change_status = true};
  }
}

}  // namespace barracuda::report
