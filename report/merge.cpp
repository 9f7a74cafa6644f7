#include "report/merge.h"

#include <algorithm>
#include <utility>

#include "report/bug.h"
#include "report/coverage.h"

namespace barracuda::report {
namespace {

void add_new(std::vector<std::string>& to, std::vector<std::string>& from) {
  for (std::string& text : from) {
    if (std::ranges::find(to, text) == to.end()) {
      to.push_back(std::move(text));
    }
  }
}

void add_uses(std::vector<SuppressionUse>& to, const std::vector<SuppressionUse>& from) {
  for (const SuppressionUse& use : from) {
    const auto known = std::ranges::find(to, use.rule, &SuppressionUse::rule);
    if (known == to.end()) {
      to.push_back(use);
    } else {
      known->count += use.count;
    }
  }
}

void add_message(std::string& to, std::string& from) {
  if (to.empty()) {
    to = std::move(from);
  }
}

}  // namespace

Report merge(std::vector<Report> reports) {
  Report all;
  // Whichever came first: the same processes make the same report.
  std::ranges::stable_sort(reports, {}, &Report::processes);
  for (Report& report : reports) {
    for (Finding& finding : report.findings) {
      add_finding(all.findings, std::move(finding));
    }
    all.processes.insert(all.processes.end(), report.processes.begin(), report.processes.end());
    all.coverage.launches += report.coverage.launches;
    all.coverage.instrumented.merge(report.coverage.instrumented);
    all.coverage.not_instrumented.merge(report.coverage.not_instrumented);
    for (auto& [name, kernels] : report.coverage.libraries) {
      LibraryKernels& library = all.coverage.libraries[name];
      library.instrumented.merge(kernels.instrumented);
      library.not_instrumented.merge(kernels.not_instrumented);
    }
    add_new(all.coverage.gaps, report.coverage.gaps);
    all.waiting_bytes += report.waiting_bytes;
    all.coverage.left_out_launches += report.coverage.left_out_launches;
    add_new(all.coverage.left_out_kernels, report.coverage.left_out_kernels);
    for (auto& [name, kernels] : report.coverage.left_out_libraries) {
      all.coverage.left_out_libraries[name].merge(kernels);
    }
    all.suppressed += report.suppressed;
    add_uses(all.suppressions, report.suppressions);
    all.known += report.known;
    add_message(all.model, report.model);
    add_message(all.device, report.device);
    add_new(all.blocked, report.blocked);
    add_new(all.lost, report.lost);
    add_message(all.option_error, report.option_error);
    add_message(all.tool_failure, report.tool_failure);
  }
  // One that executed another program has reported twice.
  const auto repeated = std::ranges::unique(all.processes);
  all.processes.erase(repeated.begin(), repeated.end());
  keep_worse(all.coverage);
  return all;
}

}  // namespace barracuda::report
