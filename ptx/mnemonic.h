// The words of an instruction: "atom.global.relaxed.add.u32" is the opcode atom with five
// modifiers. What they are called is in opcodes.def and modifiers.def, and nowhere else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace barracuda::ptx {

enum class Opcode : std::uint8_t {
  kUnknown,  // not in the table
#define OPCODE(name, ...) name,
#define FORM(...)
#include "ptx/opcodes.def"
};

enum class Modifier : std::uint16_t {
  kUnknown,  // one that nothing asks for
#define MODIFIER(name, text) name,
#include "ptx/modifiers.def"
};

enum class ScalarType : std::uint8_t {
  kNone,
#define MODIFIER(name, text)
#define TYPE(name, text, bytes) name,
#include "ptx/modifiers.def"
};

inline constexpr auto kOpcodeTexts = std::to_array<std::string_view>({
    "",
#define OPCODE(name, text, ...) text,
#define FORM(...)
#include "ptx/opcodes.def"
});

inline constexpr auto kModifierTexts = std::to_array<std::string_view>({
    "",
#define MODIFIER(name, text) text,
#include "ptx/modifiers.def"
});

// Empty for those that are unknown.
constexpr std::string_view text_of(Opcode opcode) {
  return kOpcodeTexts[static_cast<std::size_t>(opcode)];
}

constexpr std::string_view text_of(Modifier modifier) {
  return kModifierTexts[static_cast<std::size_t>(modifier)];
}

Opcode find_opcode(std::string_view word);
Modifier find_modifier(std::string_view word);

std::uint32_t size_of(ScalarType type);  // bytes; 0 for kNone and kPred
// The scalars that an access of the type is one of each of: two of a packed one (PTX ISA, memory
// consistency model, "Packed Data-types").
std::uint32_t scalars_in(ScalarType type);
ScalarType type_of(Modifier modifier);  // kNone where it is no type

}  // namespace barracuda::ptx
