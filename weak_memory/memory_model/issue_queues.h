// What the thesis's two models have in common (Sorensen, "Towards Shared Memory Consistency Models
// for GPUs", 2013): a thread issues its instructions in order into queues, one for
// each location, from where they take place in the order of their location only; a fence waits in
// all queues at once.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "weak_memory/memory_model/program.h"
#include "weak_memory/memory_model/transition.h"

namespace barracuda::memory_model {

struct Queued {
  enum class Kind : std::uint8_t { kLoad, kStore, kBlockFence, kFence };

  Kind kind = Kind::kLoad;
  std::uint32_t target = 0;  // of a load
  std::uint64_t value = 0;   // of a store

  friend bool operator==(const Queued&, const Queued&) = default;
};

// A load that has left its queue and has no value yet: the pool lets loads pass each other.
struct PooledLoad {
  std::uint32_t location = 0, target = 0;

  friend auto operator<=>(const PooledLoad&, const PooledLoad&) = default;
};

struct IssueState {
  std::vector<std::uint32_t> next;  // instruction, by thread
  Outcome registers;
  std::vector<std::vector<std::deque<Queued>>> queues;  // by thread and location
  std::vector<std::vector<PooledLoad>> pools;           // by thread; sorted
};

class IssueQueues {
 public:
  // `in_lockstep`: the threads of a CTA issue each instruction together, and pass fences together.
  IssueQueues(const Program& program, bool in_lockstep)
      : program_(program), first_(first_registers(program)), in_lockstep_(in_lockstep) {}

  [[nodiscard]] IssueState initial() const;
  // Whether the thread has an instruction left whose registers no load is still to fill.
  [[nodiscard]] bool can_issue(const IssueState& state, std::size_t thread) const;
  void issue(IssueState& state, std::size_t thread) const;
  // The kind that stands at the head of each queue of the thread, if it is a fence. In lock step
  // only of the first of those that pass it together.
  [[nodiscard]] std::optional<Queued::Kind> fence_of(const IssueState& state,
                                                     std::size_t thread) const;
  // The threads that pass the fence together with this thread: in lock step all threads of the CTA
  // that have one.
  [[nodiscard]] std::vector<std::size_t> passing(const IssueState& state, std::size_t thread) const;
  static void pop_fence(IssueState& state, std::size_t thread);
  [[nodiscard]] bool has_ended(const IssueState& state) const;
  void encode(const IssueState& state, std::size_t thread, StateBytes& bytes) const;

  // Every thread is inside its program and has a queue for each location; its pool is sorted.
  [[nodiscard]] bool is_valid(const IssueState& state) const;

  [[nodiscard]] std::uint64_t& register_of(IssueState& state, std::size_t thread,
                                           std::uint32_t number) const {
    return state.registers[first_[thread] + number];
  }

 private:
  [[nodiscard]] std::uint64_t value(const IssueState& state, std::size_t thread,
                                    const Operand& operand) const;

  [[nodiscard]] std::optional<Queued::Kind> fence_at_head(const IssueState& state,
                                                          std::size_t thread) const;

  const Program& program_;
  std::vector<std::size_t> first_;
  bool in_lockstep_;
};

}  // namespace barracuda::memory_model
