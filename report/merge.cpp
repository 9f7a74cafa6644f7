#include "report/merge.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace barracuda::report {
namespace {

bool same_place(const Access& left, const Access& right) {
  return left.operation == right.operation && left.place == right.place &&
         left.inlined == right.inlined && left.callers == right.callers &&
         left.instruction == right.instruction && left.ptx_line == right.ptx_line &&
         left.kernel == right.kernel;
}

bool same_finding(const Finding& left, const Finding& right) {
  return left.type == right.type && left.severity == right.severity && left.kind == right.kind &&
         left.space == right.space && std::ranges::equal(left.accesses, right.accesses, same_place);
}

void add_new(std::vector<std::string>& to, std::vector<std::string>& from) {
  for (std::string& text : from) {
    if (std::ranges::find(to, text) == to.end()) {
      to.push_back(std::move(text));
    }
  }
}

void add_finding(std::vector<Finding>& to, std::size_t of_others, Finding finding) {
  const auto end = to.begin() + static_cast<std::ptrdiff_t>(of_others);
  const auto known = std::find_if(
      to.begin(), end, [&finding](const Finding& other) { return same_finding(other, finding); });
  if (known != end) {
    known->count += finding.count;
  } else {
    to.push_back(std::move(finding));
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
  for (Report& report : reports) {
    // Within one process the detector has merged what is one race; only other processes' count.
    const std::size_t of_others = all.findings.size();
    for (Finding& finding : report.findings) {
      add_finding(all.findings, of_others, std::move(finding));
    }
    all.coverage.launches += report.coverage.launches;
    all.coverage.kernels += report.coverage.kernels;
    all.coverage.instrumented += report.coverage.instrumented;
    add_new(all.coverage.gaps, report.coverage.gaps);
    all.suppressed += report.suppressed;
    add_message(all.model, report.model);
    add_message(all.device, report.device);
    add_new(all.blocked, report.blocked);
    add_new(all.lost, report.lost);
    add_message(all.option_error, report.option_error);
    add_message(all.tool_failure, report.tool_failure);
  }
  return all;
}

}  // namespace barracuda::report
