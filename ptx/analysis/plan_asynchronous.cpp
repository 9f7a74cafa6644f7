#include "ptx/analysis/plan_asynchronous.h"

#include "base/assert.h"
#include "device_logger/record.h"
#include "ptx/tensor_instruction.h"
#include "ptx/warpgroup_product.h"

namespace barracuda::ptx {
namespace {

using wire::Asynchrony;
using wire::Operation;

constexpr std::uint8_t kMbarrierBytes = 8;
constexpr std::uint8_t kResponseBytes = 16;      // of clusterlaunchcontrol.try_cancel
constexpr std::uint8_t kTensorAddressBytes = 4;  // that tcgen05.alloc writes
constexpr std::uint8_t kMapElementBytes = 16;
constexpr std::uint8_t kMapBytes = wire::kMapWords * sizeof(std::uint64_t);

bool is_address(const Statement& statement, int operand) {
  const auto& operands = statement.instruction.operands;
  return operand >= 0 && static_cast<std::size_t>(operand) < operands.size() &&
         operands[static_cast<std::size_t>(operand)].kind == Operand::Kind::kAddress &&
         operands[static_cast<std::size_t>(operand)].elements.size() == 1;
}

PlannedSite as_event(PlannedSite site, HookKind hook) {
  site.hook = hook;
  const bool is_map_fence =
      site.info.operation == Operation::kProxyFence && site.effect.proxy == wire::Proxy::kTensorMap;
  if (site.info.operation == Operation::kClusterArrive ||
      site.info.operation == Operation::kClusterWait || is_map_fence) {
    site.info.order = site.effect.order;
    site.info.scope = site.effect.scope;
  }
  site.info.proxy = is_map_fence ? site.effect.proxy : wire::Proxy::kGeneric;
  site.info.asynchrony = site.effect.asynchrony;
  return site;
}

PlannedSite as_mbarrier(PlannedSite site, HookKind hook) {
  site.hook = hook;
  site.info.order = site.effect.order;
  site.info.scope = site.effect.scope;
  site.info.is_unscoped = site.effect.is_unscoped;
  site.info.asynchrony = site.effect.asynchrony;
  site.info.element_bytes = kMbarrierBytes;
  site.info.element_count = 1;
  return site;
}

PlannedSite as_copy(PlannedSite site, const Instruction& instruction) {
  const Effect& effect = site.effect;
  site.hook = HookKind::kOperands;
  site.info.order = effect.order;
  site.info.scope = effect.scope;
  site.info.proxy = effect.proxy;
  site.info.asynchrony = effect.asynchrony;
  // The bytes of a plain bulk copy are as good as independent.
  const bool has_type = effect.value_operand >= 0 || instruction.has(Modifier::kReduce);
  site.info.element_bytes = has_type ? static_cast<std::uint8_t>(size_of(effect.type)) : 1;
  site.info.element_count = effect.value_operand >= 0 ? effect.elements : 1;
  site.info.constant = instruction.has(Modifier::kCpMask) ? wire::kByteMask : 0;
  if (instruction.opcode == Opcode::kClusterlaunchcontrol) {
    site.info.element_bytes = kResponseBytes;
  } else if (instruction.opcode == Opcode::kTcgen05) {
    site.info.element_bytes = kTensorAddressBytes;
  }
  return site;
}

// What writes a tensor map as a whole: weakly, by its thread and the generic proxy (PTX ISA,
// tensormap.replace).
PlannedSite as_map_write(PlannedSite site) {
  site.hook = HookKind::kOperands;
  site.info.element_bytes = kMapElementBytes;
  site.info.element_count = kMapBytes / kMapElementBytes;
  return site;
}

// tensormap.cp_fenceproxy: a copy of the map, then the fence. A warp executes it as one.
std::vector<PlannedSite> plan_map_copy(const PlannedSite& site) {
  PlannedSite fence = site;
  fence.info.operation = Operation::kProxyFence;
  fence.effect.operation = Operation::kProxyFence;
  fence.effect.proxy = wire::Proxy::kTensorMap;
  fence = as_event(fence, HookKind::kEventAfter);
  fence.info.aligned = true;
  return {as_map_write(site), fence};
}

// What a copy of a box reads of its map: by a proxy of its own, until the copy is made.
PlannedSite as_map_read(PlannedSite site) {
  site.hook = HookKind::kAccess;
  site.effect.address_operand = tensor_operand(site.effect);
  site.effect.space = StateSpace::kGeneric;
  site.effect.shared_cluster = false;
  site.info.operation = Operation::kRead;
  site.info.proxy = wire::Proxy::kTensorMap;
  site.info.asynchrony = site.effect.asynchrony;
  site.info.element_bytes = kMapElementBytes;
  site.info.element_count = kMapBytes / kMapElementBytes;
  return site;
}

PlannedSite as_tensor_copy(PlannedSite site) {
  site.hook = HookKind::kTensorCopy;
  site.info.order = site.effect.order;
  site.info.scope = site.effect.scope;
  site.info.proxy = site.effect.proxy;
  site.info.asynchrony = site.effect.asynchrony;
  site.info.element_bytes = 1;  // only its map says more
  site.info.element_count = 1;
  return site;
}

std::uint64_t constant_of_product(const Instruction& instruction) {
  if (instruction.opcode == Opcode::kTcgen05) {
    const auto read = read_tensor_instruction(instruction);
    ASSERT(read);  // else the effect is not covered
    return read->reads.packed();
  }
  const auto product = read_warpgroup_product(instruction);
  ASSERT(product);  // the same
  return product->shape.packed();
}

// A product says in its text what the detector makes of its descriptors.
PlannedSite as_product(PlannedSite site, const Instruction& instruction) {
  site.hook = HookKind::kOperands;
  site.info.proxy = site.effect.proxy;
  site.info.asynchrony = site.effect.asynchrony;
  site.info.element_bytes = wire::kUnitBytes;
  site.info.element_count = 1;
  site.info.constant = constant_of_product(instruction);
  return site;
}

// One side of a cp.async: an access whose address is that of `operand`.
PlannedSite as_side(PlannedSite site, Operation operation, std::uint64_t bytes) {
  site.hook = HookKind::kAccess;
  site.info.operation = operation;
  site.info.asynchrony = site.effect.asynchrony;
  site.info.element_bytes = static_cast<std::uint8_t>(bytes);
  site.info.element_count = 1;
  if (operation == Operation::kRead) {
    site.effect.address_operand = int{site.effect.source_operand};
    site.effect.space = site.effect.source_space;
    site.effect.shared_cluster = site.effect.source_shared_cluster;
  } else {
    site.effect.bytes_operand = -1;  // what is not read is written as zeros
  }
  return site;
}

// A copy that reads less than it writes does so in pieces of 8, 4, 2 and 1 bytes, as the bits of
// their number say: each lane logs its own pieces.
std::vector<PlannedSite> plan_plain_copy(const PlannedSite& site, const Statement& statement,
                                         const RegisterSizes& registers) {
  const auto& operands = statement.instruction.operands;
  const std::uint64_t size = operands[2].bits;
  std::vector<PlannedSite> sites;
  const PlannedSite whole = as_side(site, Operation::kRead, size);
  if (!reads_some(site.effect)) {
    sites.push_back(whole);
  } else {
    const Operand& read = operands[3];
    const bool is_known = read.kind == Operand::Kind::kInteger;
    if (!is_known || read.bits >= size) {
      sites.push_back(whole);
    }
    const bool has_pieces = is_known ? read.bits < size : !is_predicate(read, registers);
    for (std::uint64_t piece = size / 2; has_pieces && piece > 0; piece /= 2) {
      if (!is_known || (read.bits & piece) != 0) {
        sites.push_back(as_side(site, Operation::kRead, piece));
      }
    }
  }
  sites.push_back(as_side(site, Operation::kWrite, size));
  return sites;
}

}  // namespace

bool reads_some(const Effect& effect) {
  return effect.asynchrony == Asynchrony::kThreadGroup && effect.operation == Operation::kCopy &&
         effect.bytes_operand >= 0;
}

bool is_predicate(const Operand& operand, const RegisterSizes& registers) {
  return operand.kind == Operand::Kind::kRegister && registers.is_declared(operand.name) &&
         registers.bytes_of(operand) == 0;
}

std::vector<PlannedSite> plan_asynchronous(const PlannedSite& site, const Statement& statement,
                                           const RegisterSizes& registers) {
  PlannedSite planned = site;
  const Effect& effect = site.effect;
  planned.info.operation = effect.operation.value_or(Operation::kRead);
  for (const int operand :
       {effect.address_operand, int{effect.source_operand}, int{effect.mbarrier_operand}}) {
    const bool is_tensor = planned.info.operation == Operation::kTensorCopy &&
                           operand == tensor_operand(effect);  // classify() has looked at it
    if (operand >= 0 && !is_tensor && !is_address(statement, operand)) {
      return {};
    }
  }
  switch (planned.info.operation) {
    case Operation::kClusterArrive:
    case Operation::kLaunchDependents:
    case Operation::kProxyFence:
    case Operation::kAsyncCommit:
      return {as_event(planned, HookKind::kEvent)};
    case Operation::kClusterWait:
    case Operation::kGridWait:
      return {as_event(planned, HookKind::kEventAfter)};
    case Operation::kAsyncWait:
      planned.info.reads_only = statement.instruction.has(Modifier::kRead);
      return {as_event(planned, HookKind::kEventAfter)};
    case Operation::kMbarrierInit:
    case Operation::kMbarrierInvalidate:
    case Operation::kMbarrierArrive:
    case Operation::kMbarrierExpect:
    case Operation::kMbarrierComplete:
    case Operation::kAsyncArrive:
      return {as_mbarrier(planned, HookKind::kOperands)};
    case Operation::kMbarrierWait:
      return {as_mbarrier(planned, HookKind::kWait)};
    case Operation::kCopy:
      if (statement.instruction.opcode == Opcode::kTensormap) {
        return statement.instruction.has(Modifier::kCpFenceproxy)
                   ? plan_map_copy(planned)
                   : std::vector{as_map_write(planned)};
      }
      return effect.asynchrony == Asynchrony::kThreadGroup
                 ? plan_plain_copy(planned, statement, registers)
                 : std::vector{as_copy(planned, statement.instruction)};
    case Operation::kTensorCopy:
      return {as_map_read(planned), as_tensor_copy(planned)};
    case Operation::kMatrixProduct:
      return {as_product(planned, statement.instruction)};
    case Operation::kRead:
    case Operation::kWrite:
    case Operation::kAtomic:
    case Operation::kReduction:
    case Operation::kFence:
    case Operation::kBarrier:
    case Operation::kBarrierArrive:
    case Operation::kWarpBarrier:
    case Operation::kCall:
    case Operation::kReturn:
    case Operation::kExit:
    case Operation::kBranch:
    case Operation::kSwitch:
    case Operation::kMeet:
    case Operation::kHeap:
    case Operation::kSharedPlace:
      break;
  }
  return {};
}

}  // namespace barracuda::ptx
