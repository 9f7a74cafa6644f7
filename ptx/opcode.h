// What an instruction does, by its form (forms.h) and what its modifiers say beside. They are read
// as a set: ptxas accepts them in any order.
#pragma once

#include <cstdint>
#include <optional>

#include "device_logger/site_info.h"
#include "ptx/module.h"

namespace barracuda::ptx {

enum class OpcodeClass : std::uint8_t {
  kArithmetic,  // registers only: moves, arithmetic, conversions, comparisons, cvta, isspacep
  kLoad,
  kStore,
  kAtomic,
  kReduction,
  kMatrixAccess,  // ldmatrix, stmatrix, wmma.load, wmma.store
  kFence,         // fence, membar (not fence.proxy)
  kProxyFence,
  kBarrier,        // bar/barrier.{sync,red}
  kBarrierArrive,  // bar/barrier.arrive
  kWarpBarrier,    // bar.warp.sync
  kClusterBarrier,
  kGridDependency,  // griddepcontrol
  kMbarrier,
  kAsyncCopy,       // cp.async family, st.async, red.async, cp.reduce
  kWarpCollective,  // shfl, vote, match, redux, elect, activemask: no memory ordering
  kBranch,
  kCall,
  kReturn,
  kExit,
  kTrap,
  kNoEffect,  // prefetch, nanosleep, setmaxnreg …
  kTexture,   // tex, tld4, suld, sust, surface reductions
  kUnknown,   // not in the table
};

// What an instruction does to memory and order.
//
// Operands. The address is an Operand::kAddress; the array form `ld.global.u32 r, sym[2]` that PTX
// also has is a kSymbol with its offset. The value of kWarpBarrier is the member mask. A barrier's
// number stands first, or second behind the result of .red; its thread count follows if there is
// one.
//
// `operation`: what is logged of it, nothing for what is not logged or not covered. `order` and
// `scope` are the form's where no modifier says them; volatile is kVolatile and sys.
//
// kMbarrier and kAsyncCopy: the address is the mbarrier or, of a copy, the destination, whose space
// is `space`. The operands by operation, -1 where there is none:
//   kMbarrierInit, kMbarrierArrive  amount: the count; bytes: those expected
//   kMbarrierExpect, kMbarrierComplete  bytes
//   kMbarrierWait  operand 0: whether it is over; amount: the parity, -1 for a wait by state
//   kAsyncWait     amount: the groups that may be left, -1 for all waited for
//   kCopy          amount: bytes; source, mbarrier: addresses; mask: of the CTAs of a multicast,
//                  or with .cp_mask of the bytes of each 16 that are copied. The mbarrier lies in
//                  the space of the destination. A cp.async (kThreadGroup) has in `bytes` how many
//                  are read, or a predicate that none is; st.async and red.async have a value and
//                  no amount; st.bulk has no source, and is of the thread itself (kNone), as what
//                  tcgen05.alloc writes, which has no amount either
//   kTensorCopy    source, mbarrier, mask: as of kCopy. One of address and source is a tensor map
//                  with the coordinates of a box (tensor_operand), the map's address is generic;
//                  offsets: those of im2col, a vector
//   kMatrixProduct  none: read_warpgroup_product() says what its operands are, of kTensorCore
//                  read_tensor_instruction()
struct Effect {
  OpcodeClass opcode_class = OpcodeClass::kUnknown;
  StateSpace space = StateSpace::kNone;  // kGeneric where no space is written
  bool shared_cluster = false;           // .shared::cluster
  ScalarType type = ScalarType::kNone;   // of one element
  std::uint8_t elements = 1;             // .v2, .v4, .v8
  wire::MemoryOrder order = wire::MemoryOrder::kWeak;
  wire::Scope scope = wire::Scope::kSys;
  bool is_unscoped = true;  // no modifier says the scope
  wire::Proxy proxy = wire::Proxy::kGeneric;
  int address_operand = -1;  // index into Instruction::operands
  int value_operand = -1;    // stored value, or first operand of an atomic
  int barrier_operand = -1;  // kBarrier, kBarrierArrive: the barrier's number
  int count_operand = -1;    // and its thread count; -1: all threads of the CTA
  bool is_cas = false;
  bool is_restricted = false;  // a fence of mbarrier initialisations alone
  std::optional<wire::Operation> operation;
  wire::Asynchrony asynchrony = wire::Asynchrony::kNone;
  StateSpace source_space = StateSpace::kNone;
  bool source_shared_cluster = false;
  std::int8_t source_operand = -1;
  std::int8_t amount_operand = -1;
  std::int8_t bytes_operand = -1;
  std::int8_t mbarrier_operand = -1;
  std::int8_t mask_operand = -1;
  std::int8_t offsets_operand = -1;
  // Could touch memory that other threads see, and we do not log it: named in the coverage report.
  bool not_covered = false;
};

Effect classify(const Instruction& instruction);

// The operands of a kTensorCopy.
inline bool loads_tensor(const Effect& effect) {
  return effect.asynchrony == wire::Asynchrony::kMbarrier;
}

inline int tensor_operand(const Effect& effect) {
  return loads_tensor(effect) ? int{effect.source_operand} : effect.address_operand;
}

inline int tensor_shared_operand(const Effect& effect) {
  return loads_tensor(effect) ? effect.address_operand : int{effect.source_operand};
}

// Nothing where the modifier says none.
std::optional<wire::MemoryOrder> order_of(Modifier modifier);
std::optional<wire::Scope> scope_of(Modifier modifier);

}  // namespace barracuda::ptx
