#include "weak_memory/repair/search.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "report/bug.h"
#include "report/merge.h"
#include "weak_memory/store_buffer/directed.h"

namespace barracuda::weak_memory {
namespace {

constexpr int kMostRounds = 40;

using Edits = std::vector<AppliedEdit>;

// What the runs with some edits have shown.
struct Evaluation {
  report::Report report;
  std::set<std::string> races;   // fingerprints, warnings too
  std::set<std::string> others;  // what is found beside races: type and fingerprint
  std::set<Failure> failures;    // of the program itself
  std::vector<Outcome> outcomes;
  std::vector<std::uint64_t> seeds;  // of these
  bool is_whole = false;             // all runs could be made
};

std::vector<ptx::OrderEdit> changes_of(const Edits& edits) {
  std::vector<ptx::OrderEdit> changes;
  for (const AppliedEdit& applied : edits) {
    for (const ptx::OrderEdit& change : applied.edit.changes) {
      if (std::ranges::find(changes, change) == changes.end()) {
        changes.push_back(change);
      }
    }
  }
  return changes;
}

bool inserts(const ptx::OrderEdit& edit) {
  return std::holds_alternative<ptx::InsertFence>(edit.change) ||
         std::holds_alternative<ptx::InsertSync>(edit.change);
}

// Two changes of one statement of which the later one would undo the earlier one.
bool contradicts(const Edits& edits, const Edit& edit) {
  return std::ranges::any_of(changes_of(edits), [&edit](const ptx::OrderEdit& made) {
    return std::ranges::any_of(edit.changes, [&made](const ptx::OrderEdit& change) {
      return made.at == change.at && made != change && !inserts(made) && !inserts(change);
    });
  });
}

// Nothing of a candidate that contradicts what is there.
void add(Edits& edits, const Candidate& candidate) {
  if (std::ranges::any_of(candidate.edits,
                          [&edits](const Edit& edit) { return contradicts(edits, edit); })) {
    return;
  }
  for (const Edit& edit : candidate.edits) {
    if (std::ranges::find(edits, edit, &AppliedEdit::edit) == edits.end()) {
      edits.push_back({.edit = edit, .reason = candidate.reason, .is_guess = candidate.is_guess});
    }
  }
}

void remove(Edits& edits, const Candidate& candidate, const std::vector<Candidate>& kept) {
  std::erase_if(edits, [&](const AppliedEdit& applied) {
    const auto has = [&](const Candidate& other) {
      return std::ranges::find(other.edits, applied.edit) != other.edits.end();
    };
    return has(candidate) && std::ranges::none_of(kept, has);
  });
}

template <typename Set>
bool is_part(const Set& part, const Set& whole) {
  return std::ranges::includes(whole, part);
}

class Search {
 public:
  Search(const RepairOptions& options, Trials& trials, const OracleRules& rules,
         const ReadCode& read_code, const TellStage& tell)
      : options_(options), trials_(trials), rules_(rules), read_code_(read_code), tell_(tell) {}

  Repair run() {
    tell_("the program as it is");
    auto first = evaluate({}, true);
    repair_.check_status = first ? first->outcomes.front().check_status : 0;
    if (is_no_command(repair_.check_status)) {
      repair_.is_incomplete = true;
    } else if (first && !first->races.empty()) {
      begin(*first);
      repair();
    } else if (first) {
      repair_.before = repair_.after = first->report;
    }
    repair_.runs = trials_.made();
    repair_.lost = trials_.lost();
    repair_.reason_of_loss = trials_.reason_of_loss();
    repair_.is_incomplete = repair_.is_incomplete || trials_.is_over();
    return std::move(repair_);
  }

 private:
  // In their order. Edits with which the program hangs, as it does not without them, are no repair:
  // two runs show it, and the others would each take the whole limit of time.
  std::vector<Outcome> make(const std::vector<Settings>& all) {
    constexpr std::size_t kFirst = 2;
    if (all.front().edits.empty() || all.size() <= kFirst ||
        std::ranges::any_of(original_.outcomes, &Outcome::is_over_time)) {
      return trials_.make(all);
    }
    const auto middle = all.begin() + kFirst;
    std::vector<Outcome> outcomes = trials_.make({all.begin(), middle});
    if (std::ranges::none_of(outcomes, &Outcome::is_over_time) && !trials_.is_over()) {
      std::ranges::move(trials_.make({middle, all.end()}), std::back_inserter(outcomes));
    }
    return outcomes;
  }

