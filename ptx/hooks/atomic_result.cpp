#include "ptx/hooks/atomic_result.h"

#include <fmt/format.h>

#include "device_logger/record.h"
#include "ptx/type_family.h"

namespace barracuda::ptx {
namespace {

constexpr int kLaneFlagShift = 32;

bool is_integer(ScalarType type) {
  using enum ScalarType;
  return type == kB32 || type == kB64 || type == kU32 || type == kU64 || type == kS32 ||
         type == kS64;
}

// An immediate that is written as a float is moved as one: `mov.b32 r, 1.0` is not PTX.
std::string move(std::string_view destination, const Operand& operand, std::uint32_t bits) {
  const bool is_decimal = operand.kind == Operand::Kind::kFloat && operand.float_bits != bits;
  return fmt::format("mov.{}{} {}, {};\n", is_decimal ? "f" : "b", bits, destination, operand.text);
}

bool is_value(const Operand& operand) {
  return operand.kind == Operand::Kind::kRegister || operand.kind == Operand::Kind::kInteger ||
         operand.kind == Operand::Kind::kFloat;
}

// %__barracuda_x := from %__barracuda_x (the old value) and %__barracuda_b.
std::string write_operation(const Instruction& instruction, ScalarType type, std::uint32_t bits) {
  if (instruction.has(Modifier::kExch)) {
    return fmt::format("mov.b{} %__barracuda_x, %__barracuda_b;\n", bits);
  }
  if (!is_integer(type)) {
    return {};
  }
  for (const Modifier bitwise : {Modifier::kAnd, Modifier::kOr, Modifier::kXor}) {
    if (instruction.has(bitwise)) {
      return fmt::format("{}.b{} %__barracuda_x, %__barracuda_x, %__barracuda_b;\n",
                         text_of(bitwise), bits);
    }
  }
  for (const Modifier extreme : {Modifier::kMin, Modifier::kMax}) {
    if (instruction.has(extreme)) {
      return fmt::format("{}.{}{} %__barracuda_x, %__barracuda_x, %__barracuda_b;\n",
                         text_of(extreme), is_signed(type) ? "s" : "u", bits);
    }
  }
  if (instruction.has(Modifier::kAdd)) {
    return fmt::format("add.s{} %__barracuda_x, %__barracuda_x, %__barracuda_b;\n", bits);
  }
  if (instruction.has(Modifier::kInc)) {
    return fmt::format(
        "setp.ge.u{0} %__barracuda_q, %__barracuda_x, %__barracuda_b;\n"
        "add.s{0} %__barracuda_x, %__barracuda_x, 1;\n"
        "selp.b{0} %__barracuda_x, 0, %__barracuda_x, %__barracuda_q;\n",
        bits);
  }
  if (instruction.has(
          Modifier::kDec)) {  // 0 wraps to the largest value, which is above every bound but itself
    return fmt::format(
        "add.s{0} %__barracuda_x, %__barracuda_x, -1;\n"
        "setp.ge.u{0} %__barracuda_q, %__barracuda_x, %__barracuda_b;\n"
        "selp.b{0} %__barracuda_x, %__barracuda_b, %__barracuda_x, %__barracuda_q;\n",
        bits);
  }
  return {};
}

std::string extend(std::uint32_t bits) {
  return bits == 64 ? "mov.b64 %__barracuda_w, %__barracuda_x;\n"
                    : fmt::format("cvt.u64.u{} %__barracuda_w, %__barracuda_x;\n", bits);
}

std::string shrink(std::uint32_t bits) {
  return bits == 64 ? "mov.b64 %__barracuda_x, %__barracuda_r;\n"
                    : fmt::format("cvt.u{}.u64 %__barracuda_x, %__barracuda_r;\n", bits);
}

AtomicResult write_cas(const Instruction& instruction, std::uint32_t bits) {
  AtomicResult result;
  if (instruction.operands.size() < 4 || !is_value(instruction.operands[2]) ||
      !is_value(instruction.operands[3])) {
    return result;
  }
  result.declarations = fmt::format(
      ".reg .b{} %__barracuda_b, %__barracuda_c, %__barracuda_x;\n.reg .b64 %__barracuda_f;\n"
      ".reg .pred %__barracuda_q;\n",
      bits);
  result.before = move("%__barracuda_b", instruction.operands[2], bits) +
                  move("%__barracuda_c", instruction.operands[3], bits);
  result.text = fmt::format(
      "{}setp.ne.b{} %__barracuda_q, %__barracuda_x, %__barracuda_b;\n"
      "mov.b{} %__barracuda_x, %__barracuda_c;\n{}"
      "selp.b64 %__barracuda_f, {}, 0, %__barracuda_q;\n"
      "or.b64 %__barracuda_n, %__barracuda_n, %__barracuda_f;\n",
      shrink(bits), bits, bits, extend(bits), std::uint64_t{wire::kLaneVoid} << kLaneFlagShift);
  return result;
}

}  // namespace

std::string write_register_value(std::string_view destination, const Operand& operand,
                                 std::uint32_t declared, std::uint32_t bytes) {
  if (bytes > declared || operand.negated) {
    return {};
  }
  std::string text;
  if (declared == 8) {
    text = fmt::format("mov.b64 {}, {};\n", destination, operand.text);
  } else if (declared == 4 || declared == 2) {
    // Through an untyped register: cvt takes no float for an integer.
    text = fmt::format(
        "{{\n.reg .b{0} %__barracuda_t;\nmov.b{0} %__barracuda_t, {2};\ncvt.u64.u{0} {1}, "
        "%__barracuda_t;\n}}\n",
        8 * declared, destination, operand.text);
  } else if (declared == 1) {
    text = fmt::format("cvt.u64.u8 {}, {};\n", destination, operand.text);
  }
  if (!text.empty() && bytes < declared) {
    text +=
        fmt::format("and.b64 {0}, {0}, {1};\n", destination, (std::uint64_t{1} << (8 * bytes)) - 1);
  }
  return text;
}

HookText look_first(const PlannedSite& site, const Instruction& cas, std::uint32_t label) {
  const std::uint32_t bits = 8U * site.info.element_bytes;
  const std::string_view space = site.effect.space == StateSpace::kGlobal   ? ".global"
                                 : site.effect.space == StateSpace::kShared ? ".shared"
                                                                            : "";
  return {.before = fmt::format("{{\n.reg .b{0} %__barracuda_x;\n.reg .pred %__barracuda_q;\n"
                                "ld.volatile{1}.b{0} %__barracuda_x, {2};\n"
                                "setp.ne.b{0} %__barracuda_q, %__barracuda_x, {3};\n"
                                "@%__barracuda_q mov.b{0} {4}, %__barracuda_x;\n"
                                "@%__barracuda_q bra $__barracuda_look{5};\n",
                                bits, space, cas.operands[1].text, cas.operands[2].text,
                                cas.operands[0].text, label),
          .after = fmt::format("$__barracuda_look{}:\n}}\n", label)};
}

AtomicResult write_atomic_result(const PlannedSite& site, const Instruction& instruction) {
  const std::uint32_t bits =
      8U * (site.sub_word.word != 0 ? site.sub_word.word : site.info.element_bytes);
  if (bits != 16 && bits != 32 && bits != 64) {
    return {};
  }
  if (site.effect.is_cas) {
    return write_cas(instruction, bits);
  }
  AtomicResult result;
  const std::string operation = write_operation(instruction, site.effect.type, bits);
  if (operation.empty() || instruction.operands.size() < 3 || !is_value(instruction.operands[2])) {
    return result;
  }
  result.declarations =
      fmt::format(".reg .b{} %__barracuda_b, %__barracuda_x;\n.reg .pred %__barracuda_q;\n", bits);
  result.before = move("%__barracuda_b", instruction.operands[2], bits);
  result.text = shrink(bits) + operation + extend(bits);
  return result;
}

}  // namespace barracuda::ptx
