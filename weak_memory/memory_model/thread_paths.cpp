#include "weak_memory/memory_model/thread_paths.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

#include "base/assert.h"

namespace barracuda::memory_model {
namespace {

using Kind = Instruction::Kind;

// Numbers of events of the path, as bits.
using Set = std::uint64_t;

// Where the thread was when it came to an instruction that is jumped back to.
struct Arrival {
  std::uint32_t instruction = 0;
  std::size_t events = 0;
  std::vector<std::uint64_t> registers;
};

struct Progress {
  Path path;
  std::vector<Set> come_from;  // by register: the reads that its value depends on
  Set control = 0;             // the reads that the jumps so far depended on
  std::uint32_t next = 0, barriers = 0;
  std::vector<std::uint32_t> jumped_back;  // by instruction
  std::vector<Arrival> arrivals;           // the last of each instruction
  bool has_kept_pass = false;              // that changes nothing
};

using Registers = std::vector<bool>;

// By instruction, and behind the last one: the registers whose values are used from there on. At
// the end all are: an outcome is what they hold.
std::vector<Registers> used_later(const Thread& thread) {
  const auto& instructions = thread.instructions;
  std::vector<Registers> used(instructions.size() + 1, Registers(thread.registers));
  used.back().assign(thread.registers, true);
  for (bool grows = true; grows;) {
    grows = false;
    for (std::size_t i = instructions.size(); i-- > 0;) {
      const Instruction& each = instructions[i];
      Registers here = used[i + 1];
      if (each.kind == Kind::kJump) {
        for (std::size_t reg = 0; reg < here.size(); ++reg) {
          here[reg] = here[reg] || used[each.destination][reg];
        }
      }
      if (each.target) {
        here[*each.target] = false;
      }
      for (const Operand& operand : {each.value, each.second, each.number.value_or(Operand()),
                                     each.quorum.value_or(Operand())}) {
        if (operand.read) {
          here[*operand.read] = true;
        }
      }
      grows = grows || here != used[i];
      used[i] = std::move(here);
    }
  }
  return used;
}

constexpr std::uint64_t kMostPaths = 20'000;  // of a thread

class Walk {
 public:
  // Without `others` all that is read is zero.
  Walk(const Program& program, std::uint32_t thread, const ValueSets* others,
       const ExploreOptions& options)
      : program_(program),
        instructions_(program.threads[thread].instructions),
        thread_(thread),
        others_(others),
        unroll_(options.unroll),
        most_(std::min(kMostPaths, options.states)),
        used_(used_later(program.threads[thread])),
        is_strongly_written_(strongly_written(program)),
        is_jumped_back_to_(instructions_.size()),
        may_race_(instructions_.size()) {
    for (std::uint32_t i = 0; i < instructions_.size(); ++i) {
      may_race_[i] = options.races && instructions_[i].accesses() &&
                     may_race(program, program.threads[thread], instructions_[i]);
      if (instructions_[i].kind == Kind::kJump && instructions_[i].destination <= i) {
        is_jumped_back_to_[instructions_[i].destination] = true;
      }
    }
  }

  Paths run(const Thread& thread) && {
    Progress start;
    start.path.registers = thread.initial;
    start.path.registers.resize(thread.registers);
    start.come_from.resize(thread.registers);
    start.jumped_back.resize(instructions_.size());
    todo_.push_back(std::move(start));
    while (!todo_.empty()) {
      Progress progress = std::move(todo_.back());
      todo_.pop_back();
      go_on(std::move(progress));
      if (found_.all.size() + found_.spins.size() + todo_.size() > most_) {
        found_.is_cut_by_number = true;
        break;
      }
    }
    return std::move(found_);
  }

 private:
  // Until the thread ends, or reads: then each value is a way of its own.
  void go_on(Progress progress) {
    while (progress.next < instructions_.size()) {
      if (progress.path.events.size() + 2 > kMostEvents) {
        found_.is_cut_by_number = true;
        return;
      }
      if (is_jumped_back_to_[progress.next]) {
        arrive(progress);
      }
      const Instruction& each = instructions_[progress.next];
      if (each.reads()) {
        read_each_value(progress, each);
        return;
      }
      if (each.kind == Kind::kJump) {
        if (!jump(progress, each)) {
          note_writes(progress.path);
          return;
        }
        continue;
      }
      execute(progress, each);
      ++progress.next;
    }
    note_writes(progress.path);
    found_.all.push_back(std::move(progress.path));
  }

  void note_writes(const Path& path) {
    std::size_t writes = 0;
    for (const Event& event : path.events) {
      if (event.kind == Event::Kind::kWrite) {
        found_.written.emplace(event.location, event.value);
        ++writes;
      }
    }
    found_.most_writes = std::max(found_.most_writes, writes);
  }

