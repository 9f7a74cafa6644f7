// The events of one execution and what holds between them whatever the reads read from: program
// order, moral strength, barriers.
#pragma once

#include <cstdint>
#include <vector>

#include "weak_memory/memory_model/program.h"
#include "weak_memory/memory_model/relation.h"

namespace barracuda::memory_model {

struct Event {
  enum class Kind : std::uint8_t { kInitial, kRead, kWrite, kFence, kProxyFence, kBarrier };

  Kind kind = Kind::kInitial;
  std::uint32_t thread = 0;
  const Instruction* instruction = nullptr;  // null: an initial write
  std::uint32_t location = 0;
  std::uint64_t value = 0;         // read or written; of a barrier its number
  std::uint64_t dependencies = 0;  // of a write: the reads before it that it depends on, as bits
  std::uint32_t instance = 0;      // of a barrier
  std::uint64_t quorum = 0;        // of a barrier that so many open
  // Of a barrier: the others wait for it. With a quorum, as many as it says are waited for; threads
  // that come later find the barrier open, and wait for these alone.
  bool is_awaited = true;

  [[nodiscard]] bool writes() const { return kind == Kind::kWrite || kind == Kind::kInitial; }

  [[nodiscard]] bool accesses() const { return kind == Kind::kRead || writes(); }

  [[nodiscard]] bool is_strong() const {
    return instruction != nullptr &&
           (kind == Kind::kFence || (accesses() && instruction->order != Order::kWeak));
  }

  [[nodiscard]] bool is_fence(Order order) const {
    return kind == Kind::kFence && instruction->order == order;
  }

  [[nodiscard]] bool is_releasing_fence() const {
    return is_fence(Order::kRelease) || is_fence(Order::kAcqRel) || is_fence(Order::kSc);
  }

  [[nodiscard]] bool is_acquiring_fence() const {
    return is_fence(Order::kAcquire) || is_fence(Order::kAcqRel) || is_fence(Order::kSc);
  }

  // An order that includes releasing (of a write) or acquiring (of a read).
  [[nodiscard]] bool releases() const {
    return kind == Kind::kWrite &&
           (instruction->order == Order::kRelease || instruction->order == Order::kAcqRel);
  }

  [[nodiscard]] bool acquires() const {
    return kind == Kind::kRead &&
           (instruction->order == Order::kAcquire || instruction->order == Order::kAcqRel);
  }
};

// Of the memory consistency model of the PTX ISA. 7.5 has proxies.
enum class PtxVersion : std::uint8_t { k60, k75 };

struct Skeleton {
  // Initial writes first, then thread by thread. `events` outlive the skeleton.
  Skeleton(const Program& program, const std::vector<Event>& events, PtxVersion version);

  // `po_same_location` is of accesses that are morally strong: by one address (of the generic
  // proxy) and, in 7.5, one proxy.
  Relation po, po_same_location, morally_strong, rmw, barrier, dependency;
  // From the first event of a release pattern to its write, and from the read of an acquire pattern
  // to its last event.
  Relation release_pattern, acquire_pattern;
};

}  // namespace barracuda::memory_model
