// What a thread may still do to which locations, by the instruction that it is at: for models with
// states, which leave out what can make no difference any more.
#pragma once

#include <cstdint>
#include <vector>

#include "weak_memory/memory_model/program.h"

namespace barracuda::memory_model {

using Locations = std::uint32_t;  // a bit each
static_assert(kMostLocations <= 32);

constexpr Locations bit_of(std::size_t location) {
  return Locations{1} << location;
}

// Of fences, barriers and accesses: what came before it is visible before it is; what comes behind
// it reads nothing older.
bool releases(const Instruction& instruction);
bool acquires(const Instruction& instruction);

class Outlook {
 public:
  explicit Outlook(const Program& program);

  // From instruction `next` on, whichever way the thread goes.
  [[nodiscard]] Locations reads(std::size_t thread, std::uint32_t next) const {
    return threads_[thread][next].reads;
  }

  [[nodiscard]] Locations writes(std::size_t thread, std::uint32_t next) const {
    return threads_[thread][next].writes;
  }

  // Locations of which a load may come that can return what it would have returned now or earlier:
  // before anything that acquires, and before an access that is the latest of the location.
  [[nodiscard]] Locations old_reads(std::size_t thread, std::uint32_t next) const {
    return threads_[thread][next].old_reads;
  }

  // Whether a store comes that this load may take place behind.
  [[nodiscard]] bool may_be_late(std::size_t thread, std::uint32_t load) const {
    return threads_[thread][load].may_be_late;
  }

 private:
  struct Ahead {
    Locations reads = 0, writes = 0, old_reads = 0;
    bool may_be_late = false;

    friend bool operator==(const Ahead&, const Ahead&) = default;
  };

  static Ahead ahead_of(const Thread& thread, const std::vector<Ahead>& all, std::size_t number);

  std::vector<std::vector<Ahead>> threads_;  // by thread and instruction, and one behind the last
};

}  // namespace barracuda::memory_model
