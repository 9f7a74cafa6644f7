#include "report/bug_group.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "report/sentences.h"

namespace barracuda::report {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Which lanes, warps and blocks the sentence names is chance; a line that it names is not.
std::string without_thread_numbers(std::string_view sentence) {
  std::string text;
  for (std::size_t i = 0; i < sentence.size();) {
    const auto* const begin = sentence.begin() + i;
    const auto* const end = std::find_if_not(begin, sentence.end(), is_digit);
    if (begin == end) {
      text += sentence[i++];
      continue;
    }
    text += text.ends_with(':') ? std::string(begin, end) : "#";
    i += static_cast<std::size_t>(end - begin);
  }
  return text;
}

// What bugs that are alike have in common; empty for what has no like.
std::string likeness_of(const Finding& finding) {
  if (finding.type != FindingType::kRace || finding.accesses.empty() || finding.missing.empty()) {
    return "";
  }
  std::vector<std::string> sides;  // whichever came first
  sides.reserve(finding.accesses.size());
  for (const Access& access : finding.accesses) {
    sides.push_back(access.kernel + '\n' + access.object.substr(0, access.object.find('[')));
  }
  std::ranges::sort(sides);
  return fmt::format("{}\n{}\n{}\n{}\n{}", without_thread_numbers(finding.missing), finding.kind,
                     finding.space, name_of(finding.severity), fmt::join(sides, "\n"));
}

}  // namespace

std::vector<BugGroup> groups_of(const std::vector<Bug>& bugs) {
  std::unordered_map<std::string, std::size_t> sizes;
  for (const Bug& bug : bugs) {
    ++sizes[likeness_of(bug.shown())];
  }
  std::vector<BugGroup> groups;
  std::unordered_map<std::string, std::size_t> known;
  for (const Bug& bug : bugs) {
    std::string likeness = likeness_of(bug.shown());
    if (likeness.empty() || sizes.at(likeness) < kLeastAlike) {
      groups.push_back({.first = bug, .others = {}});
      continue;
    }
    const auto [place, is_new] = known.try_emplace(std::move(likeness), groups.size());
    if (is_new) {
      groups.push_back({.first = bug, .others = {}});
    } else {
      groups[place->second].others.push_back(bug);
    }
  }
  return groups;
}

}  // namespace barracuda::report
