// Small programs, written as the papers write them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "weak_memory/memory_model/program.h"

namespace barracuda::memory_model::litmus {

inline constexpr std::uint32_t kX = 0, kY = 1, kZ = 2;

inline Instruction load(std::uint32_t target, std::uint32_t location, Order order = Order::kWeak,
                        Scope scope = Scope::kSys) {
  return {.kind = Instruction::Kind::kLoad,
          .order = order,
          .scope = scope,
          .location = location,
          .target = target,
          .value = {}};
}

inline Instruction store(std::uint32_t location, std::uint64_t value, Order order = Order::kWeak,
                         Scope scope = Scope::kSys) {
  return {.kind = Instruction::Kind::kStore,
          .order = order,
          .scope = scope,
          .location = location,
          .value = {.constant = value, .read = {}}};
}

inline Instruction store_read(std::uint32_t location, std::uint32_t target,
                              Order order = Order::kWeak, Scope scope = Scope::kSys) {
  return {.kind = Instruction::Kind::kStore,
          .order = order,
          .scope = scope,
          .location = location,
          .value = {.constant = 0, .read = target}};
}

inline Instruction update(Operation operation, std::uint32_t target, std::uint32_t location,
                          std::uint64_t value, Order order, Scope scope) {
  return {.kind = Instruction::Kind::kUpdate,
          .order = order,
          .scope = scope,
          .location = location,
          .target = target,
          .value = {.constant = value, .read = {}},
          .operation = operation};
}

inline Instruction fence(Order order, Scope scope) {
  return {.kind = Instruction::Kind::kFence, .order = order, .scope = scope, .value = {}};
}

inline Instruction barrier() {
  return {.kind = Instruction::Kind::kBarrier, .value = {}};
}

inline Thread thread(std::uint32_t cta, std::vector<Instruction> instructions) {
  Thread thread{.cta = cta, .cluster = cta, .gpu = 0, .instructions = std::move(instructions)};
  for (const Instruction& instruction : thread.instructions) {
    if (instruction.target && *instruction.target >= thread.registers) {
      thread.registers = *instruction.target + 1;
    }
  }
  return thread;
}

inline Program program(std::vector<Thread> threads) {
  return {.locations = 3, .threads = std::move(threads)};
}

}  // namespace barracuda::memory_model::litmus
