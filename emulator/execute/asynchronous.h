// mbarriers, copies that are made later, and what clusters add: addresses of other CTAs' shared
// memory.
#pragma once

#include "emulator/execute/form.h"
#include "emulator/state/asynchronous.h"
#include "emulator/state/context.h"

namespace barracuda::emulator {

// --- mbarrier.cpp: a address; d the token or predicate; b count, token or parity; c bytes ---
Handler select_mbarrier(const Form& form);
Step execute_pending_count(Context& c, const Instruction& in, std::uint32_t mask);
// The word at each lane's address, for the instruction (flags: Place) that names it. False: the
// launch has failed.
bool resolve_mbarriers(Context& c, const Instruction& in, std::uint32_t mask,
                       std::uint64_t* addresses);
// Lanes that go round a loop of nothing but this wait are noted, to tell a deadlock.
void note_poll(Context& c, const Instruction& in);

// --- async_copy.cpp ---
// Instruction::extra of a copy; the instructions are only addresses (a, immediate, flags).
struct CopyOperands {
  Instruction to, from, mbarrier;
  Slot bytes = kNoSlot;      // of a bulk copy; of cp.async: what is read, the rest is zero
  std::uint32_t size = 0;    // of cp.async and of a stored element
  Slot ctas = kNoSlot;       // of a multicast: the mask of ranks
  Slot byte_mask = kNoSlot;  // of each 16: those that are copied
  Slot values[4] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot};  // of st.async, red.async
  std::uint32_t count = 0;                                // of them
  Reduction reduction = nullptr;
  std::uint32_t element_bytes = 0;
};

Step execute_copy(Context& c, const Instruction& in, std::uint32_t mask);  // cp.async
Step execute_copy_group_end(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_copy_wait(Context& c, const Instruction& in, std::uint32_t mask);  // immediate
Step execute_copy_wait_all(Context& c, const Instruction& in, std::uint32_t mask);
// a the mbarrier's address; count 1: the arrival is one more than was expected (not .noinc).
Step execute_copy_arrival(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_bulk_group_end(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_bulk_wait(Context& c, const Instruction& in, std::uint32_t mask);  // immediate
// cp.async.bulk, cp.reduce.async.bulk: signals an mbarrier, or belongs to a bulk group.
Step execute_bulk_signalled(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_bulk_grouped(Context& c, const Instruction& in, std::uint32_t mask);
// st.bulk: `to`, `bytes`
Step execute_bulk_zeros(Context& c, const Instruction& in, std::uint32_t mask);
// The address of one lane.
std::uint64_t address_at(const Context& c, const Instruction& place, int lane);
// The same place in the shared memory of another CTA of the cluster.
std::byte* in_cta(const Context& c, std::byte* host, const Cta& cta);
// st.async, red.async
Step execute_remote_store(Context& c, const Instruction& in, std::uint32_t mask);

// --- cancellation.cpp: clusterlaunchcontrol.query_cancel of the response in a ---
Step execute_is_canceled(Context& c, const Instruction& in, std::uint32_t mask);  // d: a predicate
Step execute_first_block(Context& c, const Instruction& in, std::uint32_t mask);  // immediate: 0…2

// --- atomic.cpp: null if there is no such reduction ---
Reduction select_reduction(const Form& form, ptx::ScalarType type);

// --- cluster.cpp: a the address, b the rank; flags: AddressWindow ---
Step execute_map_address(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_cta_rank(Context& c, const Instruction& in, std::uint32_t mask);

// --- stack.cpp: bytes beyond the function's locals ---
Step execute_allocate(Context& c, const Instruction& in,
                      std::uint32_t mask);  // a bytes, count log2
Step execute_save_stack(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_restore_stack(Context& c, const Instruction& in, std::uint32_t mask);

}  // namespace barracuda::emulator
