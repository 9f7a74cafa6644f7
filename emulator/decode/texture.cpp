// Textures and surfaces.
#include "emulator/execute/texture.h"

#include <memory>
#include <utility>

#include "emulator/decode/decoders.h"

namespace barracuda::emulator {
namespace {

using ptx::ScalarType;

struct Query {
  std::string_view modifier;
  TextureQuery query;
};

constexpr Query kQueries[] = {{".width", TextureQuery::kWidth},
                              {".height", TextureQuery::kHeight},
                              {".depth", TextureQuery::kDepth},
                              {".array_size", TextureQuery::kLayers},
                              {".normalized_coords", TextureQuery::kIsNormalised}};

// Registers of 8 bits are moved as wider ones.
ScalarType bound_as(ScalarType type) {
  const std::uint32_t bytes = ptx::size_of(type);
  return bytes == 8 ? ScalarType::kB64
         : type == ScalarType::kF32 || bytes == 4
             ? type
             : (bytes == 2 ? ScalarType::kB16 : ScalarType::kB8);
}

}  // namespace

// tex, tld4 {d}, [object, {coordinates}]; suld {d}, [object, {coordinates}];
// sust [object, {coordinates}], {values}
void decode_texels(CodeEmitter& code, const ptx::Instruction& instruction) {
  const ptx::TexelAccess access = ptx::read_texel_access(instruction);
  if (!access.refusal.empty()) {
    code.refuse(std::string(access.refusal));
    return;
  }
  auto operands = std::make_shared<TexelOperands>();
  operands->form = access.form;
  operands->elements = access.elements;
  operands->element_bytes = static_cast<std::uint8_t>(ptx::size_of(access.type));
  operands->object = code.source(*access.object, ScalarType::kU64);
  for (std::size_t i = 0; i < access.coordinates.size(); ++i) {
    if (const ptx::Operand* const coordinate = access.coordinates.at(i)) {
      const bool is_real = !access.form.by_number && i < 3;
      operands->coordinates.at(i) =
          code.source(*coordinate, is_real ? ScalarType::kF32 : ScalarType::kS32);
    }
  }
  const std::vector<ptx::Operand> elements = code.elements_of(*access.value);
  if (elements.size() != access.elements) {
    code.refuse("the number of registers");
    return;
  }
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const ScalarType type = bound_as(access.type);
    operands->values.at(i) = access.form.use == ptx::TexelUse::kStore
                                 ? code.source(elements[i], type)
                                 : code.destination(elements[i], type);
  }
  code.emit(Instruction{.handler = &execute_texels}, std::move(operands));
}

// txq.QUERY.b32 d, [object]; suq the same
void decode_texture_query(CodeEmitter& code, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  for (const Query& query : kQueries) {
    if (instruction.mnemonic.find(query.modifier) == std::string_view::npos) {
      continue;
    }
    if (operands.size() != 2 || operands[1].kind != ptx::Operand::Kind::kAddress ||
        operands[1].elements.empty() ||
        operands[1].elements[0].kind != ptx::Operand::Kind::kRegister) {
      break;
    }
    Instruction pattern{.handler = &execute_texture_query};
    pattern.a = code.source(operands[1].elements[0], ScalarType::kU64);
    pattern.d = code.destination(operands[0], ScalarType::kU32);
    pattern.flags = static_cast<std::uint8_t>(query.query);
    if (pattern.d != kNoSlot) {
      code.emit(pattern);
    }
    return;
  }
  code.refuse("this question, or its object");
}

}  // namespace barracuda::emulator
