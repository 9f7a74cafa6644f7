#include "report/bug.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace barracuda::report {
namespace {

bool is_warning(const Finding& finding) {
  return finding.severity == FindingSeverity::kWarning;
}

// What orders threads that are far apart orders those that are near, not the other way around: the
// remedy to be shown is that of the farthest.
int nearness(const Finding& finding) {
  constexpr std::string_view kKinds[] = {"inter-block", "intra-block", "intra-warp"};
  const auto* const kind = std::ranges::find(kKinds, finding.kind);
  return kind == std::end(kKinds) ? 0 : static_cast<int>(kind - std::begin(kKinds));
}

using Kernels = std::vector<std::pair<std::string, std::string>>;

// With the instances of templates that they are.
Kernels kernels_of(const Finding& finding) {
  Kernels kernels;
  for (const Access& access : finding.accesses) {
    kernels.emplace_back(access.kernel, access.place.function);
  }
  std::ranges::sort(kernels);
  const auto repeated = std::ranges::unique(kernels);
  kernels.erase(repeated.begin(), repeated.end());
  return kernels;
}

std::vector<Process> united(std::vector<Process> left, const std::vector<Process>& right) {
  left.insert(left.end(), right.begin(), right.end());
  std::ranges::sort(left);
  const auto repeated = std::ranges::unique(left);
  left.erase(repeated.begin(), repeated.end());
  return left;
}

}  // namespace

const char* name_of(AccessOperation operation) {
  switch (operation) {
    case AccessOperation::kUnknown:
      return "";
    case AccessOperation::kRead:
      return "read";
    case AccessOperation::kWrite:
      return "write";
    case AccessOperation::kAtomic:
      return "atomic";
    case AccessOperation::kCopy:
      return "copy";
    case AccessOperation::kMemset:
      return "memset";
    case AccessOperation::kConstants:
      return "constants";
    case AccessOperation::kAllocation:
      return "allocation";
    case AccessOperation::kFree:
      return "free";
    case AccessOperation::kExit:
      return "exit";
  }
  return "";
}

std::string operations_of(const Finding& finding) {
  std::vector<std::string> names;
  names.reserve(finding.accesses.size());
  for (const Access& access : finding.accesses) {
    names.emplace_back(name_of(access.operation));
  }
  std::ranges::sort(names, std::greater{});
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() || name.empty() ? "" : " and ") + name;
  }
  return text;
}

std::uint64_t Bug::count() const {
  std::uint64_t count = 0;
  for (const Finding* const variant : variants) {
    count += variant->count;
  }
  return count;
}

std::vector<Process> Bug::processes() const {
  std::vector<Process> all;
  for (const Finding* const variant : variants) {
    all = united(std::move(all), variant->processes);
  }
  return all;
}

std::vector<Bug> bugs_of(const std::vector<Finding>& findings) {
  std::vector<Bug> bugs;
  std::unordered_map<std::string_view, std::size_t> known;
  for (const Finding& finding : findings) {
    const auto [place, is_new] = known.try_emplace(finding.fingerprint, bugs.size());
    if (is_new || finding.fingerprint.empty()) {
      bugs.push_back({.variants = {&finding}});
    } else {
      bugs[place->second].variants.push_back(&finding);
    }
  }
  for (Bug& bug : bugs) {
    std::ranges::stable_sort(bug.variants, {}, [](const Finding* variant) {
      return std::pair(is_warning(*variant), nearness(*variant));
    });
  }
  return bugs;
}

bool is_same_variant(const Finding& left, const Finding& right) {
  return !left.fingerprint.empty() && left.fingerprint == right.fingerprint &&
         left.kind == right.kind && left.severity == right.severity &&
         operations_of(left) == operations_of(right) && kernels_of(left) == kernels_of(right);
}

Finding& add_finding(std::vector<Finding>& findings, Finding finding) {
  const auto same = std::ranges::find_if(
      findings, [&](const Finding& known) { return is_same_variant(known, finding); });
  if (same == findings.end()) {
    return findings.emplace_back(std::move(finding));
  }
  same->count += finding.count;
  same->has_other_places = same->has_other_places || finding.has_other_places;
  same->processes = united(std::move(same->processes), finding.processes);
  for (Lack& lack : finding.lacks) {
    if (same->lacks.size() < Finding::kMostLacks &&
        std::ranges::find(same->lacks, lack) == same->lacks.end()) {
      same->lacks.push_back(std::move(lack));
    }
  }
  return *same;
}

}  // namespace barracuda::report