  static std::uint64_t value(const Progress& progress, const Operand& operand) {
    return operand.read ? progress.path.registers[*operand.read] : operand.constant;
  }

  static Set source(const Progress& progress, const Operand& operand) {
    return operand.read ? progress.come_from[*operand.read] : 0;
  }

  static Set named_sources(const Progress& progress, const Instruction& each) {
    Set reads = 0;
    for (const std::uint32_t number : each.depends_on) {
      reads |= progress.come_from[number];
    }
    return reads;
  }

  Event& add(Progress& progress, const Instruction& each, Event::Kind kind,
             std::uint64_t value) const {
    progress.path.events.push_back({.kind = kind,
                                    .thread = thread_,
                                    .instruction = &each,
                                    .location = each.location,
                                    .value = value});
    return progress.path.events.back();
  }

  void execute(Progress& progress, const Instruction& each) {
    switch (each.kind) {
      case Kind::kStore:
        add(progress, each, Event::Kind::kWrite, value(progress, each.value)).dependencies =
            source(progress, each.value) | progress.control | named_sources(progress, each);
        break;
      case Kind::kFence:
        add(progress, each, Event::Kind::kFence, 0);
        break;
      case Kind::kProxyFence:
        add(progress, each, Event::Kind::kProxyFence, 0);
        break;
      case Kind::kBarrier: {
        Event& event = add(progress, each, Event::Kind::kBarrier, 0);
        event.instance = each.instance.value_or(progress.barriers++);
        event.value = each.number ? value(progress, *each.number) : 0;
        event.quorum = each.quorum ? value(progress, *each.quorum) : 0;
        break;
      }
      case Kind::kCompute:
        ASSERT(each.target.has_value());
        progress.come_from[*each.target] =
            (each.operation == Operation::kMove ? 0 : source(progress, each.value)) |
            source(progress, each.second);
        progress.path.registers[*each.target] =
            compute(each.operation, value(progress, each.value), value(progress, each.second));
        break;
      case Kind::kLoad:
      case Kind::kUpdate:
      case Kind::kCompareExchange:
      case Kind::kJump:
        break;  // go_on() does them
    }
  }

  // Behind a write of its own the thread reads that one, or another thread's (SC per Location):
  // if both go by one address in the generic proxy.
  [[nodiscard]] std::set<std::uint64_t> readable(const Progress& progress,
                                                 const Instruction& each) const {
    if (others_ == nullptr) {
      return {0};
    }
    std::set<std::uint64_t> values = (*others_)[each.location];
    for (const Event& event : std::views::reverse(progress.path.events)) {
      if (event.kind == Event::Kind::kWrite && event.location == each.location) {
        values.insert(event.value);
        const Instruction& write = *event.instruction;
        if (each.proxy == Proxy::kGeneric && write.proxy == Proxy::kGeneric &&
            each.address == write.address) {
          return values;
        }
      }
    }
    values.insert(program_.location(each.location).initial);
    return values;
  }

  void read_each_value(const Progress& before, const Instruction& each) {
    for (const std::uint64_t old : readable(before, each)) {
      Progress progress = before;
      const Set read = Set{1} << progress.path.events.size();
      add(progress, each, Event::Kind::kRead, old);
      const std::uint64_t given = value(progress, each.value);
      if (each.kind == Kind::kUpdate) {
        const bool depends = each.operation != Operation::kMove;
        add(progress, each, Event::Kind::kWrite, compute(each.operation, old, given)).dependencies =
            source(progress, each.value) | progress.control | named_sources(progress, each) |
            (depends ? read : 0);
      } else if (each.kind == Kind::kCompareExchange && old == value(progress, each.second)) {
        add(progress, each, Event::Kind::kWrite, given).dependencies =
            source(progress, each.value) | source(progress, each.second) | progress.control |
            named_sources(progress, each) | read;
      }
      if (each.target) {
        progress.path.registers[*each.target] = old;
        progress.come_from[*each.target] = read;
      }
      ++progress.next;
      todo_.push_back(std::move(progress));
    }
  }

  // Whether the path goes on.
  bool jump(Progress& progress, const Instruction& each) {
    const std::uint32_t here = progress.next;
    if (!each.is_case) {
      progress.control |= source(progress, each.value) | source(progress, each.second);
    }
    if (!compare(each.comparison, value(progress, each.value), value(progress, each.second))) {
      ++progress.next;
      return true;
    }
    if (each.destination <= here) {
      if (const auto from =
              each.is_case ? known_pass(progress, each) : last_pass(progress, each.destination)) {
        found_.spins.push_back({.path = progress.path, .repeats_from = *from});
        if (progress.has_kept_pass || !may_race_from(progress.path, *from)) {
          return false;
        }
        progress.has_kept_pass = true;
      } else if (each.is_case) {
        return false;
      } else if (progress.jumped_back[here]++ == unroll_) {
        found_.is_cut_by_unroll = true;
        return false;
      }
    }
    progress.next = each.destination;
    return true;
  }

