#include "weak_memory/memory_model/enumeration.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "weak_memory/memory_model/barriers.h"
#include "weak_memory/memory_model/data_race.h"
#include "weak_memory/memory_model/graph_text.h"
#include "weak_memory/memory_model/litmus_text.h"
#include "weak_memory/memory_model/possible_paths.h"
#include "weak_memory/memory_model/search_end.h"
#include "weak_memory/memory_model/straight_line.h"
#include "weak_memory/memory_model/thread_paths.h"

namespace barracuda::memory_model {
namespace {

using Kind = Event::Kind;

// An execution of the events in `events`.
using Found = std::function<bool(const std::vector<Event>& events, const Outcome& registers,
                                 const Consistent& execution)>;

class Combination {
 public:
  Combination(const Program& program, PtxVersion version, const ExploreOptions& options)
      : program_(program), version_(version), options_(options) {}

  // `is_known`: whether nothing new can come of these registers. `found` returns whether to look
  // for more of these events.
  void run(const std::function<bool(const Outcome&)>& is_known, const Found& found) {
    is_known_ = &is_known;
    found_ = &found;
    for (std::uint32_t i = 0; i < program_.locations; ++i) {
      events_.push_back(
          {.kind = Kind::kInitial, .location = i, .value = program_.location(i).initial});
    }
    if (is_straight_line(program_)) {
      check_straight_line();
      return;
    }
    PathsOfAll paths = all_paths(program_, options_, end_);
    bound = paths.bound;
    if (paths.is_useless) {
      return;
    }
    std::vector<std::vector<Path>> all;
    for (Paths& of_thread : paths.threads) {
      all.push_back(std::move(of_thread.all));
    }
    const std::size_t initial = events_.size();
    PossiblePaths(program_, std::move(all))
        .visit([&] { return !is_out_of_bounds(); },
               [&](const std::vector<const Path*>& chosen) {
                 events_.resize(initial);
                 registers_.clear();
                 check_paths(chosen);
                 return !is_out_of_bounds();
               });
  }

  std::string bound;
  std::uint64_t executions = 0;
  Killed killed{};

 private:
  static constexpr const char* kTooManyEvents = "64 events of an execution";

  void check_straight_line() {
    for (std::uint32_t thread = 0; thread < program_.threads.size(); ++thread) {
      const Paths found = straight_path_of(program_, thread);
      if (found.is_cut_by_number ||
          events_.size() + found.all.front().events.size() > kMostEvents) {
        bound = kTooManyEvents;
        return;
      }
      append(found.all.front());
    }
    const Resolve resolve = [&](const std::vector<std::size_t>& source) {
      if (is_out_of_bounds()) {
        return false;
      }
      registers_ = evaluate(program_, source, events_);
      if ((*is_known_)(registers_)) {
        return false;
      }
      ++executions;
      return true;
    };
    for_each_opening(program_, events_, 0, end_, [&] {
      check_opening(resolve);
      return !is_out_of_bounds();
    });
    say_if_late();
  }

  void check_paths(const std::vector<const Path*>& chosen) {
    for (const Path* const path : chosen) {
      if (events_.size() + path->events.size() > kMostEvents) {
        bound = kTooManyEvents;
        return;
      }
      append(*path);
    }
    check();
  }

  void append(const Path& path) {
    const std::size_t first = events_.size();
    for (const Event& event : path.events) {
      events_.push_back(event);
      events_.back().dependencies <<= first;
    }
    registers_.insert(registers_.end(), path.registers.begin(), path.registers.end());
  }

  void check() {
    if ((*is_known_)(registers_)) {
      return;
    }
    for_each_opening(program_, events_, 0, end_, [&] {
      ++executions;
      check_opening(nullptr);
      return !is_out_of_bounds();
    });
    say_if_late();
  }

  void check_opening(const Resolve& resolve) {
    for_each_consistent(program_, events_, version_, killed, end_, resolve,
                        [&](const Consistent& execution) {
                          return (*found_)(events_, registers_, execution) && !is_out_of_bounds();
                        });
  }

  void say_if_late() {
    if (end_.has_come()) {
      is_out_of_bounds();  // says so, of the last one too
    }
  }

  bool is_out_of_bounds() {
    if (executions >= options_.states) {
      bound = std::to_string(options_.states) + " executions";
      return true;
    }
    if (end_.has_come()) {
      bound = end_.bound();
    }
    return end_.has_come();
  }

