// tex, tld4, suld, sust; txq and suq.
#pragma once

#include <array>

#include "emulator/state/context.h"
#include "emulator/texture.h"
#include "ptx/module.h"

namespace barracuda::emulator {

// Instruction::extra of what accesses texels.
struct TexelOperands {
  TexelForm form;
  std::uint8_t elements = 1;
  std::uint8_t element_bytes = 4;  // of a surface access
  Slot object = kNoSlot;
  std::array<Slot, 4> coordinates{kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  std::array<Slot, 4> values{kNoSlot, kNoSlot, kNoSlot, kNoSlot};
};

Step execute_texels(Context& c, const Instruction& in, std::uint32_t mask);

// Slot a is the object's, d the answer's; `flags` is what is asked.
enum class TextureQuery : std::uint8_t { kWidth, kHeight, kDepth, kLayers, kIsNormalised };

Step execute_texture_query(Context& c, const Instruction& in, std::uint32_t mask);

}  // namespace barracuda::emulator
