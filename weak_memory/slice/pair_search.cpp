#include "weak_memory/slice/pair_search.h"

#include "ptx/statement_name.h"

namespace barracuda::weak_memory {
namespace {

class Statements {
 public:
  explicit Statements(const History& history) : history_(history) {}

  bool is(const HistoryAccess& access, const std::string& statement) {
    const auto [known, is_new] = names_.try_emplace(access.site);
    if (is_new) {
      const ptx::Site& site = history_.site(access.site);
      known->second =
          to_string(ptx::StatementName{.function = site.function, .ordinal = site.ordinal});
    }
    return known->second == statement;
  }

 private:
  const History& history_;
  std::map<wire::SiteId, std::string> names_;
};

bool is_conflict(const HistoryAccess& first, const HistoryAccess& second) {
  return first.thread != second.thread && first.overlaps(second) && (first.writes || second.writes);
}

}  // namespace

std::vector<AccessPair> pairs_of(const History& history, const PairQuestion& question) {
  const auto& accesses = history.accesses();
  Statements statements(history);
  std::vector<AccessPair> pairs;
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < accesses.size() && pairs.size() < kMostPairs; ++i) {
    const HistoryAccess& each = accesses[i];
    if (statements.is(each, question.second) &&
        (!question.threads || each.thread == question.threads->second)) {
      for (std::size_t back = firsts.size(); back-- > 0;) {
        if (is_conflict(accesses[firsts[back]], each)) {
          pairs.push_back({.first = firsts[back], .second = i});
          break;
        }
      }
    }
    if (statements.is(each, question.first) &&
        (!question.threads || each.thread == question.threads->first)) {
      firsts.push_back(i);
    }
  }
  return pairs;
}

PairAnswer answer_for(const History& history, const Handovers& handovers, const AccessPair& pair) {
  PairAnswer answer;
  if (history.is_cut()) {
    answer.why_not = "the launch is too long";
    return answer;
  }
  for (const Handover& handover : handovers.between(pair)) {
    auto slice = slice_of(history, pair, handover);
    if (!slice) {
      answer.why_not = slice.error().message;
      continue;
    }
    const SliceVerdict verdict = verdict_of(*slice);
    const bool decides = !verdict.is_racy && verdict.is_reached && verdict.bound.empty();
    if (decides || !answer.slice) {
      answer.is_racy = verdict.is_racy;
      answer.why_not = verdict.is_racy || decides ? ""
                       : !verdict.bound.empty()
                           ? "the search of its slice ended at " + verdict.bound
                           : "no execution of its slice goes as the run did";
      answer.slice = std::move(*slice);
    }
    if (decides) {
      return answer;
    }
  }
  if (!answer.slice && answer.why_not.empty()) {
    answer.why_not = "every way from one to the other goes through more than three threads";
  }
  return answer;
}

}  // namespace barracuda::weak_memory