  const Program& program_;
  PtxVersion version_;
  const ExploreOptions& options_;
  const std::function<bool(const Outcome&)>* is_known_ = nullptr;
  const Found* found_ = nullptr;
  std::vector<Event> events_;
  Outcome registers_;
  SearchEnd end_{options_};
};

void add_locations(const Condition& condition, std::vector<bool>& named) {
  for (const Term& term : terms_of(condition)) {
    if (term.kind == Term::Kind::kLocation) {
      named[term.number] = true;
    }
  }
}

std::vector<bool> named_locations(const LitmusTest& test) {
  std::vector<bool> named(test.program.locations);
  add_locations(test.condition, named);
  if (test.filter) {
    add_locations(*test.filter, named);
  }
  for (const Term& term : test.shown) {
    if (term.kind == Term::Kind::kLocation) {
      named[term.number] = true;
    }
  }
  return named;
}

// What a location may hold at the end: what any write leaves that coherence orders nothing behind.
std::set<std::uint64_t> last_values(const std::vector<Event>& events, const Relation& coherence,
                                    std::uint32_t location) {
  std::set<std::uint64_t> values;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].writes() && events[i].location == location && coherence.from(i) == 0) {
      values.insert(events[i].value);
    }
  }
  return values;
}

std::vector<std::vector<std::uint64_t>> memories(const std::vector<Event>& events,
                                                 const Relation& coherence,
                                                 const std::vector<bool>& named) {
  std::vector<std::vector<std::uint64_t>> all = {{}};
  for (std::uint32_t location = 0; location < named.size(); ++location) {
    const std::set<std::uint64_t> values =
        named[location] ? last_values(events, coherence, location) : std::set<std::uint64_t>{0};
    std::vector<std::vector<std::uint64_t>> longer;
    for (const auto& memory : all) {
      for (const std::uint64_t value : values) {
        longer.push_back(memory);
        longer.back().push_back(value);
      }
    }
    all = std::move(longer);
  }
  return all;
}

std::optional<Witness> race_witness(const LitmusTest& test, const std::vector<Event>& events,
                                    PtxVersion version, const Consistent& execution) {
  const auto race = find_data_race(events, Skeleton(test.program, events, version), execution);
  if (!race) {
    return std::nullopt;
  }
  Witness witness{.lines = graph_lines(test, events, execution),
                  .graph = graph_of(test, events, execution)};
  const auto text = [&](std::size_t event) {
    const Instruction& instruction = *events[event].instruction;
    return test.threads[events[event].thread] + ' ' +
           instruction_text(test, events[event].thread, instruction) +
           (instruction.line == 0 ? "" : " (line " + std::to_string(instruction.line) + ")");
  };
  witness.lines.insert(witness.lines.begin(), text(race->first) + " and " + text(race->second));
  return witness;
}

}  // namespace

Exploration explore_axioms(const LitmusTest& test, PtxVersion version,
                           const ExploreOptions& options) {
  const std::vector<bool> named = named_locations(test);
  const bool asks_memory = std::ranges::find(named, true) != named.end();
  Exploration all;
  std::set<Outcome> known;
  Combination combination(test.program, version, options);
  const auto looks_for_race = [&] { return options.races && !all.race; };
  combination.run(
      [&](const Outcome& registers) {
        return !asks_memory && !looks_for_race() && known.contains(registers);
      },
      [&](const std::vector<Event>& events, const Outcome& registers, const Consistent& execution) {
        known.insert(registers);
        if (looks_for_race()) {
          all.race = race_witness(test, events, version, execution);
        }
        for (auto& memory : memories(events, execution.coherence, named)) {
          const auto [place, is_new] =
              all.finals.try_emplace({.registers = registers, .memory = std::move(memory)});
          if (is_new) {
            place->second = {.lines = graph_lines(test, events, execution),
                             .graph = graph_of(test, events, execution)};
          }
        }
        return asks_memory || looks_for_race();
      });
  all.states = combination.executions;
  all.bound = combination.bound;
  all.killed = combination.killed;
  return all;
}

std::set<Outcome> ptx_outcomes(const Program& program, PtxVersion version) {
  std::set<Outcome> outcomes;
  ExploreOptions options;
  Combination combination(program, version, options);
  combination.run([&](const Outcome& registers) { return outcomes.contains(registers); },
                  [&](const std::vector<Event>&, const Outcome& registers, const Consistent&) {
                    outcomes.insert(registers);
                    return false;
                  });
  ASSERT(combination.bound.empty());
  return outcomes;
}

}  // namespace barracuda::memory_model