  // Nothing: it is over, or no run could be made.
  std::optional<Evaluation> evaluate(const Edits& edits, bool wants_ptx = false) {
    std::vector<Settings> all(options_.seeds);
    for (std::uint64_t i = 0; i < options_.seeds; ++i) {
      all[i].seed = options_.first_seed + i;
      all[i].edits = changes_of(edits);
    }
    all.front().wants_ptx = wants_ptx;
    Evaluation made;
    ++repair_.tried;
    made.outcomes = make(all);
    if (trials_.is_over()) {
      return std::nullopt;
    }
    made.is_whole = made.outcomes.size() == all.size() &&
                    std::ranges::all_of(
                        made.outcomes, [](const Outcome& outcome) { return outcome.lost.empty(); });
    for (std::size_t i = 0; i < made.outcomes.size(); ++i) {
      if (made.outcomes[i].lost.empty()) {
        made.seeds.push_back(all[i].seed);
      }
    }
    std::erase_if(made.outcomes, [](const Outcome& outcome) { return !outcome.lost.empty(); });
    if (made.outcomes.empty()) {
      return std::nullopt;
    }
    if (edits.empty()) {
      trials_.oracle().learn(made.outcomes);
    }
    Oracle oracle(rules_);
    if (rules_.compare == CompareOutput::kText) {
      oracle.learn(made.outcomes);  // else what is right does not come from runs that race
    }
    const std::uint64_t launches = made.outcomes.front().report.coverage.launches;
    std::vector<report::Report> reports;
    for (const Outcome& outcome : made.outcomes) {
      reports.push_back(outcome.report);
      if (const Failure failure = oracle.judge(outcome); failure != Failure::kNone) {
        made.failures.insert(failure);
      }
    }
    made.report = report::merge(std::move(reports));
    made.report.coverage.launches = launches;
    for (const report::Finding& finding : made.report.findings) {
      if (finding.type == report::FindingType::kRace) {
        made.races.insert(finding.fingerprint);
      } else {
        made.others.insert(report::name_of(finding.type) + finding.fingerprint);
      }
    }
    return made;
  }

  void begin(Evaluation& first) {
    original_ = std::move(first);
    repair_.before = original_.report;
    auto code = read_code_(original_.outcomes.front().ptx);
    code_ = code ? std::optional(std::move(*code)) : std::nullopt;
    best_ = original_;
  }

  // Nothing is there that was not there before, but for races: those may be looked at next.
  [[nodiscard]] bool is_sound(const Evaluation& made) const {
    return made.is_whole && is_part(made.others, original_.others) &&
           is_part(made.failures, original_.failures) &&
           made.report.coverage.gaps.size() <= original_.report.coverage.gaps.size();
  }

  [[nodiscard]] bool is_no_worse(const Evaluation& made) const {
    return is_sound(made) && is_part(made.races, original_.races);
  }

  void repair() {
    failures_before();
    if (code_) {
      look_for_edits();
      minimise();
      spread();
      narrow();
    }
    simulate();
    tell_all();
  }

  // A candidate for one lack of one bug.
  struct Addition {
    std::string bug;
    report::Lack lack;
    Candidate candidate;
  };

  // The next candidate of each race that is there: one a bug and round, for what cures one pair of
  // instructions mostly cures its copies.
  std::vector<Addition> next_candidates(const Evaluation& current) {
    std::vector<Addition> additions;
    for (const report::Bug& bug : report::bugs_of(current.report.findings)) {
      if (bug.shown().type != report::FindingType::kRace) {
        continue;
      }
      const std::string& name = bug.shown().fingerprint;
      for (const report::Lack& lack : lacks_of(bug)) {
        Queue& waiting = queue_of(name, lack);
        if (waiting.next < waiting.candidates.size()) {
          additions.push_back(
              {.bug = name, .lack = lack, .candidate = waiting.candidates[waiting.next++]});
          break;
        }
      }
    }
    return additions;
  }

