// Instructions of textures and surfaces: which texels they ask for, and by which operands.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ptx/module.h"

namespace barracuda::ptx {

enum class TexelUse : std::uint8_t { kSample, kGather, kLoad, kStore };  // tex, tld4, suld, sust
enum class Outside : std::uint8_t { kTraps, kClamps, kIsZero };          // of surfaces

struct TexelForm {
  TexelUse use = TexelUse::kSample;
  std::uint8_t dimensions = 1;
  bool is_layered = false;
  bool by_number = false;    // coordinates are integers
  std::uint8_t channel = 0;  // kGather: which one
  std::uint8_t bytes = 0;    // of a surface access
  Outside outside = Outside::kTraps;

  // As hooks hand it on.
  [[nodiscard]] std::uint32_t packed() const;
  static TexelForm unpacked(std::uint32_t word);

  [[nodiscard]] bool is_of_surface() const {
    return use == TexelUse::kLoad || use == TexelUse::kStore;
  }

  friend bool operator==(const TexelForm&, const TexelForm&) = default;
};

struct TexelAccess {
  TexelForm form;
  ScalarType type = ScalarType::kNone;  // of a register
  std::uint8_t elements = 1;
  const Operand* object = nullptr;  // the register of the handle
  // x, y, z, and the layer; null where the form has none.
  std::array<const Operand*, 4> coordinates{};
  const Operand* value = nullptr;  // read or stored
  std::string_view refusal;        // what is not understood; empty: nothing
};

// Of tex, tld4, suld and sust. Its pointers are into the instruction.
TexelAccess read_texel_access(const Instruction& instruction);

}  // namespace barracuda::ptx
