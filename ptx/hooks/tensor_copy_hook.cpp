// The hook of a copy of a box of a tensor.
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "device_logger/site_word.h"
#include "ptx/hooks/hook_call.h"
#include "ptx/hooks/hook_text.h"

namespace barracuda::ptx {
namespace {

constexpr std::size_t kWords = 3;  // of 32 bits each, two in a word of 64
constexpr std::string_view kDeclare =
    ".reg .b64 %__barracuda_a, %__barracuda_s, %__barracuda_r, %__barracuda_w0, %__barracuda_w1, "
    "%__barracuda_w2, %__barracuda_m, %__barracuda_f;\n"
    ".reg .b32 %__barracuda_p;\n";

// %__barracuda_w0…: coordinates 0 and 1, 2 and 3, 4; those that the box does not have are 0.
template <typename WriteNumber>
std::string write_coordinates(const Operand& coordinates, const WriteNumber& write_number) {
  std::string text;
  for (std::size_t i = 0; i < 2 * kWords; ++i) {
    const std::string word = fmt::format("%__barracuda_w{}", i / 2);
    if (i >= coordinates.elements.size()) {
      text += i % 2 == 0 ? fmt::format("mov.b64 {}, 0;\n", word) : std::string();
      continue;
    }
    const Operand& coordinate = coordinates.elements[i];
    if (i % 2 == 0) {
      text += write_number(word, coordinate, 4);
      continue;
    }
    fmt::format_to(std::back_inserter(text),
                   "{0}shl.b64 %__barracuda_m, %__barracuda_m, 32;\n"
                   "or.b64 {1}, {1}, %__barracuda_m;\n",
                   write_number("%__barracuda_m", coordinate, 4), word);
  }
  return text;
}

// %__barracuda_p: wire::pixel_offsets.
template <typename WriteNumber>
std::string write_pixel_offsets(const Operand* offsets, const WriteNumber& write_number) {
  constexpr std::array kPlaces{0, 16, 24};
  std::string text = "mov.b64 %__barracuda_f, 0;\n";
  for (std::size_t i = 0; offsets != nullptr && i < offsets->elements.size(); ++i) {
    fmt::format_to(std::back_inserter(text),
                   "{}shl.b64 %__barracuda_m, %__barracuda_m, {};\n"
                   "or.b64 %__barracuda_f, %__barracuda_f, %__barracuda_m;\n",
                   write_number("%__barracuda_m", offsets->elements[i], 2), kPlaces.at(i));
  }
  return text + "cvt.u32.u64 %__barracuda_p, %__barracuda_f;\n";
}

}  // namespace

// Above the last coordinate stands the mask of a multicast.
HookText HookWriter::write_tensor_copy(const PlannedSite& site, const Statement& statement) {
  const Effect& effect = site.effect;
  const Operand& tensor = *operand_at(statement, tensor_operand(effect));
  const Predicate predicate = skip_unless(statement.instruction);
  std::uint32_t word = site_word(site);
  std::string text = fmt::format("{{\n{}{}", kDeclare, predicate.before);
  const auto add_place = [&](std::string_view into, int operand, StateSpace space, bool is_cluster,
                             std::uint32_t generic_flag) {
    text += write_place(
        into, {.address = operand_at(statement, operand), .space = space, .is_cluster = is_cluster},
        generic_flag, word);
  };
  const bool loads = loads_tensor(effect);
  add_place("%__barracuda_s", tensor_operand(effect), StateSpace::kGeneric, false, 0);
  add_place("%__barracuda_a", tensor_shared_operand(effect), StateSpace::kShared,
            loads ? effect.shared_cluster : effect.source_shared_cluster, wire::kGenericTarget);
  if (effect.mbarrier_operand >= 0) {
    add_place("%__barracuda_r", effect.mbarrier_operand, effect.space, effect.shared_cluster,
              wire::kGenericThird);
  } else {
    text += "mov.b64 %__barracuda_r, -1;\n";  // kNoOperand
  }
  const auto number = [&](std::string_view into, const Operand& operand, std::uint32_t bytes) {
    return write_number(into, operand, bytes);
  };
  text += write_coordinates(tensor.elements[1], number);
  text += write_pixel_offsets(operand_at(statement, effect.offsets_operand), number);
  if (const Operand* mask = operand_at(statement, effect.mask_operand)) {
    fmt::format_to(std::back_inserter(text),
                   "{}shl.b64 %__barracuda_m, %__barracuda_m, 32;\n"
                   "or.b64 %__barracuda_w2, %__barracuda_w2, %__barracuda_m;\n",
                   write_number("%__barracuda_m", *mask, 2));
  }
  text += write_call(called_, {.name = "tensor_copy"},
                     {b32(word), b64("%__barracuda_s"), b64("%__barracuda_a"),
                      b64("%__barracuda_r"), b64("%__barracuda_w0"), b64("%__barracuda_w1"),
                      b64("%__barracuda_w2"), b32("%__barracuda_p")});
  return {.before = fmt::format("{}{}}}\n", text, predicate.after)};
}

}  // namespace barracuda::ptx