  static std::vector<report::Lack> lacks_of(const report::Bug& bug) {
    std::vector<report::Lack> lacks;
    for (const report::Finding* const variant : bug.variants) {
      lacks.insert(lacks.end(), variant->lacks.begin(), variant->lacks.end());
    }
    return lacks;
  }

  struct Queue {
    std::vector<Candidate> candidates;
    std::size_t next = 0;
  };

  static bool is_same(const report::Lack& left, const report::Lack& right) {
    return left.missing == right.missing && left.kind == right.kind && left.first == right.first &&
           left.second == right.second && left.about == right.about;
  }

  Queue& queue_of(const std::string& bug, const report::Lack& lack) {
    const auto known = std::ranges::find_if(queues_, [&](const auto& queue) {
      return queue.first.first == bug && is_same(queue.first.second, lack);
    });
    if (known != queues_.end()) {
      return known->second;
    }
    return queues_
        .emplace_back(std::pair(bug, lack),
                      Queue{.candidates = candidates_for(lack, *code_, options_.with_barriers)})
        .second;
  }

  // What was to be cured is there still.
  static bool is_there(const Evaluation& made, const Addition& addition) {
    return std::ranges::any_of(made.report.findings, [&](const report::Finding& finding) {
      return finding.fingerprint == addition.bug &&
             std::ranges::any_of(finding.lacks, [&](const report::Lack& lack) {
               return is_same(lack, addition.lack);
             });
    });
  }

  void look_for_edits() {
    Evaluation current = original_;
    Edits chosen;
    std::vector<Candidate> kept;
    for (int round = 1; round <= kMostRounds && !current.races.empty(); ++round) {
      const std::vector<Addition> additions = next_candidates(current);
      if (additions.empty()) {
        return;
      }
      tell_(fmt::format("candidates, round {}", round));
      auto made = add_all(additions, chosen, kept, current);
      if (!made) {
        return;
      }
      current = std::move(*made);
      keep_if_better(current, chosen);
    }
  }

  // Those that cure nothing are taken out again. Nothing: it is over.
  std::optional<Evaluation> add_all(const std::vector<Addition>& additions, Edits& chosen,
                                    std::vector<Candidate>& kept, const Evaluation& current) {
    Edits next = chosen;
    for (const Addition& addition : additions) {
      add(next, addition.candidate);
    }
    auto made = evaluate(next);
    if (!made) {
      return std::nullopt;
    }
    if (!is_sound(*made)) {
      return additions.size() == 1 ? current : add_one_by_one(additions, chosen, kept, current);
    }
    std::vector<Candidate> useless;
    for (const Addition& addition : additions) {
      (is_there(*made, addition) ? useless : kept).push_back(addition.candidate);
    }
    for (const Candidate& candidate : useless) {
      remove(next, candidate, kept);
    }
    chosen = std::move(next);
    return useless.empty() ? made : evaluate(chosen);
  }

  // One of them does harm: each by itself, and those stay that do good.
  std::optional<Evaluation> add_one_by_one(const std::vector<Addition>& additions, Edits& chosen,
                                           std::vector<Candidate>& kept, Evaluation current) {
    for (const Addition& addition : additions) {
      if (!is_there(current, addition)) {
        continue;
      }
      Edits next = chosen;
      add(next, addition.candidate);
      auto made = evaluate(next);
      if (!made) {
        return std::nullopt;
      }
      if (is_sound(*made) && !is_there(*made, addition)) {
        chosen = std::move(next);
        kept.push_back(addition.candidate);
        current = std::move(*made);
      }
    }
    return current;
  }

  void keep_if_better(const Evaluation& made, const Edits& edits) {
    if (is_no_worse(made) && made.races.size() < best_.races.size()) {
      best_ = made;
      repair_.edits = edits;
    }
  }

  // The races that are left, and nothing else, are left with these as well.
  bool do_as_well(const Edits& edits) {
    auto made = evaluate(edits);
    if (!made || !is_no_worse(*made) || !is_part(made->races, best_.races)) {
      return false;
    }
    best_ = std::move(*made);
    return true;
  }

