// Copies that were issued and not made yet: they are made when a thread waits for them, as late as
// the program allows, so that a program that forgets to wait reads what was there before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/state/instruction.h"

namespace barracuda::emulator {

// Combines one element of memory with the operand, atomically.
using Reduction = void (*)(std::byte* location, const std::byte* operand);

// Bytes between host addresses that have been checked.
struct Movement {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;  // null: `value`
  std::uint32_t bytes = 0, zeros = 0;
  Reduction reduction = nullptr;  // null: copied
  std::uint32_t element_bytes = 0;
  std::array<std::byte, 16> value{};

  void perform() const;
};

// A movement that an mbarrier counts.
struct Transfer {
  Movement movement;
  std::uint64_t* mbarrier = nullptr;
  std::uint32_t signalled = 0;  // bytes
};

// What the lanes of a warp have in flight, in their order: movements, arrivals at mbarriers that
// follow them, and the ends of groups.
class CopyQueue {
 public:
  void add(std::uint32_t lane, const Movement& movement);
  // The arrival is made when the lane's movements before it are.
  void add_arrival(std::uint32_t lane, std::uint64_t* mbarrier);
  void end_group(std::uint32_t mask);

  // All but the last `groups` groups of each lane of the mask are complete after this.
  void complete_groups(std::uint32_t mask, std::uint32_t groups);
  // Everything of the lanes, also what is in no group yet.
  void complete_all(std::uint32_t mask);
  // What arrivals at that mbarrier wait for, and they.
  void complete_for(const std::uint64_t* mbarrier);
  void forget();

  [[nodiscard]] bool empty() const { return entries_.empty(); }

 private:
  enum class Kind : std::uint8_t { kMovement, kArrival, kGroupEnd };

  struct Entry {
    Kind kind = Kind::kMovement;
    std::uint32_t mask = 0;  // one lane, but for kGroupEnd
    Movement movement;
    std::uint64_t* mbarrier = nullptr;
  };

  // Makes the entries before `ends[lane]` of each lane.
  void complete_before(const std::array<std::size_t, kLanes>& ends);

  std::vector<Entry> entries_;
};

}  // namespace barracuda::emulator
