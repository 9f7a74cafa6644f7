#include "tests/oracle/weak_memory/random_program.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/assert.h"
#include "weak_memory/memory_model/litmus_text.h"

namespace barracuda::oracle {
namespace {

using memory_model::Instruction;
using memory_model::name_of;
using memory_model::Operation;
using memory_model::Order;
using memory_model::Program;
using memory_model::Scope;
using memory_model::Thread;
using Kind = Instruction::Kind;

constexpr std::size_t kMostInstructions = 12;
constexpr std::size_t kMostOfAThread = 5;
constexpr std::size_t kMostReads = 5;
constexpr std::size_t kMostWrites = 6;

// CTAs of the threads.
constexpr std::array<std::array<std::uint32_t, 4>, 8> kShapes = {{{0, 1, 2, 3},
                                                                  {0, 0, 1, 1},
                                                                  {0, 0, 1, 2},
                                                                  {0, 0, 0, 0},
                                                                  {0, 0, 0, 1},
                                                                  {0, 1, 0, 1},
                                                                  {0, 1, 1, 1},
                                                                  {0, 1, 1, 0}}};

Scope scope_of(std::uint8_t choice) {
  constexpr std::array<Scope, 5> kScopes = {Scope::kGpu, Scope::kCta, Scope::kSys, Scope::kGpu,
                                            Scope::kCta};
  return kScopes[choice % kScopes.size()];
}

template <std::size_t kCount>
Order pick(const std::array<Order, kCount>& orders, std::uint8_t choice) {
  return orders[choice % kCount];
}

Instruction instruction_of(const ProgramChoice& choice, const Thread& thread,
                           std::uint32_t locations, std::uint64_t value) {
  constexpr std::array kOfLoads = {Order::kWeak, Order::kRelaxed, Order::kAcquire, Order::kRelaxed};
  constexpr std::array kOfStores = {Order::kWeak, Order::kRelaxed, Order::kRelease,
                                    Order::kRelaxed};
  constexpr std::array kOfUpdates = {Order::kRelaxed, Order::kAcqRel, Order::kAcquire,
                                     Order::kRelease};
  constexpr std::array kOfFences = {Order::kAcqRel, Order::kSc,      Order::kSc,
                                    Order::kAcqRel, Order::kAcquire, Order::kRelease};
  Instruction made{.scope = scope_of(choice.scope),
                   .location = choice.where % locations,
                   .value = {.constant = value, .read = {}}};
  switch (choice.what % 10) {
    case 0:
    case 1:
    case 2:
      made.kind = Kind::kStore;
      made.order = pick(kOfStores, choice.how);
      if (choice.how % 16 == 15 && thread.registers != 0) {
        made.value.read = choice.how / 16 % thread.registers;
      }
      break;
    case 3:
    case 4:
    case 5:
      made.kind = Kind::kLoad;
      made.order = pick(kOfLoads, choice.how);
      break;
    case 6:
    case 7:
      made.kind = Kind::kFence;
      made.order = pick(kOfFences, choice.how);
      break;
    case 8:
      made.kind = Kind::kUpdate;
      made.operation = choice.how % 8 < 4 ? Operation::kAdd : Operation::kMove;
      made.order = pick(kOfUpdates, choice.how);
      break;
    default:
      made.kind = Kind::kBarrier;
      break;
  }
  return made;
}

std::size_t count(const Program& program, bool (Instruction::*what)() const) {
  std::size_t all = 0;
  for (const Thread& thread : program.threads) {
    all += static_cast<std::size_t>(std::ranges::count_if(
        thread.instructions, [&](const Instruction& each) { return (each.*what)(); }));
  }
  return all;
}

std::string qualifiers(const Instruction& instruction) {
  return instruction.order == Order::kWeak
             ? std::string("weak")
             : fmt::format("{}.{}", name_of(instruction.order), name_of(instruction.scope));
}

std::string operand(const Instruction& instruction) {
  return instruction.value.read ? fmt::format("%v{}", *instruction.value.read)
                                : std::to_string(instruction.value.constant);
}

std::string statement_of(const Instruction& instruction, const KernelLayout& layout) {
  const std::uint32_t offset = instruction.location * layout.distance;
  switch (instruction.kind) {
    case Kind::kLoad:
      return fmt::format("ld.{}.global.u32 %v{}, [%memory+{}];", qualifiers(instruction),
                         *instruction.target, offset);
    case Kind::kStore:
      return fmt::format("st.{}.global.u32 [%memory+{}], {};", qualifiers(instruction), offset,
                         operand(instruction));
    case Kind::kUpdate:
      return fmt::format("atom.{}.global.{} %v{}, [%memory+{}], {};", qualifiers(instruction),
                         instruction.operation == Operation::kAdd ? "add.u32" : "exch.b32",
                         *instruction.target, offset, operand(instruction));
    case Kind::kFence:
      return fmt::format("fence.{};", qualifiers(instruction));
    case Kind::kBarrier:
      return "barrier.sync 0;";
    case Kind::kCompareExchange:
    case Kind::kProxyFence:
    case Kind::kCompute:
    case Kind::kJump:
      break;
  }
  ASSERT(false);  // none is made here
}

// All threads of a CTA pass as many barriers.
void even_barriers(Program& program) {
  const auto barriers = [](const Thread& thread) {
    return std::ranges::count(thread.instructions, Kind::kBarrier, &Instruction::kind);
  };
  for (Thread& thread : program.threads) {
    std::ptrdiff_t least = barriers(thread);
    for (const Thread& other : program.threads) {
      least = other.cta == thread.cta ? std::min(least, barriers(other)) : least;
    }
    std::ptrdiff_t kept = 0;
    std::erase_if(thread.instructions, [&](const Instruction& instruction) {
      return instruction.kind == Kind::kBarrier && kept++ >= least;
    });
  }
}

}  // namespace

Program program_of(std::uint8_t shape, const std::vector<ProgramChoice>& choices) {
  Program program{.locations = 2U + shape % 2U, .threads = {}};
  const std::size_t threads = 2U + shape / 2U % 3U;
  const auto& ctas = kShapes[shape / 6U % kShapes.size()];
  for (std::size_t i = 0; i < threads; ++i) {
    program.threads.push_back({.cta = ctas[i], .cluster = ctas[i], .instructions = {}});
  }
  std::size_t instructions = 0;
  std::uint64_t value = 1;
  for (const ProgramChoice& choice : choices) {
    Thread& thread = program.threads[choice.who % threads];
    const Instruction made = instruction_of(choice, thread, program.locations, value);
    if (instructions == kMostInstructions || thread.instructions.size() == kMostOfAThread ||
        (made.reads() && count(program, &Instruction::reads) == kMostReads) ||
        (made.writes() && count(program, &Instruction::writes) == kMostWrites)) {
      continue;
    }
    ++instructions;
    ++value;
    thread.instructions.push_back(made);
    if (made.reads()) {
      thread.instructions.back().target = thread.registers++;
    }
  }
  even_barriers(program);
  return program;
}

std::string kernel_of(const Program& program, const KernelLayout& layout) {
  std::string text =
      ".version 8.6\n.target sm_90\n.address_size 64\n"
      ".visible .entry test(.param .u64 memory, .param .u64 outcome)\n{\n"
      ".reg .pred %p;\n.reg .b32 %v<16>, %block, %lane, %key;\n.reg .b64 %memory, %outcome;\n"
      "ld.param.u64 %memory, [memory];\nld.param.u64 %outcome, [outcome];\n"
      "mov.u32 %block, %ctaid.x;\nmov.u32 %lane, %tid.x;\nmad.lo.u32 %key, %block, 1024, %lane;\n";
  std::string bodies;
  std::size_t result = 0;
  std::array<std::uint32_t, 4> in_cta{};
  for (std::size_t i = 0; i < program.threads.size(); ++i) {
    const Thread& thread = program.threads[i];
    const std::uint32_t lane = in_cta[thread.cta]++ * layout.lanes_apart;
    text += fmt::format("setp.eq.u32 %p, %key, {};\n@%p bra T{};\n", thread.cta * 1024 + lane, i);
    bodies += fmt::format("T{}:\n", i);
    for (const Instruction& instruction : thread.instructions) {
      bodies += statement_of(instruction, layout) + '\n';
    }
    // The last first: so the earlier loads have a store behind them, and may be late.
    for (std::uint32_t reg = thread.registers; reg-- > 0;) {
      bodies += fmt::format("st.global.u32 [%outcome+{}], %v{};\n", 4 * (result + reg), reg);
    }
    result += thread.registers;
    bodies += "ret;\n";
  }
  return text + "ret;\n" + bodies + "}\n";
}

memory_model::LitmusTest litmus_of(const Program& program) {
  memory_model::LitmusTest test{.name = "random", .program = program};
  for (std::uint32_t i = 0; i < program.locations; ++i) {
    test.addresses.push_back({.name = fmt::format("x{}", i), .location = i});
  }
  for (std::size_t i = 0; i < program.threads.size(); ++i) {
    test.threads.push_back(fmt::format("P{}", i));
    std::uint32_t barriers = 0;
    for (Instruction& each : test.program.threads[i].instructions) {
      if (each.kind == Kind::kBarrier) {
        each.instance = barriers++;
      }
    }
    test.registers.emplace_back();
    for (std::uint32_t reg = 0; reg < program.threads[i].registers; ++reg) {
      test.registers.back().push_back(fmt::format("v{}", reg));
    }
  }
  return test;
}

std::string describe(const Program& program) {
  std::string text;
  for (const Thread& thread : program.threads) {
    text += fmt::format("  CTA {}:", thread.cta);
    for (const Instruction& instruction : thread.instructions) {
      text += ' ' + statement_of(instruction, {});
    }
    text += '\n';
  }
  return text;
}

}  // namespace barracuda::oracle