  // The dearest first, so that what is left is cheap.
  void minimise() {
    unminimised_ = repair_.edits;
    std::vector<Edit> order;
    std::ranges::transform(repair_.edits, std::back_inserter(order), &AppliedEdit::edit);
    std::ranges::stable_sort(order, std::greater{}, cost_of);
    for (std::size_t i = 0; i < order.size() && repair_.edits.size() > 1; ++i) {
      tell_(fmt::format("without edit {} of {}", i + 1, order.size()));
      Edits fewer = repair_.edits;
      std::erase_if(fewer, [&](const AppliedEdit& applied) { return applied.edit == order[i]; });
      if (do_as_well(fewer)) {
        repair_.edits = std::move(fewer);
        is_minimised_ = true;
      }
      if (trials_.is_over()) {
        return;
      }
    }
  }

  // In the source an edit next to a line is one for all copies of the line, and may do what others
  // do at the other copies.
  void spread() {
    for (std::size_t i = 0; i < repair_.edits.size() && repair_.edits.size() > 1; ++i) {
      const Edit whole = at_whole_line(*code_, repair_.edits[i].edit);
      const bool is_more = !whole.is_behind_loop && !(whole == repair_.edits[i].edit);
      for (std::size_t other = 0; is_more && other < repair_.edits.size(); ++other) {
        Edits fewer = repair_.edits;
        fewer[i].edit = whole;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(other));
        if (other == i || trials_.is_over()) {
          continue;
        }
        tell_(fmt::format("edit {} at all copies of its line, without edit {}", i + 1, other + 1));
        if (do_as_well(fewer)) {
          repair_.edits = std::move(fewer);
          is_minimised_ = true;
          i -= other < i ? 1 : 0;
          --other;
        }
      }
    }
  }

  // Fences that a block has to itself, where that is enough.
  void narrow() {
    for (std::size_t i = 0; i < repair_.edits.size() && !trials_.is_over(); ++i) {
      Edits narrower = repair_.edits;
      bool is_narrower = false;
      for (ptx::OrderEdit& change : narrower[i].edit.changes) {
        if (auto* const insert = std::get_if<ptx::InsertFence>(&change.change);
            insert != nullptr && insert->fence.scope != wire::Scope::kCta) {
          insert->fence.scope = wire::Scope::kCta;
          is_narrower = true;
        }
      }
      if (!is_narrower) {
        continue;
      }
      narrower[i].edit.after = "fence.acq_rel.cta";
      tell_(fmt::format("edit {} with a narrower scope", i + 1));
      if (do_as_well(narrower)) {
        repair_.edits = std::move(narrower);
        is_minimised_ = true;
      }
    }
  }

  std::vector<Settings> directed(const Edits& edits) const {
    std::vector<Settings> all;
    for (const report::Bug& bug : report::bugs_of(original_.report.findings)) {
      if (can_direct(bug.shown())) {
        for (Settings& settings : directed_runs(bug.shown(), {.count = options_.per_race,
                                                              .first_seed = options_.first_seed,
                                                              .stores_only = false})) {
          settings.edits = changes_of(edits);
          all.push_back(std::move(settings));
        }
      }
    }
    return all;
  }

  void failures_before() {
    tell_("directed by the races");
    repair_.failures_before = trials_.rate_of(directed({}), trials_.oracle());
  }

  // The second gate. What the repaired program does when all is well is its own measure.
  void simulate() {
    if (repair_.edits.empty() || trials_.is_over()) {
      return;
    }
    tell_("the repaired program, directed by the races");
    Oracle oracle(rules_);
    oracle.learn(best_.outcomes);
    repair_.failures_after = trials_.rate_of(directed(repair_.edits), oracle);
    if (repair_.failures_after.failures != 0 && is_minimised_) {
      // What the detector does not need, the simulation may.
      const Rate unminimised = trials_.rate_of(directed(unminimised_), oracle);
      if (unminimised.failures < repair_.failures_after.failures) {
        repair_.edits = unminimised_;
        repair_.failures_after = unminimised;
      }
    }
    if (repair_.failures_after.runs != 0 && repair_.failures_after.failures == 0) {
      repair_.standing = Standing::kSimulation;
    }
  }

