#include "weak_memory/memory_model/barriers.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tuple>

namespace barracuda::memory_model {
namespace {

class Openings {
 public:
  Openings(const Program& program, std::vector<Event>& events, std::uint64_t closed,
           const SearchEnd& end, const std::function<bool()>& found)
      : program_(program), events_(events), closed_(closed), end_(end), found_(found) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].kind == Event::Kind::kBarrier) {
        by_thread_[events[i].thread].push_back(i);
        events[i].is_awaited = !events[i].instruction->quorum;
        if (events[i].instruction->quorum) {
          groups_[group_of(events[i])].push_back(i);
        }
      }
    }
  }

  void run() { choose(groups_.begin()); }

 private:
  // One barrier of one CTA: instance, number, quorum, and where its threads are.
  struct Group {
    static constexpr std::size_t kQuorum = 2;
    std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t,
               std::uint32_t>
        key;
    friend auto operator<=>(const Group&, const Group&) = default;
  };

  using Groups = std::map<Group, std::vector<std::size_t>>;

  [[nodiscard]] Group group_of(const Event& event) const {
    const Thread& thread = program_.threads[event.thread];
    return {{event.instance, event.value, event.quorum, thread.cta, thread.cluster, thread.gpu}};
  }

  void choose(Groups::const_iterator group) {
    if (group == groups_.end()) {
      is_over_ = (all_pass() && !found_()) || end_.has_come();
      return;
    }
    const std::uint64_t quorum = std::get<Group::kQuorum>(group->first.key);
    // If fewer threads than that ever arrive it stays shut.
    choose_members(group, 0, quorum > group->second.size() ? 0 : quorum);
  }

  // As many of the group's events from `next` on as are still wanted.
  void choose_members(Groups::const_iterator group, std::size_t next, std::uint64_t wanted) {
    const std::vector<std::size_t>& members = group->second;
    if (wanted == 0) {
      choose(std::next(group));
      return;
    }
    for (std::size_t i = next; i + wanted <= members.size() && !is_over_; ++i) {
      events_[members[i]].is_awaited = true;
      choose_members(group, i + 1, wanted - 1);
      events_[members[i]].is_awaited = false;
    }
  }

  // Threads arrive at one barrier after the other, as far as those that they wait for let them.
  [[nodiscard]] bool all_pass() const {
    std::array<std::size_t, kMostThreads> passed{};
    std::vector<bool> has_arrived(events_.size());
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t thread = 0; thread < program_.threads.size(); ++thread) {
        const std::vector<std::size_t>& own = by_thread_[thread];
        while (passed[thread] < own.size()) {
          const std::size_t barrier = own[passed[thread]];
          grows = grows || !has_arrived[barrier];
          has_arrived[barrier] = true;
          if (!is_open(events_[barrier], has_arrived)) {
            break;
          }
          ++passed[thread];
          grows = true;
        }
      }
    }
    for (std::size_t thread = 0; thread < program_.threads.size(); ++thread) {
      const std::vector<std::size_t>& own = by_thread_[thread];
      const std::size_t shut = !own.empty() && is_closed(own.back()) ? 1 : 0;
      if (passed[thread] + shut != own.size()) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool is_closed(std::size_t barrier) const { return (closed_ >> barrier & 1) != 0; }

  [[nodiscard]] bool is_open(const Event& barrier, const std::vector<bool>& has_arrived) const {
    const Instruction& instruction = *barrier.instruction;
    if (!instruction.waits) {
      return true;
    }
    if (instruction.quorum) {
      const Group group = group_of(barrier);
      return std::get<Group::kQuorum>(group.key) <= groups_.at(group).size() &&
             std::ranges::all_of(groups_.at(group), [&](std::size_t other) {
               return !events_[other].is_awaited || has_arrived[other];
             });
    }
    return instruction.number || !instruction.instance || all_reach(barrier, has_arrived);
  }

  // Whether each barrier of the instance that the CTA's threads have was reached.
  [[nodiscard]] bool all_reach(const Event& barrier, const std::vector<bool>& has_arrived) const {
    const Thread& waiting = program_.threads[barrier.thread];
    for (std::size_t thread = 0; thread < program_.threads.size(); ++thread) {
      for (const Instruction& each : program_.threads[thread].instructions) {
        const bool is_of_it = each.kind == Instruction::Kind::kBarrier &&
                              each.instance == barrier.instruction->instance &&
                              waiting.includes(Scope::kCta, program_.threads[thread]);
        if (is_of_it && std::ranges::none_of(by_thread_[thread], [&](std::size_t event) {
              return events_[event].instruction == &each && has_arrived[event];
            })) {
          return false;
        }
      }
    }
    return true;
  }

  const Program& program_;
  std::vector<Event>& events_;
  std::uint64_t closed_;
  const SearchEnd& end_;
  const std::function<bool()>& found_;
  std::array<std::vector<std::size_t>, kMostThreads> by_thread_;  // barriers
  Groups groups_;                                                 // of those with a quorum
  bool is_over_ = false;
};

}  // namespace

void for_each_opening(const Program& program, std::vector<Event>& events, std::uint64_t closed,
                      const SearchEnd& end, const std::function<bool()>& found) {
  if (std::ranges::find(events, Event::Kind::kBarrier, &Event::kind) == events.end()) {
    found();
    return;
  }
  Openings(program, events, closed, end, found).run();
}

}  // namespace barracuda::memory_model
