#include "ptx/asynchronous_effect.h"

namespace barracuda::ptx {
namespace {

using wire::Asynchrony;
using wire::MemoryOrder;
using wire::Operation;
using wire::Scope;
using enum OpcodeClass;

constexpr std::string_view kSignals = "mbarrier::complete_tx::bytes";

// mbarrier.op [d,] [address] [, operand [, time]]
void set_mbarrier(const Instruction& instruction, Effect& effect) {
  const int address = effect.address_operand;
  const bool has_operand =
      address >= 0 && static_cast<std::size_t>(address) + 1 < instruction.operands.size();
  const auto operand = static_cast<std::int8_t>(has_operand ? address + 1 : -1);
  bool needs_operand = false;
  if (instruction.has("arrive") || instruction.has("arrive_drop")) {
    effect.operation = Operation::kMbarrierArrive;
    needs_operand = instruction.has("expect_tx");
    (needs_operand ? effect.bytes_operand : effect.amount_operand) = operand;
  } else if (instruction.has("test_wait") || instruction.has("try_wait")) {
    effect.operation = Operation::kMbarrierWait;
    needs_operand = true;
    effect.amount_operand = instruction.has("parity") ? operand : std::int8_t{-1};
  } else if (instruction.has("init")) {
    effect.operation = Operation::kMbarrierInit;
    needs_operand = true;
    effect.amount_operand = operand;
  } else if (instruction.has("inval")) {
    effect.operation = Operation::kMbarrierInvalidate;
  } else if (instruction.has("expect_tx") || instruction.has("complete_tx")) {
    effect.operation =
        instruction.has("expect_tx") ? Operation::kMbarrierExpect : Operation::kMbarrierComplete;
    needs_operand = true;
    effect.bytes_operand = operand;
  }
  effect.not_covered = !effect.operation || address < 0 || (needs_operand && !has_operand);
}

// cp.async [to], [from], size [, bytes read | predicate to read none] [, cache policy]
void set_plain_copy(const Instruction& instruction, Effect& effect) {
  const auto& operands = instruction.operands;
  const bool has_size = operands.size() > 2 && operands[2].kind == Operand::Kind::kInteger;
  const std::uint64_t size = has_size ? operands[2].bits : 0;
  if (effect.space != StateSpace::kShared || effect.source_space != StateSpace::kGlobal ||
      (size != 4 && size != 8 && size != 16)) {
    effect.not_covered = true;
    return;
  }
  effect.operation = Operation::kCopy;
  effect.asynchrony = Asynchrony::kThreadGroup;
  effect.source_operand = 1;
  effect.amount_operand = 2;
  const std::size_t without_read = instruction.has("L2::cache_hint") ? 4 : 3;
  effect.bytes_operand = operands.size() > without_read ? 3 : -1;
}

// [to], [from], bytes [, [mbarrier]] [, CTA mask] [, cache policy]
void set_bulk_copy(const Instruction& instruction, Effect& effect) {
  const bool signals = instruction.has(kSignals),
             is_multicast = instruction.has("multicast::cluster");
  const std::size_t needed = is_multicast ? 5 : signals ? 4 : 3;
  const bool reduces = instruction.has("reduce");
  if (effect.source_space == StateSpace::kNone || signals == instruction.has("bulk_group") ||
      (is_multicast && !signals) || instruction.operands.size() < needed ||
      (reduces && size_of(effect.type) == 0)) {
    effect.not_covered = true;
    return;
  }
  effect.operation = Operation::kCopy;
  effect.asynchrony = signals ? Asynchrony::kMbarrier : Asynchrony::kBulkGroup;
  effect.source_operand = 1;
  effect.amount_operand = 2;
  effect.mbarrier_operand = signals ? 3 : -1;
  effect.mask_operand = is_multicast ? 4 : -1;
  if (reduces) {
    effect.order = MemoryOrder::kRelaxed;
    effect.scope = Scope::kGpu;
  }
}

// The groups and the mbarriers of copies, and the copies.
void set_copy(const Instruction& instruction, Effect& effect) {
  const bool is_bulk = instruction.has("bulk");
  const Asynchrony of_groups = is_bulk ? Asynchrony::kBulkGroup : Asynchrony::kThreadGroup;
  if (instruction.has("commit_group")) {
    effect.operation = Operation::kAsyncCommit;
    effect.asynchrony = of_groups;
  } else if (instruction.has("wait_group") || instruction.has("wait_all")) {
    effect.operation = Operation::kAsyncWait;
    effect.asynchrony = of_groups;
    effect.amount_operand = instruction.has("wait_all") ? -1 : 0;
    effect.not_covered = instruction.has("wait_group") && instruction.operands.empty();
  } else if (is_bulk) {
    set_bulk_copy(instruction, effect);
  } else if (instruction.has("mbarrier")) {
    effect.operation = Operation::kAsyncArrive;
    effect.asynchrony = Asynchrony::kThreadGroup;
    effect.order = MemoryOrder::kRelaxed;
    effect.scope = Scope::kCta;
    effect.not_covered = effect.address_operand < 0;
  } else {
    set_plain_copy(instruction, effect);
  }
}

// st.async and red.async: [to], value, [mbarrier]
void set_remote_store(const Instruction& instruction, Effect& effect) {
  if (!instruction.has(kSignals) || instruction.operands.size() < 3 || size_of(effect.type) == 0) {
    effect.not_covered = true;
    return;
  }
  effect.operation = Operation::kCopy;
  effect.asynchrony = Asynchrony::kMbarrier;
  effect.mbarrier_operand = 2;
  if (instruction.opcode == "red") {
    effect.order = MemoryOrder::kRelaxed;
    effect.scope = Scope::kCluster;
  }
}

}  // namespace

void set_asynchronous_effect(const Instruction& instruction, Effect& effect) {
  if (effect.not_covered) {
    return;
  }
  if (effect.opcode_class == kProxyFence) {
    effect.operation = Operation::kProxyFence;
  } else if (effect.opcode_class == kGridDependency) {
    effect.operation =
        instruction.has("wait") ? Operation::kGridWait : Operation::kLaunchDependents;
  } else if (effect.opcode_class == kClusterBarrier) {
    effect.operation =
        instruction.has("arrive") ? Operation::kClusterArrive : Operation::kClusterWait;
  } else if (effect.opcode_class == kMbarrier) {
    set_mbarrier(instruction, effect);
  } else if (instruction.opcode == "cp") {
    set_copy(instruction, effect);
  } else if (instruction.opcode == "st" || instruction.opcode == "red") {
    set_remote_store(instruction, effect);
  }
}

}  // namespace barracuda::ptx
