#include "weak_memory/memory_model/possible_paths.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace barracuda::memory_model {
namespace {

using Cell = std::pair<std::uint32_t, std::uint64_t>;  // location, value
constexpr std::size_t kMostCells = 64;                 // bits of Path::taken_alone

template <typename Number>
bool contains(const std::vector<Number>& numbers, Number number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

// An atomic's read, which its write follows.
bool is_taken(const std::vector<Event>& events, std::size_t read) {
  return events[read].kind == Event::Kind::kRead && read + 1 < events.size() &&
         events[read + 1].kind == Event::Kind::kWrite &&
         events[read + 1].instruction == events[read].instruction;
}

Cell cell_of(const Event& event) {
  return {event.location, event.value};
}

// Two atomics that read from one write break atomicity, if they and all writes of the location are
// morally strong with each other. So a value that is written once is taken once.
class Takings {
 public:
  Takings(const Program& program, const std::vector<std::vector<Path>>& threads)
      : program_(program), is_strong_(strongly_written(program)) {
    for (std::uint32_t i = 0; i < program.locations; ++i) {
      initial_.insert({i, program.location(i).initial});
    }
    for (const auto& paths : threads) {
      add(paths);
    }
    count();
  }

  // The cells that one atomic alone can take, at most kMostCells.
  [[nodiscard]] std::map<Cell, std::size_t> alone() const {
    std::map<Cell, std::size_t> found;
    for (const auto& [cell, most] : most_) {
      if (most <= 1 && is_strong_[cell.first] && found.size() < kMostCells) {
        found.emplace(cell, found.size());
      }
    }
    return found;
  }

 private:
  // What each path writes: by stores, and by atomics of which values.
  void add(const std::vector<Path>& paths) {
    std::map<Cell, std::uint64_t> stores, all;
    for (const Path& path : paths) {
      std::map<Cell, std::uint64_t> path_stores, path_all;
      for (std::size_t i = 0; i < path.events.size(); ++i) {
        const Event& event = path.events[i];
        if (event.kind != Event::Kind::kWrite) {
          continue;
        }
        ++path_all[cell_of(event)];
        if (i > 0 && is_taken(path.events, i - 1)) {
          from_[cell_of(event)].insert(cell_of(path.events[i - 1]));
        } else {
          ++path_stores[cell_of(event)];
        }
      }
      raise(stores, path_stores);
      raise(all, path_all);
    }
    for (const auto& [cell, number] : stores) {
      stores_[cell] += number;
    }
    for (const auto& [cell, number] : all) {
      most_[cell] += number;
    }
  }

  static void raise(std::map<Cell, std::uint64_t>& most,
                    const std::map<Cell, std::uint64_t>& numbers) {
    for (const auto& [cell, number] : numbers) {
      most[cell] = std::max(most[cell], number);
    }
  }

  // From above: each write of an atomic takes one of those that it comes from.
  void count() {
    for (const Cell& cell : initial_) {
      ++most_[cell];
    }
    for (bool falls = true; falls;) {
      falls = false;
      for (auto& [cell, most] : most_) {
        std::uint64_t sum = (initial_.contains(cell) ? 1U : 0U) + number(stores_, cell);
        if (const auto from = from_.find(cell); from != from_.end()) {
          for (const Cell& each : from->second) {
            sum += number(most_, each);
          }
        }
        if (is_strong_[cell.first] && sum < most) {
          most = sum;
          falls = true;
        }
      }
    }
  }

  static std::uint64_t number(const std::map<Cell, std::uint64_t>& numbers, const Cell& cell) {
    const auto found = numbers.find(cell);
    return found == numbers.end() ? 0 : found->second;
  }

  const Program& program_;
  std::vector<bool> is_strong_;  // by location
  std::set<Cell> initial_;
  std::map<Cell, std::uint64_t> stores_, most_;
  std::map<Cell, std::set<Cell>> from_;
};

// Of the cells that one atomic alone can take those of the path, as bits; none: it takes one twice.
std::optional<std::uint64_t> taken_by(const Path& path, const std::map<Cell, std::size_t>& alone) {
  std::uint64_t taken = 0;
  for (std::size_t i = 0; i < path.events.size(); ++i) {
    const auto cell = is_taken(path.events, i) ? alone.find(cell_of(path.events[i])) : alone.end();
    if (cell != alone.end()) {
      const std::uint64_t bit = std::uint64_t{1} << cell->second;
      if ((taken & bit) != 0) {
        return std::nullopt;
      }
      taken |= bit;
    }
  }
  return taken;
}

}  // namespace

PossiblePaths::PossiblePaths(const Program& program, std::vector<std::vector<Path>> threads)
    : threads_(std::move(threads)) {
  const std::map<Cell, std::size_t> alone = Takings(program, threads_).alone();
  std::map<Cell, std::uint32_t> numbers;
  const auto number = [&](const Event& event) {
    return numbers.try_emplace(cell_of(event), static_cast<std::uint32_t>(numbers.size()))
        .first->second;
  };
  for (const auto& paths : threads_) {
    std::vector<Candidate>& all = candidates_.emplace_back();
    for (const Path& path : paths) {
      const auto taken = taken_by(path, alone);
      if (!taken) {
        continue;
      }
      Candidate made{.path = &path, .reads = {}, .writes = {}, .taken_alone = *taken};
      for (const Event& event : path.events) {
        if (event.kind == Event::Kind::kWrite) {
          made.writes.push_back(number(event));
        }
      }
      for (const Event& event : path.events) {
        if (event.kind == Event::Kind::kRead &&
            program.location(event.location).initial != event.value &&
            !contains(made.writes, number(event))) {
          made.reads.push_back(number(event));
        }
      }
      all.push_back(std::move(made));
    }
  }
  cells_ = static_cast<std::uint32_t>(numbers.size());
}

class PossiblePaths::Visit {
 public:
  Visit(const PossiblePaths& paths, const std::function<bool()>& goes_on,
        const std::function<bool(const std::vector<const Path*>&)>& found)
      : paths_(paths), goes_on_(goes_on), found_(found) {}