  void tell_all() {
    repair_.after = best_.report;
    bool is_proved = repair_.failures_after.failures == 0;
    bool has_proof = false;
    for (const report::Bug& bug : report::bugs_of(original_.report.findings)) {
      const report::Finding& race = bug.shown();
      if (race.type != report::FindingType::kRace) {
        continue;
      }
      if (!best_.races.contains(race.fingerprint)) {
        repair_.repaired.push_back(race);
        repair_.proofs.push_back(proof_of(bug));
        // A warning is a race of CUDA C++ that PTX allows, so the model cannot show it.
        const bool is_error = race.severity == report::FindingSeverity::kError;
        has_proof = has_proof || repair_.proofs.back().why_not.empty();
        is_proved = is_proved && (repair_.proofs.back().why_not.empty() || !is_error);
      } else {
        repair_.open.push_back({.race = race, .why = why_open(bug)});
      }
    }
    if (is_proved && has_proof) {
      repair_.standing = Standing::kProof;
    }
  }

  // By one more run with and one without the edits, of a schedule that showed the race.
  IdiomProof proof_of(const report::Bug& bug) {
    IdiomProof proof;
    if (!options_.prove || trials_.is_over()) {
      proof.why_not = "it was not tried";
      return proof;
    }
    const auto shows = std::ranges::find_if(original_.outcomes, [&bug](const Outcome& outcome) {
      return std::ranges::find(outcome.report.findings, bug.shown().fingerprint,
                               &report::Finding::fingerprint) != outcome.report.findings.end();
    });
    const auto seed =
        original_.seeds[shows == original_.outcomes.end()
                            ? 0
                            : static_cast<std::size_t>(shows - original_.outcomes.begin())];
    auto [traces, is_new] = traces_.try_emplace(seed);
    if (is_new) {
      tell_("traces for a proof");
      Settings settings{.seed = seed, .wants_trace = true};
      const Outcome before = trials_.make_one(settings);
      settings.edits = changes_of(repair_.edits);
      const Outcome after = trials_.make_one(settings);
      traces->second = {before.lost.empty() ? before.trace : "",
                        after.lost.empty() ? after.trace : ""};
    }
    const auto& [before, after] = traces->second;
    if (before.empty() || after.empty()) {
      proof.why_not = "no run could be made for it";
      return proof;
    }
    return options_.prove(lacks_of(bug), before, after);
  }

  [[nodiscard]] std::string why_open(const report::Bug& bug) const {
    if (!code_) {
      return "the program's code could not be read";
    }
    if (trials_.is_over()) {
      return "the search did not come to its end";
    }
    const report::Finding& race = bug.shown();
    for (const report::Lack& lack : race.lacks) {
      if (candidates_for(lack, *code_, options_.with_barriers).empty()) {
        continue;
      }
      if (lack.missing == detector::MissingOrder::kNoSynchronisation &&
          lack.kind == detector::RaceKind::kInterBlock) {
        return "no fence, order or scope that was tried makes a hand-over of it: the one that "
               "reads has to wait for what the other sets behind its write";
      }
      return options_.with_barriers ? "no fence, order, scope or barrier that was tried cures it"
                                    : "no fence, order or scope that was tried cures it";
    }
    return race.lacks.empty() ? "it needs another algorithm, not a fence"
                              : why_no_candidates(race.lacks.front());
  }

  const RepairOptions& options_;
  Trials& trials_;
  const OracleRules& rules_;
  const ReadCode& read_code_;
  const TellStage& tell_;
  Repair repair_;
  Evaluation original_, best_;
  std::optional<ProgramCode> code_;
  std::map<std::uint64_t, std::pair<std::string, std::string>> traces_;  // by seed: before, after
  Edits unminimised_;  // before some were left out or made narrower
  bool is_minimised_ = false;
  // By bug and lack.
  std::deque<std::pair<std::pair<std::string, report::Lack>, Queue>> queues_;
};

}  // namespace

Repair find_repair(const RepairOptions& options, Trials& trials, const OracleRules& rules,
                   const ReadCode& read_code, const TellStage& tell) {
  return Search(options, trials, rules, read_code, tell).run();
}

}  // namespace barracuda::weak_memory
