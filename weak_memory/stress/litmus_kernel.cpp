#include "weak_memory/stress/litmus_kernel.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/assert.h"
#include "ptx/link.h"
#include "ptx/parse.h"
#include "ptx/print.h"

namespace barracuda::weak_memory {
namespace {

using memory_model::Instruction;
using memory_model::LitmusTest;
using memory_model::Operand;
using memory_model::Operation;
using memory_model::Order;
using memory_model::Thread;
using Kind = memory_model::Instruction::Kind;

constexpr std::string_view kRunner =
#include "weak_memory/stress/litmus_runner_75.inc"
    ;

// Values are words here; what a model computes with is wider.
bool fits(std::uint64_t value) {
  const auto number = static_cast<std::int64_t>(value);
  return number >= std::numeric_limits<std::int32_t>::min() &&
         number <= std::numeric_limits<std::int32_t>::max();
}

std::string not_runnable(const Instruction& instruction, std::size_t number) {
  if (instruction.proxy != memory_model::Proxy::kGeneric ||
      instruction.address != instruction.generic || instruction.kind == Kind::kProxyFence) {
    return "has accesses by other proxies or by aliases";
  }
  if (instruction.kind == Kind::kBarrier) {
    return "has a barrier";
  }
  if (instruction.kind == Kind::kJump && instruction.destination <= number) {
    return "has a loop";
  }
  if (instruction.accesses() && instruction.order == Order::kSc) {
    return "has accesses that are sc, which PTX has not";
  }
  const bool has_operation =
      instruction.kind == Kind::kUpdate || instruction.kind == Kind::kCompute;
  if (has_operation &&
      (instruction.operation == Operation::kDiv ||
       (instruction.kind == Kind::kUpdate &&
        (instruction.operation == Operation::kSub || instruction.operation == Operation::kMul)))) {
    return "has an operation that PTX has no atomic of";
  }
  if (!fits(instruction.value.constant) || !fits(instruction.second.constant)) {
    return "has a value of more than 32 bits";
  }
  return "";
}

std::string qualifiers(const Instruction& instruction) {
  if (instruction.order == Order::kWeak) {
    return instruction.updates() ? "relaxed.gpu" : "weak";
  }
  return fmt::format("{}.{}", memory_model::name_of(instruction.order),
                     memory_model::name_of(instruction.scope));
}

std::string text_of(const Operand& operand) {
  return operand.read ? fmt::format("%v{}", *operand.read)
                      : std::to_string(static_cast<std::int64_t>(operand.constant));
}

// A register for results that are not used.
std::string target_of(const Instruction& instruction) {
  return instruction.target ? fmt::format("%v{}", *instruction.target) : "%unused";
}

const char* update_of(Operation operation) {
  switch (operation) {
    case Operation::kMove:
      return "exch.b32";
    case Operation::kAdd:
      return "add.u32";
    case Operation::kAnd:
      return "and.b32";
    case Operation::kOr:
      return "or.b32";
    case Operation::kXor:
      return "xor.b32";
    case Operation::kSub:
    case Operation::kMul:
    case Operation::kDiv:
      break;
  }
  ASSERT(false);  // not runnable
}

const char* computation_of(Operation operation) {
  switch (operation) {
    case Operation::kAdd:
      return "add.s32";
    case Operation::kSub:
      return "sub.s32";
    case Operation::kMul:
      return "mul.lo.s32";
    case Operation::kAnd:
      return "and.b32";
    case Operation::kOr:
      return "or.b32";
    case Operation::kXor:
      return "xor.b32";
    case Operation::kMove:
    case Operation::kDiv:
      break;
  }
  ASSERT(false);  // not runnable
}

const char* comparison_of(memory_model::Comparison comparison) {
  using enum memory_model::Comparison;
  switch (comparison) {
    case kEqual:
      return "eq";
    case kNotEqual:
      return "ne";
    case kGreaterEqual:
      return "ge";
    case kLessEqual:
      return "le";
    case kGreater:
      return "gt";
    case kLess:
      return "lt";
  }
  return "";
}

// Of thread `thread`, whose labels are its own.
std::string statement_of(const Instruction& instruction, std::size_t thread) {
  const std::string at = fmt::format("[%at{}]", instruction.location);
  switch (instruction.kind) {
    case Kind::kLoad:
      return fmt::format("ld.{}.global.u32 {}, {};\n", qualifiers(instruction),
                         target_of(instruction), at);
    case Kind::kStore:
      return fmt::format("st.{}.global.u32 {}, {};\n", qualifiers(instruction), at,
                         text_of(instruction.value));
    case Kind::kUpdate:
      if (!instruction.target && instruction.operation != Operation::kMove) {
        return fmt::format("red.{}.global.{} {}, {};\n", qualifiers(instruction),
                           update_of(instruction.operation), at, text_of(instruction.value));
      }
      return fmt::format("atom.{}.global.{} {}, {}, {};\n", qualifiers(instruction),
                         update_of(instruction.operation), target_of(instruction), at,
                         text_of(instruction.value));
    case Kind::kCompareExchange:
      return fmt::format("atom.{}.global.cas.b32 {}, {}, {}, {};\n", qualifiers(instruction),
                         target_of(instruction), at, text_of(instruction.second),
                         text_of(instruction.value));
    case Kind::kFence:
      // One-sided fences are those of both sides: no weaker, and known to every target.
      return fmt::format("fence.{}.{};\n", instruction.order == Order::kSc ? "sc" : "acq_rel",
                         memory_model::name_of(instruction.scope));
    case Kind::kCompute:
      if (instruction.operation == Operation::kMove) {
        return fmt::format("mov.b32 {}, {};\n", target_of(instruction), text_of(instruction.value));
      }
      return fmt::format("{} {}, {}, {};\n", computation_of(instruction.operation),
                         target_of(instruction), text_of(instruction.value),
                         text_of(instruction.second));
    case Kind::kJump:
      // Both sides may be constants, which setp does not take.
      return fmt::format("mov.b32 %unused, {};\nsetp.{}.s32 %p, %unused, {};\n@%p bra T{}_{};\n",
                         text_of(instruction.value), comparison_of(instruction.comparison),
                         text_of(instruction.second), thread, instruction.destination);
    case Kind::kBarrier:
    case Kind::kProxyFence:
      break;
  }
  ASSERT(false);  // not runnable
}

bool has_clusters(const LitmusTest& test) {
  return std::ranges::any_of(test.program.threads, [](const Thread& thread) {
    return std::ranges::any_of(thread.instructions, [](const Instruction& instruction) {
      return instruction.order != Order::kWeak && instruction.scope == wire::Scope::kCluster;
    });
  });
}

std::string body_of(const Thread& thread, std::size_t number) {
  std::string text = fmt::format("T{}:\n", number);
  for (std::size_t i = 0; i < thread.registers; ++i) {
    const std::uint64_t value = i < thread.initial.size() ? thread.initial[i] : 0;
    text += fmt::format("mov.b32 %v{}, {};\n", i, static_cast<std::int64_t>(value));
  }
  for (std::size_t i = 0; i < thread.instructions.size(); ++i) {
    text += fmt::format("T{}_{}:\n", number, i) + statement_of(thread.instructions[i], number);
  }
  text += fmt::format("T{}_{}:\n", number, thread.instructions.size());
  for (std::size_t i = 0; i < thread.registers; ++i) {
    text += fmt::format("st.global.u32 [%registers+{}], %v{};\n", 4 * i, i);
  }
  return text + "ret;\n";
}

std::string threads_module(const LitmusTest& test) {
  std::size_t most_registers = 1;
  for (const Thread& thread : test.program.threads) {
    most_registers = std::max<std::size_t>(most_registers, thread.registers);
  }
  const std::uint32_t locations = std::max(test.program.locations, 1U);
  std::string text = fmt::format(
      ".version {}\n.target {}\n.address_size 64\n"
      ".visible .func barracuda_litmus_thread(.param .b32 p0, .param .b64 p1, .param .b32 p2, "
      ".param .b64 p3)\n{{\n"
      ".reg .pred %p;\n.reg .b32 %v<{}>, %thread, %stride, %unused;\n"
      ".reg .b64 %memory, %registers, %bytes, %at<{}>;\n"
      "ld.param.u32 %thread, [p0];\nld.param.u64 %memory, [p1];\n"
      "ld.param.u32 %stride, [p2];\nld.param.u64 %registers, [p3];\n"
      "mul.wide.u32 %bytes, %stride, 4;\nmov.b64 %at0, %memory;\n",
      has_clusters(test) ? "7.8" : "6.4", has_clusters(test) ? "sm_90" : "sm_75", most_registers,
      locations);
  for (std::uint32_t i = 1; i < locations; ++i) {
    text += fmt::format("add.s64 %at{}, %at{}, %bytes;\n", i, i - 1);
  }
  std::string bodies;
  for (std::size_t i = 0; i < test.program.threads.size(); ++i) {
    text += fmt::format("setp.eq.u32 %p, %thread, {};\n@%p bra T{};\n", i, i);
    bodies += body_of(test.program.threads[i], i);
  }
  return text + "ret;\n" + bodies + "}\n";
}

}  // namespace

std::string not_runnable(const LitmusTest& test) {
  const auto& threads = test.program.threads;
  for (const Thread& thread : threads) {
    for (std::size_t i = 0; i < thread.instructions.size(); ++i) {
      if (std::string reason = not_runnable(thread.instructions[i], i); !reason.empty()) {
        return reason;
      }
    }
    if (thread.gpu != threads.front().gpu) {
      return "has threads on several GPUs";
    }
    if (!std::ranges::all_of(thread.initial, fits)) {
      return "has a value of more than 32 bits";
    }
  }
  for (std::uint32_t i = 0; i < test.program.locations; ++i) {
    if (test.program.location(i).is_shared) {
      return "has shared memory";
    }
    if (!fits(test.program.location(i).initial)) {
      return "has a value of more than 32 bits";
    }
  }
  // CTAs of one cluster would have to be launched as one.
  for (const Thread& left : threads) {
    for (const Thread& right : threads) {
      if (left.cluster == right.cluster && left.cta != right.cta) {
        return "has clusters of several CTAs";
      }
    }
  }
  return "";
}

Expected<std::string> litmus_kernel(const LitmusTest& test) {
  ASSERT(not_runnable(test).empty());
  std::vector<ptx::Module> units;
  TRY(units.emplace_back(), ptx::parse(std::string(kRunner)));
  TRY(units.emplace_back(), ptx::parse(threads_module(test)));
  TRY(const ptx::Module module, ptx::link(std::move(units)));
  return ptx::print(module);
}

stress::LitmusLaunch launch_of(const LitmusTest& test, std::uint32_t iterations,
                               std::uint32_t stride) {
  const auto& program = test.program;
  ASSERT(program.threads.size() <= stress::kMostTestThreads);
  stress::LitmusLaunch launch;
  launch.iterations = iterations;
  launch.locations = std::max(program.locations, 1U);
  launch.stride = stride;
  launch.threads = static_cast<std::uint32_t>(program.threads.size());
  std::ranges::fill(&launch.thread_of[0][0], &launch.thread_of[0][0] + sizeof launch.thread_of,
                    stress::kNoThread);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> ctas;  // of clusters
  std::array<std::uint32_t, stress::kMostTestThreads> warps{};
  const auto first = memory_model::first_registers(program);
  for (std::uint32_t i = 0; i < launch.threads; ++i) {
    const Thread& thread = program.threads[i];
    const auto [cta, is_new] = ctas.emplace(std::pair(thread.cluster, thread.cta), launch.ctas);
    launch.ctas += is_new ? 1 : 0;
    launch.thread_of[cta->second][warps[cta->second]++] = static_cast<std::uint8_t>(i);
    launch.first_register[i] = static_cast<std::uint32_t>(first[i]);
  }
  launch.register_count = static_cast<std::uint32_t>(first.back());
  return launch;
}

std::uint32_t threads_of_block(const stress::LitmusLaunch& launch) {
  std::uint32_t warps = 1;
  for (const auto& of_cta : launch.thread_of) {
    warps = std::max(warps,
                     static_cast<std::uint32_t>(std::ranges::count_if(
                         of_cta, [](std::uint8_t thread) { return thread != stress::kNoThread; })));
  }
  return warps * stress::kWarp;
}

}  // namespace barracuda::weak_memory
