#include "weak_memory/memory_model/progress.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "weak_memory/memory_model/barriers.h"
#include "weak_memory/memory_model/graph_text.h"
#include "weak_memory/memory_model/litmus_text.h"
#include "weak_memory/memory_model/ptx_axioms.h"
#include "weak_memory/memory_model/search_end.h"
#include "weak_memory/memory_model/thread_paths.h"

namespace barracuda::memory_model {
namespace {

using Kind = Event::Kind;

// How far a thread comes.
struct Way {
  enum class End : std::uint8_t { kEnds, kSpins, kWaits };

  std::vector<Event> events;  // of one that waits at a barrier, that is the last
  End end = End::kEnds;
  std::size_t repeats_from = 0;
};

// What comes before each barrier at which the thread may wait.
void add_waits(const std::vector<Event>& events, std::vector<Way>& ways) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind == Kind::kBarrier && events[i].instruction->waits) {
      ways.push_back(
          {.events = {events.begin(), events.begin() + static_cast<std::ptrdiff_t>(i) + 1},
           .end = Way::End::kWaits});
    }
  }
}

std::vector<Way> ways_of(Paths paths) {
  std::vector<Way> ways;
  for (Path& path : paths.all) {
    add_waits(path.events, ways);
    ways.push_back({.events = std::move(path.events)});
  }
  for (Spin& spin : paths.spins) {
    add_waits(spin.path.events, ways);
    ways.push_back({.events = std::move(spin.path.events),
                    .end = Way::End::kSpins,
                    .repeats_from = spin.repeats_from});
  }
  return ways;
}

class Search {
 public:
  Search(const LitmusTest& test, PtxVersion version, const ExploreOptions& options)
      : test_(test), version_(version), options_(options) {}

  Exploration run() && {
    for (std::uint32_t i = 0; i < test_.program.locations; ++i) {
      events_.push_back(
          {.kind = Kind::kInitial, .location = i, .value = test_.program.location(i).initial});
    }
    PathsOfAll paths = all_paths(test_.program, options_, end_);
    made_.bound = paths.bound;
    if (!paths.is_useless) {
      for (Paths& of_thread : paths.threads) {
        ways_.push_back(ways_of(std::move(of_thread)));
      }
      choose(0);
    }
    return std::move(made_);
  }

 private:
  void choose(std::size_t thread) {
    if (thread == ways_.size()) {
      check();
      return;
    }
    for (const Way& way : ways_[thread]) {
      if (made_.violation || is_out_of_bounds()) {
        return;
      }
      const std::size_t before = events_.size();
      for (const Event& event : way.events) {
        events_.push_back(event);
        events_.back().dependencies <<= before;
      }
      chosen_.emplace_back(&way, before);
      if (events_.size() > kMostEvents) {
        made_.bound = "64 events of an execution";
      } else {
        choose(thread + 1);
      }
      chosen_.pop_back();
      events_.resize(before);
    }
  }

  void check() {
    std::uint64_t closed = 0;
    bool is_endless = false;
    for (const auto& [way, first] : chosen_) {
      is_endless = is_endless || way->end != Way::End::kEnds;
      if (way->end == Way::End::kWaits) {
        closed |= std::uint64_t{1} << (first + way->events.size() - 1);
      }
    }
    if (!is_endless || !is_every_value_written()) {
      return;
    }
    for_each_opening(test_.program, events_, closed, end_, [&] {
      ++made_.states;
      for_each_consistent(test_.program, events_, version_, made_.killed, end_, nullptr,
                          [&](const Consistent& execution) {
                            if (may_last(execution)) {
                              made_.violation = witness(execution);
                            }
                            return !made_.violation && !is_out_of_bounds();
                          });
      return !made_.violation && !is_out_of_bounds();
    });
    is_out_of_bounds();  // says so, of the last one too
  }

  [[nodiscard]] bool is_every_value_written() const {
    return std::ranges::all_of(events_, [&](const Event& read) {
      return read.kind != Kind::kRead || std::ranges::any_of(events_, [&](const Event& write) {
               return write.writes() && write.location == read.location &&
                      write.value == read.value;
             });
    });
  }

  // A strong read returns in the end what the last write left, but for those writes that only put
  // back what is there, again and again.
  [[nodiscard]] bool may_last(const Consistent& execution) const {
    std::uint64_t put_back = 0;
    for (const auto& [way, first] : chosen_) {
      for (std::size_t i = way->repeats_from;
           way->end == Way::End::kSpins && i < way->events.size(); ++i) {
        put_back |= way->events[i].kind == Kind::kWrite ? std::uint64_t{1} << (first + i) : 0;
      }
    }
    for (const auto& [way, first] : chosen_) {
      for (std::size_t i = way->repeats_from;
           way->end == Way::End::kSpins && i < way->events.size(); ++i) {
        const std::size_t read = first + i;
        if (events_[read].kind == Kind::kRead && events_[read].is_strong() &&
            (execution.coherence.from(execution.source[read]) & ~put_back) != 0) {
          return false;
        }
      }
    }
    return true;
  }

  [[nodiscard]] Witness witness(const Consistent& execution) const {
    Witness made{.lines = {}, .graph = graph_of(test_, events_, execution)};
    for (std::size_t thread = 0; thread < chosen_.size(); ++thread) {
      const Way& way = *chosen_[thread].first;
      const std::string& name = test_.threads[thread];
      if (way.end == Way::End::kWaits) {
        const Instruction& barrier = *way.events.back().instruction;
        made.lines.push_back(
            fmt::format("{} waits for ever at {}", name, instruction_text(test_, thread, barrier)));
      } else if (way.end == Way::End::kSpins) {
        std::string reads;
        for (std::size_t i = way.repeats_from; i < way.events.size(); ++i) {
          if (way.events[i].kind == Kind::kRead) {
            reads += fmt::format("{}{}={}", reads.empty() ? ", and reads " : ", ",
                                 location_name(test_, way.events[i].location),
                                 static_cast<std::int64_t>(way.events[i].value));
          }
        }
        made.lines.push_back(fmt::format("{} goes round for ever{}", name, reads));
      }
    }
    const auto graph = graph_lines(test_, events_, execution);
    made.lines.insert(made.lines.end(), graph.begin(), graph.end());
    return made;
  }

  bool is_out_of_bounds() {
    if (made_.states >= options_.states) {
      made_.bound = std::to_string(options_.states) + " executions";
      return true;
    }
    if (std::string hit = end_.bound(); !hit.empty()) {
      made_.bound = std::move(hit);
      return true;
    }
    return false;
  }

  const LitmusTest& test_;
  PtxVersion version_;
  const ExploreOptions& options_;
  std::vector<std::vector<Way>> ways_;                      // by thread
  std::vector<std::pair<const Way*, std::size_t>> chosen_;  // by thread, with its first event
  std::vector<Event> events_;
  Exploration made_;
  SearchEnd end_{options_};
};

}  // namespace

Exploration explore_termination(const LitmusTest& test, PtxVersion version,
                                const ExploreOptions& options) {
  return Search(test, version, options).run();
}

}  // namespace barracuda::memory_model
