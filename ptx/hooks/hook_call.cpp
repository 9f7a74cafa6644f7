#include "ptx/hooks/hook_call.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/strong_id.h"
#include "device_logger/site_word.h"
#include "device_logger/symbols.h"
#include "ptx/analysis/load_or_store.h"

namespace barracuda::ptx {

namespace {

// States take an access to be aligned to its size, a power of two. Of a matrix the lines lie
// multiples of 16 bytes apart (PTX ISA, wmma.load), and a lane's piece may be larger, or 12 bytes.
bool may_be_unaligned(const PlannedSite& site) {
  constexpr unsigned kLineAlignment = 16;
  const unsigned bytes = unsigned{site.info.element_bytes} * site.info.element_count;
  return site.effect.opcode_class == OpcodeClass::kMatrixAccess &&
         (bytes > kLineAlignment || !std::has_single_bit(bytes));
}

// What a cp.async reads: global memory.
bool is_copy_read(const PlannedSite& site) {
  return site.hook == HookKind::kAccess && site.info.operation == wire::Operation::kRead &&
         site.info.asynchrony == wire::Asynchrony::kThreadGroup;
}

// What the states of words of shared memory have to know of an access: whether it reads or writes,
// whether it is strong, and whether it is logged whatever the states say.
std::uint32_t state_bits(const PlannedSite& site) {
  if (is_copy_read(site)) {
    return wire::kPlainRead | wire::kAlwaysLogged;
  }
  if (site.keeps_copies) {
    return wire::kPlainWrite;
  }
  const bool is_weak = site.info.order == wire::MemoryOrder::kWeak;
  const bool reads = only_loads(site.effect);
  if (site.has_state && !is_weak && !site.publishes_later) {
    return reads ? wire::kLoadsStrongly : wire::kStoresStrongly;
  }
  if (reads || only_stores(site.effect)) {
    // A load past the caches' coherence is ordered before no write, whatever comes between.
    const bool has_no_state = !is_weak || site.publishes_later ||
                              site.info.proxy == wire::Proxy::kReadOnly || may_be_unaligned(site);
    return (is_weak && reads ? wire::kPlainRead : 0) | (reads ? 0 : wire::kPlainWrite) |
           (has_no_state ? wire::kAlwaysLogged : 0);
  }
  // An atomic. One of a vector is several.
  const bool has_state = site.effect.elements == 1 && !site.publishes_later;
  return wire::kPlainWrite | (has_state ? wire::kPlainRead : wire::kAlwaysLogged);
}

// Which accesses a launch leaves out that does not write the memory, and which write it. A cp.async
// reads at some time before its launch ends. Neither are other asynchronous copies, which are no
// accesses of the thread's own; accesses that synchronise, which other hooks log; and accesses of
// shared memory, which the block itself writes.
std::uint32_t access_bits(const PlannedSite& site) {
  if (site.counts_intervals && site.hook == HookKind::kAccess) {
    return state_bits(site);
  }
  if (is_copy_read(site)) {
    return wire::kPlainRead;
  }
  if (site.hook != HookKind::kAccess || site.info.asynchrony != wire::Asynchrony::kNone ||
      site.effect.space == StateSpace::kShared) {
    return 0;
  }
  if (only_loads(site.effect)) {
    return site.info.order == wire::MemoryOrder::kWeak ? wire::kPlainRead : 0;
  }
  return site.info.operation == wire::Operation::kRead ? 0 : wire::kPlainWrite;
}

std::uint32_t event_bits(const PlannedSite& site) {
  if (site.hook != HookKind::kEvent || (!site.counts_intervals && !site.is_counted)) {
    return 0;
  }
  return wire::kOfWholeBlock | (site.is_counted ? wire::kCounted : 0) |
         (site.info.operation == wire::Operation::kExit ? wire::kLeavesKernel : 0);
}

}  // namespace

std::uint32_t site_word(const PlannedSite& site) {
  const auto bytes = static_cast<std::uint32_t>(site.info.element_bytes * site.info.element_count);
  return index_of(site.id) |
         static_cast<std::uint32_t>(std::countr_zero(std::bit_ceil(std::max(bytes, 1U))))
             << wire::kSizeShift |
         (site.stores_constants ? wire::kConstantValue : 0) |
         (site.info.is_replicated ? wire::kKnownValues : 0) | event_bits(site) | access_bits(site);
}

std::string write_call(HookNames& called, Hook hook, std::span<const HookArgument> arguments,
                       std::string_view result, std::string_view read) {
  std::string function =
      fmt::format("{}{}{}", wire::kPrefix, hook.name, hook.is_generic ? "_generic" : "");
  std::string text = "{\n";
  std::string names;
  int n = 0;
  for (const HookArgument& argument : arguments) {
    fmt::format_to(std::back_inserter(text),
                   ".param .b{0} __barracuda_p{1}; st.param.b{0} [__barracuda_p{1}], {2};\n",
                   argument.bits, n, argument.value);
    fmt::format_to(std::back_inserter(names), "{}__barracuda_p{}", n == 0 ? "" : ", ", n);
    ++n;
  }
  text += result;
  fmt::format_to(std::back_inserter(text), "call {}{}, ({});\n{}}}\n",
                 result.empty() ? "" : "(__barracuda_result), ", function, names, read);
  called.insert(std::move(function));
  return text;
}

std::string write_call_for_number(HookNames& called, Hook hook,
                                  std::initializer_list<HookArgument> arguments) {
  return write_call(called, hook, arguments, ".param .align 8 .b8 __barracuda_result[8];\n",
                    "ld.param.b64 %__barracuda_n, [__barracuda_result];\n");
}

std::string write_question(HookNames& called, Hook hook,
                           std::initializer_list<HookArgument> arguments) {
  return fmt::format(
      ".reg .b64 %__barracuda_n;\n.reg .pred %__barracuda_q;\n{}"
      "setp.ne.b64 %__barracuda_q, %__barracuda_n, 0;\n",
      write_call_for_number(called, hook, arguments));
}

std::string without_rank(std::string_view address, std::uint32_t arch) {
  constexpr std::uint32_t kFirstWithClusters = 90;
  return arch < kFirstWithClusters ? "" : fmt::format("and.b32 {0}, {0}, 16777215;\n", address);
}

const Operand* operand_at(const Statement& statement, int index) {
  const auto& operands = statement.instruction.operands;
  return index >= 0 && static_cast<std::size_t>(index) < operands.size()
             ? &operands[static_cast<std::size_t>(index)]
             : nullptr;
}

}  // namespace barracuda::ptx
