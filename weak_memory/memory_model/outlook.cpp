#include "weak_memory/memory_model/outlook.h"

#include <utility>

namespace barracuda::memory_model {
namespace {

using Kind = Instruction::Kind;

// As emulator/decode/late_load.cpp: up to what uses the register, orders or branches.
bool has_store_to_pass(const Thread& thread, std::size_t load) {
  for (std::size_t i = load + 1; i < thread.instructions.size(); ++i) {
    const Instruction& each = thread.instructions[i];
    const bool may_be_passed =
        each.kind == Kind::kCompute || ((each.kind == Kind::kLoad || each.kind == Kind::kStore) &&
                                        !releases(each) && !acquires(each));
    if (!may_be_passed || each.uses(*thread.instructions[load].target)) {
      return false;
    }
    if (each.kind == Kind::kStore) {
      // To its own location it comes first.
      return each.location != thread.instructions[load].location;
    }
  }
  return false;
}

}  // namespace

bool releases(const Instruction& instruction) {
  return instruction.kind == Kind::kProxyFence || instruction.kind == Kind::kBarrier ||
         instruction.order == Order::kRelease || instruction.order == Order::kAcqRel ||
         instruction.order == Order::kSc;
}

bool acquires(const Instruction& instruction) {
  return instruction.kind == Kind::kProxyFence ||
         (instruction.kind == Kind::kBarrier && instruction.waits) ||
         instruction.order == Order::kAcquire || instruction.order == Order::kAcqRel ||
         instruction.order == Order::kSc;
}

Outlook::Ahead Outlook::ahead_of(const Thread& thread, const std::vector<Ahead>& all,
                                 std::size_t number) {
  const Instruction& each = thread.instructions[number];
  Ahead ahead = all[number + 1];
  if (each.kind == Kind::kJump) {
    ahead.reads |= all[each.destination].reads;
    ahead.writes |= all[each.destination].writes;
    ahead.old_reads |= all[each.destination].old_reads;
  }
  if (acquires(each)) {
    ahead.old_reads = 0;
  } else if (each.kind == Kind::kLoad) {
    ahead.old_reads |= bit_of(each.location);
  } else if (each.writes()) {
    ahead.old_reads &= ~bit_of(each.location);
  }
  ahead.reads |= each.reads() ? bit_of(each.location) : 0;
  ahead.writes |= each.writes() ? bit_of(each.location) : 0;
  ahead.may_be_late =
      each.kind == Kind::kLoad && !acquires(each) && has_store_to_pass(thread, number);
  return ahead;
}

Outlook::Outlook(const Program& program) {
  for (const Thread& thread : program.threads) {
    std::vector<Ahead> all(thread.instructions.size() + 1);
    // Once more for each jump backwards that leads to something new.
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t i = thread.instructions.size(); i-- > 0;) {
        const Ahead ahead = ahead_of(thread, all, i);
        grows = grows || ahead != all[i];
        all[i] = ahead;
      }
    }
    threads_.push_back(std::move(all));
  }
}

}  // namespace barracuda::memory_model
