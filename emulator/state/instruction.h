// A decoded instruction: what a handler needs and nothing to look up. Operands are slots: byte
// offsets into the frame's registers or, with the top bit, into the function's constants. A
// register of up to 32 bits is 32 lanes of 4 bytes, of 64 bits 32 lanes of 8 bytes, of 128 bits two
// of the latter (low halves first); a predicate is one 32-bit mask.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/set_bits.h"

namespace barracuda::emulator {

struct Context;
struct Instruction;
struct WeakSite;

inline constexpr int kLanes = 32;
inline constexpr std::uint32_t kFullMask = ~std::uint32_t{0};

// kSwitch: the fragment, the warp or the launch changed; leave the inner loop.
enum class Step : std::uint8_t { kNext, kSwitch };

// `mask`: the lanes that execute it, never empty.
using Handler = Step (*)(Context& context, const Instruction& instruction, std::uint32_t mask);

using Slot = std::uint32_t;
inline constexpr Slot kConstantSlot = std::uint32_t{1} << 31;
inline constexpr Slot kNoSlot = ~std::uint32_t{0};

struct alignas(64) Instruction {
  Handler handler = nullptr;
  Slot d = kNoSlot, a = kNoSlot, b = kNoSlot, c = kNoSlot, e = kNoSlot;
  Slot predicate = kNoSlot;
  std::int64_t immediate = 0;   // address offset, branch target, anything the handler wants
  const void* extra = nullptr;  // CallSite, VectorSlots …; owned by the function
  std::uint32_t statement = 0;  // in the PTX module: text and line for messages
  std::uint8_t flags = 0;       // for the handler
  std::uint8_t count = 1;       // vector elements
  bool predicate_negated = false;
  std::uint8_t memory = 0;         // what it does to memory: memory_use.h
  const WeakSite* weak = nullptr;  // of what memory is made weak for; owned by the function
};

static_assert(offsetof(Instruction, handler) == 0 && offsetof(Instruction, d) == 8 &&
              offsetof(Instruction, a) == 12 && offsetof(Instruction, b) == 16 &&
              offsetof(Instruction, c) == 20 && offsetof(Instruction, e) == 24);
static_assert(offsetof(Instruction, predicate) == 28 && offsetof(Instruction, immediate) == 32 &&
              offsetof(Instruction, extra) == 40 && offsetof(Instruction, statement) == 48);
static_assert(offsetof(Instruction, flags) == 52 && offsetof(Instruction, count) == 53 &&
              offsetof(Instruction, predicate_negated) == 54 &&
              offsetof(Instruction, memory) == 55);
static_assert(offsetof(Instruction, weak) == 56);
static_assert(sizeof(Instruction) == 64, "a cache line");
static_assert((kNoSlot & kConstantSlot) != 0, "no slot is no register's");

}  // namespace barracuda::emulator
