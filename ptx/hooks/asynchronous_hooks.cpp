// The hooks of mbarrier operations, of asynchronous copies and of matrix accesses.
#include <bit>
#include <iterator>

#include <fmt/format.h>

#include "base/assert.h"
#include "device_logger/record.h"
#include "device_logger/site_word.h"
#include "ptx/analysis/constants.h"
#include "ptx/analysis/plan_asynchronous.h"
#include "ptx/hooks/hook_call.h"
#include "ptx/hooks/hook_text.h"
#include "ptx/matrix_layout.h"
#include "ptx/tensor_instruction.h"
#include "ptx/warpgroup_product.h"

namespace barracuda::ptx {
namespace {

using wire::Operation;

// Above the amount in the last argument of __barracuda_operands.
constexpr int kLaneFlagShift = 32;

constexpr std::string_view kDeclareOperands =
    ".reg .b64 %__barracuda_a, %__barracuda_s, %__barracuda_r, %__barracuda_n;\n";

// What a lane has instead of an address if it touches no memory, as the logger knows it.
constexpr std::string_view kSelectNoAddress =
    "selp.b64 %__barracuda_a, -1, %__barracuda_a, %__barracuda_z;\n";

// Of what a warp does as one: one lane logs for it, and all of them go on together, as the
// instruction wants them.
constexpr std::string_view kSelectFirstLane =
    ".reg .pred %__barracuda_z;\n.reg .b32 %__barracuda_l;\n"
    "mov.u32 %__barracuda_l, %laneid;\nsetp.ne.u32 %__barracuda_z, %__barracuda_l, 0;\n"
    "selp.b64 %__barracuda_a, -1, %__barracuda_a, %__barracuda_z;\n";

// The lanes that ldmatrix and stmatrix take addresses of.
std::string write_first_lanes(std::uint32_t lanes) {
  if (lanes == wire::kWarpLanes) {
    return {};
  }
  return fmt::format(
      ".reg .pred %__barracuda_z;\n.reg .b32 %__barracuda_l;\n"
      "mov.u32 %__barracuda_l, %laneid;\nsetp.ge.u32 %__barracuda_z, %__barracuda_l, {};\n{}",
      lanes, kSelectNoAddress);
}

// The lane's piece of a matrix that lies in lines.
std::string write_line_part(const MatrixLayout& layout, const Statement& statement) {
  const Operand* stride = operand_at(statement, layout.stride_operand);
  std::string text = fmt::format(
      ".reg .b32 %__barracuda_l, %__barracuda_k;\n.reg .b64 %__barracuda_i;\n"
      "mov.u32 %__barracuda_l, %laneid;\nshr.u32 %__barracuda_k, %__barracuda_l, {};\n"
      "mul.wide.u32 %__barracuda_i, %__barracuda_k, {};\n",
      layout.lanes_of_line_log2,
      stride == nullptr ? fmt::to_string(layout.line_elements) : std::string(stride->text));
  const int shift = std::countr_zero(layout.element_bits) - 3;
  if (shift != 0) {
    fmt::format_to(std::back_inserter(text), "{} %__barracuda_i, %__barracuda_i, {};\n",
                   shift > 0 ? "shl.b64" : "shr.u64", shift > 0 ? shift : -shift);
  }
  text += "add.s64 %__barracuda_a, %__barracuda_a, %__barracuda_i;\n";
  if (layout.lanes_of_line_log2 != 0) {
    fmt::format_to(std::back_inserter(text),
                   "and.b32 %__barracuda_k, %__barracuda_l, {};\n"
                   "mul.wide.u32 %__barracuda_i, %__barracuda_k, {};\n"
                   "add.s64 %__barracuda_a, %__barracuda_a, %__barracuda_i;\n",
                   (1U << layout.lanes_of_line_log2) - 1,
                   layout.element_bytes * layout.element_count);
  }
  return text;
}

// The read of a cp.async that does not read all: whole, or a piece of what `read` says.
std::string write_read_part(const Operand& read, std::uint32_t bytes, std::uint64_t whole) {
  if (bytes == whole) {
    return fmt::format(".reg .pred %__barracuda_z;\nsetp.lt.u32 %__barracuda_z, {}, {};\n{}",
                       read.text, whole, kSelectNoAddress);
  }
  return fmt::format(
      ".reg .pred %__barracuda_z;\n.reg .b32 %__barracuda_k;\n.reg .b64 %__barracuda_i;\n"
      "mov.b32 %__barracuda_k, {0};\nand.b32 %__barracuda_k, %__barracuda_k, {1};\n"
      "cvt.u64.u32 %__barracuda_i, %__barracuda_k;\n"
      "add.s64 %__barracuda_a, %__barracuda_a, %__barracuda_i;\n"
      "mov.b32 %__barracuda_k, {0};\nand.b32 %__barracuda_k, %__barracuda_k, {2};\n"
      "setp.eq.u32 %__barracuda_z, %__barracuda_k, 0;\n{3}",
      read.text, whole - 2 * std::uint64_t{bytes}, bytes, kSelectNoAddress);
}

// The flags of a lane that do not depend on it.
std::uint64_t fixed_flags(const Statement& statement, const PlannedSite& site) {
  const bool drops = site.info.operation == Operation::kMbarrierArrive &&
                     statement.instruction.has(Modifier::kArriveDrop);
  return drops ? std::uint64_t{wire::kLaneDrops} << kLaneFlagShift : 0;
}

// The amount where no operand says it.
std::uint32_t default_amount(const PlannedSite& site, const Instruction& instruction) {
  const Operation operation = site.info.operation;
  if (operation == Operation::kCopy) {  // of a value
    return std::uint32_t{site.info.element_bytes} * site.info.element_count;
  }
  const bool counts_one =
      operation == Operation::kMbarrierArrive ||
      (operation == Operation::kAsyncArrive &&
       (instruction.has(Modifier::kNoinc) || instruction.opcode == Opcode::kTcgen05));
  return operation == Operation::kMbarrierWait ? wire::kUnknownParity : counts_one ? 1 : 0;
}

// The operands of a wgmma.
std::string write_warp_product(const PlannedSite& site, const Statement& statement) {
  const auto& operands = statement.instruction.operands;
  const bool has_registers = wire::ProductShape::of(site.info.constant).has_registers;
  return fmt::format(
      "mov.b64 %__barracuda_a, {};\n{}mov.b64 %__barracuda_s, {};\n"
      "mov.b64 %__barracuda_r, {};\n",
      wire::tagged_address(wire::AddressSpace::kShared, 0), kSelectFirstLane,
      has_registers ? "-1" : operands[kProductA].text, operands[kProductB].text);
}

// Those of a tcgen05.mma or .cp, of which each lane that comes to it issues its own; as a rule it
// is one.
std::string write_tensor_product(const Statement& statement) {
  const auto read = read_tensor_instruction(statement.instruction);
  ASSERT(read);  // it was planned
  const auto text_of = [&](int operand) {
    const Operand* const written = operand_at(statement, operand);
    return written == nullptr ? std::string("-1") : std::string(written->text);
  };
  return fmt::format(
      "mov.b64 %__barracuda_a, {};\nmov.b64 %__barracuda_s, {};\n"
      "mov.b64 %__barracuda_r, {};\n{}",
      wire::tagged_address(wire::AddressSpace::kShared, 0), text_of(read->a), text_of(read->b),
      read->shape < 0 ? "mov.b64 %__barracuda_n, 0;\n"
                      : fmt::format("cvt.u64.u32 %__barracuda_n, {};\n", text_of(read->shape)));
}

}  // namespace

std::string HookWriter::write_part(const PlannedSite& site, const Statement& statement) const {
  if (site.effect.opcode_class == OpcodeClass::kMatrixAccess) {
    const auto layout = read_matrix_layout(statement.instruction);
    return !layout             ? std::string{}
           : layout->has_lines ? write_line_part(*layout, statement)
                               : write_first_lanes(layout->lanes);
  }
  const Operand* read =
      reads_some(site.effect) ? operand_at(statement, site.effect.bytes_operand) : nullptr;
  if (read == nullptr || site.info.operation != Operation::kRead) {
    return {};
  }
  if (is_predicate(*read, registers_)) {  // that none is read
    return read->negated
               ? fmt::format("selp.b64 %__barracuda_a, %__barracuda_a, -1, {};\n", read->name)
               : fmt::format("selp.b64 %__barracuda_a, -1, %__barracuda_a, {};\n", read->name);
  }
  const Operand& whole = statement.instruction.operands[2];
  return write_read_part(*read, site.info.element_bytes, whole.bits);
}

// destination := the low `bytes` of a 16- or 32-bit operand, zero-extended.
std::string HookWriter::write_number(std::string_view destination, const Operand& operand,
                                     std::uint32_t bytes) const {
  const std::string text = write_value(destination, operand, bytes);
  return text.empty() ? fmt::format("cvt.u64.u32 {}, {};\n", destination, operand.text) : text;
}

std::string HookWriter::write_operands_call(const PlannedSite& site, const Statement& statement) {
  const Effect& effect = site.effect;
  std::uint32_t word = site_word(site);
  std::string text;
  const auto add_place = [&](std::string_view into, int operand, StateSpace space, bool is_cluster,
                             std::uint32_t generic_flag) {
    text += write_place(
        into, {.address = operand_at(statement, operand), .space = space, .is_cluster = is_cluster},
        generic_flag, word);
  };
  add_place("%__barracuda_a", effect.address_operand, effect.space, effect.shared_cluster,
            wire::kGenericTarget);
  const bool copies = site.info.operation == Operation::kCopy;
  const std::string_view none = copies ? "-1" : "0";  // kNoOperand
  if (effect.source_operand >= 0) {
    add_place("%__barracuda_s", effect.source_operand, effect.source_space,
              effect.source_shared_cluster, wire::kGenericSecond);
  } else if (const Operand* bytes = operand_at(statement, effect.bytes_operand)) {
    text += write_number("%__barracuda_s", *bytes, 4);
  } else {
    text += fmt::format("mov.b64 %__barracuda_s, {};\n", none);
  }
  if (effect.mbarrier_operand >= 0) {
    add_place("%__barracuda_r", effect.mbarrier_operand, effect.space, effect.shared_cluster,
              wire::kGenericThird);
  } else {
    text += fmt::format("mov.b64 %__barracuda_r, {};\n", none);
  }
  if (const Operand* amount = operand_at(statement, effect.amount_operand)) {
    text += write_number("%__barracuda_n", *amount, 4);
  } else {
    text +=
        fmt::format("mov.b64 %__barracuda_n, {};\n", default_amount(site, statement.instruction));
  }
  if (const Operand* mask = operand_at(statement, effect.mask_operand)) {
    text += fmt::format(
        "{{\n.reg .b64 %__barracuda_m;\n{}shl.b64 %__barracuda_m, %__barracuda_m, {};\n"
        "or.b64 %__barracuda_n, %__barracuda_n, %__barracuda_m;\n}}\n",
        write_number("%__barracuda_m", *mask, 2), kLaneFlagShift);
  }
  if (const std::uint64_t flags = fixed_flags(statement, site); flags != 0) {
    text += fmt::format("or.b64 %__barracuda_n, %__barracuda_n, {};\n", flags);
  }
  word |= site.hook == HookKind::kWait ? wire::kAfterOperation : 0;
  const bool is_of_warp = statement.instruction.has(Modifier::kCpFenceproxy) ||
                          statement.instruction.has(Modifier::kAlloc);
  if (is_of_warp) {
    text += kSelectFirstLane;
  }
  return text +
         write_call(called_, {.name = "operands"},
                    {b32(word), b64("%__barracuda_a"), b64("%__barracuda_s"), b64("%__barracuda_r"),
                     b64("%__barracuda_n")}) +
         std::string(is_of_warp ? kMeetInWarp : "");
}

std::string HookWriter::write_product_call(const PlannedSite& site, const Statement& statement) {
  const bool is_of_warp = site.info.asynchrony == wire::Asynchrony::kMatrixGroup;
  return (is_of_warp ? write_warp_product(site, statement) : write_tensor_product(statement)) +
         write_call(called_, {.name = "operands"},
                    {b32(site_word(site)), b64("%__barracuda_a"), b64("%__barracuda_s"),
                     b64("%__barracuda_r"), b64(is_of_warp ? "0" : "%__barracuda_n")}) +
         std::string(is_of_warp ? kMeetForProduct : "");
}

HookText HookWriter::write_operands(const PlannedSite& site, const Statement& statement) {
  const Predicate predicate = skip_unless(statement.instruction);
  return {.before = fmt::format("{{\n{}{}{}{}}}\n", kDeclareOperands, predicate.before,
                                site.info.operation == Operation::kMatrixProduct
                                    ? write_product_call(site, statement)
                                    : write_operands_call(site, statement),
                                predicate.after)};
}

// Lanes that the wait leaves waiting go round the hook too.
HookText HookWriter::write_wait(const PlannedSite& site, const Statement& statement) {
  const Predicate predicate = skip_unless(statement.instruction);
  const std::uint32_t label = next_label_++;
  return {.before = fmt::format("{{\n{}{}", kDeclareOperands, predicate.before),
          .after = fmt::format("@!{0} bra $__barracuda_skip{1};\n{2}$__barracuda_skip{1}:\n{3}}}\n",
                               statement.instruction.operands[0].text, label,
                               write_operands_call(site, statement), predicate.after)};
}

}  // namespace barracuda::ptx
