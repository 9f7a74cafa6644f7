// Handlers of control flow, special registers, barriers, collectives, atomics and builtins: what
// does not gain from wide registers and is compiled once.
#pragma once

#include <string_view>

#include "emulator/execute/form.h"
#include "emulator/state/collective.h"
#include "emulator/state/context.h"
#include "ptx/opcode.h"

namespace barracuda::emulator {

// --- control flow: control.cpp ---
Step execute_branch(Context& c, const Instruction& in, std::uint32_t mask);          // immediate
Step execute_indexed_branch(Context& c, const Instruction& in, std::uint32_t mask);  // extra, a
Step execute_call(Context& c, const Instruction& in, std::uint32_t mask);            // extra, a
Step execute_return(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_exit(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_trap(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_breakpoint(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_nothing(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_sleep(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_fence(Context& c, const Instruction& in, std::uint32_t mask);
// extra: std::string, why it cannot be executed.
Step execute_unsupported(Context& c, const Instruction& in, std::uint32_t mask);

// --- values of the launch: special.cpp ---
// A register's number for `immediate` of execute_special; -1: not known.
int special_register(std::string_view name, std::string_view component);
ptx::ScalarType special_type(int number);
Step execute_special(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_local_address(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_parameter_address(Context& c, const Instruction& in, std::uint32_t mask);
// flags: the window (AddressWindow); a to d.
// kShared: of any CTA of the cluster; the last three only for execute_is_space.
enum class AddressWindow : std::uint8_t {
  kGlobal,
  kShared,
  kLocal,
  kSharedOfCta,
  kConst,
  kParameter
};
Step execute_to_generic(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_from_generic(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_is_space(Context& c, const Instruction& in, std::uint32_t mask);

// --- between register widths: special.cpp ---
Step execute_widen(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_widen_signed(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_narrow(Context& c, const Instruction& in, std::uint32_t mask);
// VectorSlots of `count` parts of `flags` bits into d, and back from a.
Step execute_pack(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_unpack(Context& c, const Instruction& in, std::uint32_t mask);

// --- barrier.cpp: slot a is the barrier, b the thread count, c the predicate ---
enum class BarrierResult : std::uint8_t { kNone, kPopulation, kAll, kAny };
Step execute_barrier(Context& c, const Instruction& in,
                     std::uint32_t mask);  // flags: BarrierResult
Step execute_barrier_arrive(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_cluster_arrive(Context& c, const Instruction& in, std::uint32_t mask);
Step execute_cluster_wait(Context& c, const Instruction& in, std::uint32_t mask);

// --- collective.cpp ---
struct Collective {
  Handler handler = nullptr;
  const CollectiveShape* shape = nullptr;
};

Collective select_collective(const Form& form);
Step execute_active_mask(Context& c, const Instruction& in, std::uint32_t mask);

// --- atomic.cpp: a address, b operand, c second operand of cas; d or none for red ---
Handler select_atomic(const Form& form, const ptx::Effect& effect);

// --- builtin.cpp: what a program calls without defining it; extra is the CallSite ---
Handler find_builtin(std::string_view name);

}  // namespace barracuda::emulator
