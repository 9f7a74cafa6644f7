// What each kind of instruction is decoded to, but for those that a function's control flow must
// know (function_decoder.cpp).
#pragma once

#include "emulator/decode/code_emitter.h"
#include "emulator/decode/postponed_loads.h"
#include "ptx/module.h"
#include "ptx/opcode.h"

namespace barracuda::emulator {

using Decoder = void (*)(CodeEmitter& code, const ptx::Instruction& instruction);

// arithmetic.cpp: everything that is a handler with typed operands
void decode_arithmetic(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_move(CodeEmitter& code, const ptx::Instruction& instruction);

// memory.cpp
void decode_load(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_store(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_atomic(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_address_conversion(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_is_space(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_cluster_address(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_stack(CodeEmitter& code, const ptx::Instruction& instruction);

// asynchronous.cpp, tensor_copy.cpp
void decode_mbarrier(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_async_copy(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_tensor_copy(CodeEmitter& code, const ptx::Instruction& instruction,
                        const ptx::Effect& effect);
// tensor_map.cpp
void decode_tensor_map(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_remote_store(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_bulk_zeros(CodeEmitter& code, const ptx::Instruction& instruction);

// cancellation.cpp
void decode_cancellation(CodeEmitter& code, const ptx::Instruction& instruction);

// texture.cpp
void decode_texels(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_texture_query(CodeEmitter& code, const ptx::Instruction& instruction);

// matrix.cpp, warpgroup.cpp, tensor_core.cpp
void decode_mma(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_wmma(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_matrix_rows(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_move_matrix(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_warpgroup(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_tensor_core(CodeEmitter& code, const ptx::Instruction& instruction);

// synchronisation.cpp: barriers, warp collectives, and what has no or few operands
void decode_barrier(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_collective(CodeEmitter& code, const ptx::Instruction& instruction);
void decode_active_mask(CodeEmitter& code, const ptx::Instruction& instruction);

// calls.cpp
void decode_call(CodeEmitter& code, PostponedLoads& postponed, const ptx::Instruction& instruction);

// weak_access.cpp: memory is weak, so the instruction that was emitted last gets the handler that
// knows it
void make_weak(CodeEmitter& code, PostponedLoads& postponed, const ptx::Instruction& instruction);

}  // namespace barracuda::emulator
