#include "weak_memory/slice/race_slice.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "ptx/statement_name.h"
#include "trace/process_replay.h"
#include "trace/reader.h"
#include "weak_memory/slice/pair_search.h"

namespace barracuda::weak_memory {
namespace {

using detector::LaunchId;
using detector::RaceEvent;

ThreadPlace place_of(const detector::ThreadRef& thread) {
  return {.cta = thread.cta, .warp = thread.warp, .lane = thread.lane};
}

std::string statement_of(const ptx::Site& site) {
  return to_string(ptx::StatementName{.function = site.function, .ordinal = site.ordinal});
}

// Why it is nothing for a litmus test; empty: it is.
std::string why_not_in_launch(const RaceEvent& race) {
  if (race.first.site.is_call() || race.second.site.is_call() ||
      race.first.thread.launch != race.second.thread.launch) {
    return "it is not between two threads of one launch";
  }
  return "";
}

// What a recorded process did; may be read several times.
class RecordedProcess {
 public:
  RecordedProcess(const trace::Reader& reader, const trace::Stream& stream)
      : reader_(reader), stream_(stream) {}

  // What can be read of it; the report says where it ends early.
  [[nodiscard]] report::RunData replay(const detector::DetectorOptions& options) const {
    trace::ProcessReplay process(options);
    visit([&process](const trace::Event& event) { return process.take(event); });
    return process.run_data();
  }

  [[nodiscard]] History history(LaunchId launch, std::set<std::string> statements) const {
    History history(launch, std::move(statements));
    visit([&history](const trace::Event& event) {
      history.take(event);
      return true;
    });
    return history;
  }

  // It is no process, but what `run` adds.
  [[nodiscard]] bool is_of_run() const {
    bool is_of_run = false;
    visit([&is_of_run](const trace::Event& event) {
      is_of_run = std::holds_alternative<trace::ProgramEnded>(event);
      return false;
    });
    return is_of_run;
  }

 private:
  void visit(const trace::Reader::Visitor& visitor) const {
    (void)reader_.visit(stream_, visitor, {});
  }

