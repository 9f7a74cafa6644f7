// An instruction's opcode and modifiers, read once at decoding, and what the handler that was
// chosen for it expects of its operands.
#pragma once

#include <array>
#include <cstdint>

#include "emulator/state/instruction.h"
#include "ptx/module.h"

namespace barracuda::emulator {

using ptx::Modifier;
using ptx::Opcode;

enum class Rounding : std::uint8_t {
  kNone,
  kNearest,
  kZero,
  kDown,
  kUp,  // rn rz rm rp
  kNearestInteger,
  kZeroInteger,
  kDownInteger,
  kUpInteger,
  kAway,  // rni rzi rmi rpi rna
};

struct Form {
  const ptx::Instruction* instruction = nullptr;
  Opcode opcode = Opcode::kUnknown;
  std::array<ptx::ScalarType, 4> types{};  // in the order written
  int type_count = 0;
  Rounding rounding = Rounding::kNone;
  bool ftz = false, sat = false, approx = false, hi = false, lo = false, wide = false, cc = false;

  [[nodiscard]] ptx::ScalarType type() const {
    return type_count == 0 ? ptx::ScalarType::kNone : types[0];
  }

  [[nodiscard]] bool has(Modifier modifier) const { return instruction->has(modifier); }
};

Form read_form(const ptx::Instruction& instruction);

// The handler, and the types by which d, e (a second result) and a, b, c, e (sources) are bound.
// A null handler: not supported.
struct Selection {
  Handler handler = nullptr;
  ptx::ScalarType d = ptx::ScalarType::kNone;
  std::array<ptx::ScalarType, 4> sources{};
  int source_count = 0;
  bool uses_carry = false;     // slot e is the frame's carry predicate
  bool second_result = false;  // d|e: e is a predicate
  std::uint8_t flags = 0;
};

// Where an access goes. kGeneric may reach all but kParameter.
enum class Place : std::uint8_t {
  kGlobal,  // and .const: slot a is the address, `immediate` is added
  kGeneric,
  kShared,
  kLocal,
  kFrame,      // the frame's locals at offset `immediate`, no address register
  kParameter,  // the kernel's parameters at offset `immediate`
};

// Handlers that work on lanes are built twice, for the baseline and for AVX2.
struct LaneHandlers {
  Selection (*select)(const Form& form);
  // Instruction::count elements: the register d, or for several `extra` is VectorSlots. `flags` is
  // the Place.
  Handler (*load)(ptx::ScalarType element, Place place, bool strong);
  Handler (*store)(ptx::ScalarType element, Place place, bool strong);
};

const LaneHandlers& lane_handlers();

}  // namespace barracuda::emulator