  // Who wrote the program knows that the pass changes nothing.
  static std::optional<std::size_t> known_pass(const Progress& progress, const Instruction& jump) {
    if (!jump.is_spin) {
      return std::nullopt;
    }
    const auto arrival =
        std::ranges::find(progress.arrivals, jump.destination, &Arrival::instruction);
    ASSERT(arrival != progress.arrivals.end());
    return arrival->events;
  }

  [[nodiscard]] bool may_race_from(const Path& path, std::size_t first) const {
    return std::ranges::any_of(path.events | std::views::drop(first), [&](const Event& event) {
      return may_race_[static_cast<std::size_t>(event.instruction - instructions_.data())];
    });
  }

  static void arrive(Progress& progress) {
    std::erase_if(progress.arrivals,
                  [&](const Arrival& arrival) { return arrival.instruction == progress.next; });
    progress.arrivals.push_back({.instruction = progress.next,
                                 .events = progress.path.events.size(),
                                 .registers = progress.path.registers});
  }

  // Whether it only reads, or writes to memory what an atomic has just read there. Nothing comes
  // between these two, so who reads the one could as well read what it came from.
  [[nodiscard]] bool changes_nothing(const std::vector<Event>& events, std::size_t event) const {
    const Event& each = events[event];
    if (each.kind != Event::Kind::kWrite) {
      return each.kind == Event::Kind::kRead || each.kind == Event::Kind::kFence;
    }
    return each.instruction->updates() && each.value == events[event - 1].value &&
           is_strongly_written_[each.location];
  }

  // Of a jump back to `first`: where the pass begins, if it changes nothing and could be taken
  // again and again.
  [[nodiscard]] std::optional<std::size_t> last_pass(const Progress& progress,
                                                     std::uint32_t first) const {
    const auto arrival = std::ranges::find(progress.arrivals, first, &Arrival::instruction);
    if (arrival == progress.arrivals.end()) {
      return std::nullopt;
    }
    const auto& events = progress.path.events;
    bool is_as_before = true;
    for (std::size_t i = arrival->events; i < events.size(); ++i) {
      is_as_before = is_as_before && changes_nothing(events, i);
    }
    for (std::size_t reg = 0; reg < progress.path.registers.size(); ++reg) {
      is_as_before = is_as_before && (!used_[first][reg] ||
                                      progress.path.registers[reg] == arrival->registers[reg]);
    }
    return is_as_before ? std::optional(arrival->events) : std::nullopt;
  }

  const Program& program_;
  const std::vector<Instruction>& instructions_;
  std::uint32_t thread_;
  const ValueSets* others_;
  std::uint32_t unroll_;
  std::uint64_t most_;
  std::vector<Registers> used_;
  std::vector<bool> is_strongly_written_;  // by location
  std::vector<bool> is_jumped_back_to_;
  std::vector<bool> may_race_;  // by instruction; only where races are asked for
  std::vector<Progress> todo_;
  Paths found_;
};

}  // namespace

Paths paths_of(const Program& program, std::uint32_t thread, const ValueSets& others,
               const ExploreOptions& options) {
  return Walk(program, thread, &others, options).run(program.threads[thread]);
}

Paths straight_path_of(const Program& program, std::uint32_t thread) {
  return Walk(program, thread, nullptr, {.states = 1}).run(program.threads[thread]);
}

// Values come from writes: each round adds those that one more write can pass on, and no value
// comes from more writes than an execution has.
PathsOfAll all_paths(const Program& program, const ExploreOptions& options, const SearchEnd& end) {
  const std::size_t threads = program.threads.size();
  std::vector<ValueSets> others(threads, ValueSets(program.locations));
  PathsOfAll found;
  std::size_t most_writes = 1;
  for (std::size_t round = 0; round <= most_writes; ++round) {
    if (std::string bound = end.bound(); !bound.empty()) {
      found.bound = std::move(bound);
      found.is_useless = true;
      return found;
    }
    found.threads.clear();
    std::vector<ValueSets> more = others;
    most_writes = 1;
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      Paths paths = paths_of(program, thread, others[thread], options);
      if (paths.is_cut_by_number) {
        found.bound = "too many paths of a thread";
        found.is_useless = true;
        return found;
      }
      if (paths.is_cut_by_unroll) {
        found.bound = std::to_string(options.unroll) + " rounds of a loop";
      }
      for (std::uint32_t other = 0; other < threads; ++other) {
        for (const auto& [location, value] : paths.written) {
          if (other != thread) {
            more[other][location].insert(value);
          }
        }
      }
      most_writes += paths.most_writes;
      found.threads.push_back(std::move(paths));
    }
    if (more == others) {
      break;
    }
    others = std::move(more);
  }
  return found;
}

}  // namespace barracuda::memory_model