  const trace::Reader& reader_;
  const trace::Stream& stream_;
};

RaceSlice described(const RaceEvent& race, const report::RunData& run) {
  RaceSlice slice;
  if (!race.first.site.is_call() && !race.second.site.is_call()) {
    const ptx::Site& first = run.sites[static_cast<std::size_t>(race.first.site.instruction())];
    const ptx::Site& second = run.sites[static_cast<std::size_t>(race.second.site.instruction())];
    slice.first = statement_of(first);
    slice.second = statement_of(second);
    slice.lines = source_line(first) + " and " + source_line(second);
    slice.why_not = why_not_in_models(first.info);
    slice.why_not = slice.why_not.empty() ? why_not_in_models(second.info) : slice.why_not;
  }
  if (!race.first.thread.launch.is_copy()) {
    const auto launch = std::ranges::find(run.launches, race.first.thread.launch.launch(),
                                          &report::LaunchRecord::id);
    slice.kernel = launch == run.launches.end() ? "" : launch->kernel;
  }
  const std::string why_not = why_not_in_launch(race);
  slice.why_not = why_not.empty() ? slice.why_not : why_not;
  return slice;
}

// The threads of the race; where no slice of theirs can be made, any that do the same. In the order
// that the detector saw, and where it does not matter, the other way round as well.
std::vector<std::vector<PairQuestion>> questions_of(const RaceEvent& race, const RaceSlice& slice,
                                                    bool is_order_kept) {
  const ThreadPlace first = place_of(race.first.thread), second = place_of(race.second.thread);
  std::vector<std::vector<PairQuestion>> all = {
      {{.first = slice.first, .second = slice.second, .threads = std::pair(first, second)}},
      {{.first = slice.first, .second = slice.second, .threads = {}}}};
  if (!is_order_kept) {
    all.front().push_back(
        {.first = slice.second, .second = slice.first, .threads = std::pair(second, first)});
    all.back().push_back({.first = slice.second, .second = slice.first, .threads = {}});
  }
  return all;
}

std::vector<AccessPair> pairs_of_all(const History& history,
                                     const std::vector<PairQuestion>& questions) {
  std::vector<AccessPair> pairs;
  for (const PairQuestion& question : questions) {
    const auto more = pairs_of(history, question);
    pairs.insert(pairs.end(), more.begin(), more.end());
  }
  return pairs;
}

bool are_strong(const History& history, const AccessPair& pair) {
  return std::ranges::all_of(std::array{pair.first, pair.second}, [&history](std::size_t number) {
    return history.site(history.accesses()[number].site).info.order != wire::MemoryOrder::kWeak;
  });
}

// One race of the program as it is: the first pair whose slice has it.
void look(RaceSlice& slice, const History& history, const RaceEvent& race) {
  const Handovers handovers(history);
  slice.why_not = "its accesses are not in the trace";
  for (const auto& questions : questions_of(race, slice, true)) {
    for (const AccessPair& pair : pairs_of_all(history, questions)) {
      const PairAnswer answer = answer_for(history, handovers, pair);
      if (!answer.slice && !slice.text.empty()) {
        continue;
      }
      slice.text = answer.slice ? answer.slice->text() : "";
      slice.is_shown = answer.is_racy;
      slice.why_not = answer.is_racy            ? ""
                      : !answer.why_not.empty() ? answer.why_not
                      : are_strong(history, pair)
                          ? "a race of CUDA C++ between volatile or atomic accesses, not of PTX"
                          : "the model orders the two accesses";
      if (slice.is_shown) {
        return;
      }
    }
    if (!slice.text.empty()) {
      return;
    }
  }
}

struct ProcessSlices {
  std::vector<RaceEvent> races;
  std::vector<RaceSlice> slices;  // of each
};

ProcessSlices slices_of(const RecordedProcess& process, const detector::DetectorOptions& options) {
  const report::RunData run = process.replay(options);
  ProcessSlices found{.races = run.findings.races, .slices = {}};
  std::map<LaunchId, std::set<std::string>> asked;
  for (const RaceEvent& race : found.races) {
    const RaceSlice& slice = found.slices.emplace_back(described(race, run));
    if (slice.why_not.empty()) {
      asked[race.first.thread.launch.launch()].insert({slice.first, slice.second});
    }
  }
  for (const auto& [launch, statements] : asked) {
    const History history = process.history(launch, statements);
    for (std::size_t i = 0; i < found.races.size(); ++i) {
      if (found.slices[i].why_not.empty() &&
          found.races[i].first.thread.launch.launch() == launch) {
        look(found.slices[i], history, found.races[i]);
      }
    }
  }
  return found;
}

// One race of a repair: what is left of it where the same instructions meet again.
void look_after(IdiomProof& proof, const History& history, const RaceEvent& race,
                const RaceSlice& before) {
  const Handovers handovers(history);
  std::string why_not = "it does not make both accesses in the run looked at";
  for (const auto& questions : questions_of(race, before, false)) {
    bool is_ordered = false;
    for (const AccessPair& pair : pairs_of_all(history, questions)) {
      const PairAnswer answer = answer_for(history, handovers, pair);
      if (answer.slice && (proof.after.empty() || answer.is_racy)) {
        proof.after = answer.slice->text();
      }
      if (answer.is_racy) {
        proof.why_not = "the slice of the repaired program has a race as well";
        return;
      }
      is_ordered = is_ordered || answer.why_not.empty();
      why_not = answer.why_not.empty() ? why_not : answer.why_not;
    }
    if (is_ordered) {
      return;
    }
  }
  proof.why_not = "of the repaired program: " + why_not;
}

bool is_one_of(const std::vector<report::Lack>& lacks, const RaceSlice& slice) {
  return std::ranges::any_of(lacks, [&slice](const report::Lack& lack) {
    return lack.first == slice.first && lack.second == slice.second;
  });
}

// The processes of the two runs are distinguished by their place in the trace.
bool prove_process(IdiomProof& proof, const std::vector<report::Lack>& lacks,
                   const RecordedProcess& before, const RecordedProcess& after,
                   const detector::DetectorOptions& options) {
  const ProcessSlices found = slices_of(before, options);
  bool is_there = false;
  for (std::size_t i = 0; i < found.races.size(); ++i) {
    const RaceSlice& slice = found.slices[i];
    if (!is_one_of(lacks, slice) || !proof.why_not.empty()) {
      continue;
    }
    is_there = true;
    proof.before = proof.before.empty() ? slice.text : proof.before;
    if (!slice.is_shown) {
      proof.why_not = (slice.text.empty() ? "" : "its slice does not show it: ") + slice.why_not;
      continue;
    }
    const History history =
        after.history(found.races[i].first.thread.launch.launch(), {slice.first, slice.second});
    look_after(proof, history, found.races[i], slice);
  }
  return is_there;
}

}  // namespace

Expected<std::vector<RaceSlice>> slice_races(const std::string& trace,
                                             const detector::DetectorOptions& options) {
  TRY(const trace::Reader reader, trace::Reader::open(trace));
  std::vector<RaceSlice> all;
  for (const trace::Stream& stream : reader.streams()) {
    const RecordedProcess process(reader, stream);
    if (!process.is_of_run()) {
      ProcessSlices found = slices_of(process, options);
      std::ranges::move(found.slices, std::back_inserter(all));
    }
  }
  return all;
}

Expected<IdiomProof> prove_repair(const std::vector<report::Lack>& lacks, const std::string& before,
                                  const std::string& after,
                                  const detector::DetectorOptions& options) {
  TRY(const trace::Reader racy, trace::Reader::open(before));
  TRY(const trace::Reader repaired, trace::Reader::open(after));
  IdiomProof proof;
  bool is_there = false;
  for (std::size_t i = 0; i < std::min(racy.streams().size(), repaired.streams().size()); ++i) {
    const RecordedProcess process(racy, racy.streams()[i]);
    if (!process.is_of_run()) {
      const bool is_here = prove_process(proof, lacks, process,
                                         RecordedProcess(repaired, repaired.streams()[i]), options);
      is_there = is_there || is_here;
    }
  }
  if (!is_there) {
    proof.why_not = "the run looked at does not show it";
  }
  return proof;
}

}  // namespace barracuda::weak_memory
