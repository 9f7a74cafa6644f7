#include "ptx/texel_form.h"

#include <algorithm>
#include <optional>

namespace barracuda::ptx {
namespace {

// Whether it has the modifier, as a word of its own.
bool says(const Instruction& instruction, std::string_view modifier) {
  const std::string_view text = instruction.mnemonic;
  for (std::size_t at = text.find('.'); at != text.npos;) {
    const std::size_t begin = text.find_first_not_of(" \t\n", at + 1);
    at = text.find('.', at + 1);
    if (begin != text.npos) {
      const std::size_t end = std::min(text.find_first_of(" \t\n./", begin), text.size());
      if (text.substr(begin, end - begin) == modifier) {
        return true;
      }
    }
  }
  return false;
}

struct Geometry {
  std::string_view name;
  std::uint8_t dimensions;
  bool is_layered;
};

constexpr Geometry kGeometries[] = {{.name = "1d", .dimensions = 1, .is_layered = false},
                                    {.name = "2d", .dimensions = 2, .is_layered = false},
                                    {.name = "3d", .dimensions = 3, .is_layered = false},
                                    {.name = "a1d", .dimensions = 1, .is_layered = true},
                                    {.name = "a2d", .dimensions = 2, .is_layered = true}};

bool read_geometry(const Instruction& instruction, TexelForm& form) {
  for (const Geometry& geometry : kGeometries) {
    if (says(instruction, geometry.name)) {
      form.dimensions = geometry.dimensions;
      form.is_layered = geometry.is_layered;
      return true;
    }
  }
  return false;
}

// [object, {coordinates}]. A layer stands first; what follows the last dimension means nothing.
bool read_place(const Operand& place, TexelAccess& access) {
  const TexelForm& form = access.form;
  const std::size_t count = std::size_t{form.dimensions} + (form.is_layered ? 1 : 0);
  if (place.kind != Operand::Kind::kAddress || place.elements.size() != 2 || place.offset != 0 ||
      place.elements[0].kind != Operand::Kind::kRegister) {
    return false;
  }
  access.object = place.elements.data();
  const Operand& given = place.elements[1];
  if (given.kind != Operand::Kind::kVector) {
    access.coordinates[0] = &given;
    return count == 1;
  }
  if (given.elements.size() < count) {
    return false;
  }
  std::size_t next = 0;
  if (form.is_layered) {
    access.coordinates[3] = &given.elements[next++];
  }
  for (std::size_t i = 0; i < form.dimensions; ++i) {
    access.coordinates.at(i) = &given.elements[next++];
  }
  return true;
}

// tex and tld4: how many operands may follow the two that each has.
std::size_t operands_of(const Instruction& instruction) {
  return says(instruction, "level") ? 3 : says(instruction, "grad") ? 4 : 2;
}

std::string_view read_texture(const Instruction& instruction, TexelAccess& access) {
  access.type = instruction.last_type(1);
  access.form.by_number = instruction.last_type() == ScalarType::kS32;
  const bool gathers = instruction.opcode == Opcode::kTld4;
  access.form.use = gathers ? TexelUse::kGather : TexelUse::kSample;
  constexpr std::string_view kChannels = "rgba";
  for (std::uint8_t i = 0; gathers && i < kChannels.size(); ++i) {
    if (says(instruction, kChannels.substr(i, 1))) {
      access.form.channel = i;
    }
  }
  using enum ScalarType;
  if (!instruction.has(Modifier::kV4) ||
      (access.type != kF32 && access.type != kU32 && access.type != kS32)) {
    return "what it reads into";
  }
  if (gathers && (access.form.by_number || access.form.dimensions != 2)) {
    return "its geometry";
  }
  access.elements = 4;
  access.value = instruction.operands.data();
  return instruction.operands.size() == operands_of(instruction) &&
                 access.value->kind == Operand::Kind::kVector && access.value->elements.size() == 4
             ? ""
             : "an offset, a comparison of depths, or a predicate of residence";
}

std::string_view read_surface(const Instruction& instruction, TexelAccess& access) {
  const bool stores = instruction.opcode == Opcode::kSust;
  access.form.use = stores ? TexelUse::kStore : TexelUse::kLoad;
  access.form.by_number = true;
  access.type = instruction.last_type(1);  // before what it does outside
  access.elements = instruction.has(Modifier::kV4) ? 4 : instruction.has(Modifier::kV2) ? 2 : 1;
  access.form.bytes = static_cast<std::uint8_t>(size_of(access.type) * access.elements);
  access.form.outside = says(instruction, "clamp")  ? Outside::kClamps
                        : says(instruction, "zero") ? Outside::kIsZero
                                                    : Outside::kTraps;
  if (!instruction.has(Modifier::kB)) {
    return "a formatted surface access";
  }
  if (instruction.operands.size() != 2 || access.form.bytes == 0 || access.form.bytes > 16) {
    return "its operands";
  }
  access.value = &instruction.operands[stores ? 1 : 0];
  return "";
}

}  // namespace

std::uint32_t TexelForm::packed() const {
  return static_cast<std::uint32_t>(use) | std::uint32_t{dimensions} << 2 |
         static_cast<std::uint32_t>(is_layered) << 4 | static_cast<std::uint32_t>(by_number) << 5 |
         std::uint32_t{channel} << 6 | static_cast<std::uint32_t>(outside) << 8 |
         std::uint32_t{bytes} << 16;
}

TexelForm TexelForm::unpacked(std::uint32_t word) {
  return {.use = static_cast<TexelUse>(word & 3U),
          .dimensions = static_cast<std::uint8_t>(word >> 2 & 3U),
          .is_layered = (word >> 4 & 1U) != 0,
          .by_number = (word >> 5 & 1U) != 0,
          .channel = static_cast<std::uint8_t>(word >> 6 & 3U),
          .bytes = static_cast<std::uint8_t>(word >> 16),
          .outside = static_cast<Outside>(word >> 8 & 3U)};
}

TexelAccess read_texel_access(const Instruction& instruction) {
  TexelAccess access;
  const bool is_texture = instruction.opcode == Opcode::kTex || instruction.opcode == Opcode::kTld4;
  const bool is_surface =
      instruction.opcode == Opcode::kSuld || instruction.opcode == Opcode::kSust;
  if ((!is_texture && !is_surface) || !read_geometry(instruction, access.form)) {
    access.refusal = "its geometry";
    return access;
  }
  access.refusal =
      is_texture ? read_texture(instruction, access) : read_surface(instruction, access);
  const std::size_t place = instruction.opcode == Opcode::kSust ? 0 : 1;
  if (access.refusal.empty() && !read_place(instruction.operands[place], access)) {
    access.refusal = "a texture or sampler that is no object, or its coordinates";
  }
  return access;
}

}  // namespace barracuda::ptx