  // Whether to go on.
  bool choose(std::size_t thread, const Candidates& left) {
    if (thread == left.size()) {
      return found_(chosen_);
    }
    for (const Candidate* const each : left[thread]) {
      if (!goes_on_()) {
        return false;
      }
      Candidates rest = left;
      rest[thread] = {each};
      chosen_.push_back(each->path);
      const bool is_over = paths_.keep_possible(rest) && !choose(thread + 1, rest);
      chosen_.pop_back();
      if (is_over) {
        return false;
      }
    }
    return true;
  }

 private:
  const PossiblePaths& paths_;
  const std::function<bool()>& goes_on_;
  const std::function<bool(const std::vector<const Path*>&)>& found_;
  std::vector<const Path*> chosen_;
};

void PossiblePaths::visit(const std::function<bool()>& goes_on,
                          const std::function<bool(const std::vector<const Path*>&)>& found) const {
  Candidates all;
  for (const auto& paths : candidates_) {
    std::vector<const Candidate*>& of_thread = all.emplace_back();
    for (const Candidate& each : paths) {
      of_thread.push_back(&each);
    }
  }
  if (keep_possible(all)) {
    Visit(*this, goes_on, found).choose(0, all);
  }
}

bool PossiblePaths::keep_possible(Candidates& candidates) const {
  Writers writers;
  for (bool falls = true; falls;) {
    falls = false;
    writers.assign(candidates.size(), std::vector<std::vector<std::uint64_t>>(cells_));
    for (std::size_t thread = 0; thread < candidates.size(); ++thread) {
      for (const Candidate* const path : candidates[thread]) {
        for (const std::uint32_t cell : path->writes) {
          if (!contains(writers[thread][cell], path->taken_alone)) {
            writers[thread][cell].push_back(path->taken_alone);
          }
        }
      }
    }
    for (std::size_t thread = 0; thread < candidates.size(); ++thread) {
      const auto gone = std::erase_if(candidates[thread], [&](const Candidate* path) {
        return !is_possible(candidates, writers, thread, *path);
      });
      falls = falls || gone > 0;
      if (candidates[thread].empty()) {
        return false;
      }
    }
  }
  return true;
}

// Whether each other thread has a path that goes with it, and each value that it reads one that
// writes it.
bool PossiblePaths::is_possible(const Candidates& candidates, const Writers& writers,
                                std::size_t thread, const Candidate& path) {
  const auto goes_with = [&](std::uint64_t taken) { return (taken & path.taken_alone) == 0; };
  for (std::size_t other = 0; other < candidates.size(); ++other) {
    if (other != thread && std::ranges::none_of(candidates[other], [&](const Candidate* each) {
          return goes_with(each->taken_alone);
        })) {
      return false;
    }
  }
  return std::ranges::all_of(path.reads, [&](std::uint32_t cell) {
    for (std::size_t other = 0; other < writers.size(); ++other) {
      if (other != thread && std::ranges::any_of(writers[other][cell], goes_with)) {
        return true;
      }
    }
    return false;
  });
}

}  // namespace barracuda::memory_model
