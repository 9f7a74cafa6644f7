#include "weak_memory/memory_model/reached_barriers.h"

#include <iterator>

namespace barracuda::memory_model {

bool is_open(const Program& program, const ReachedBarriers& reached, std::size_t thread,
             std::uint32_t instruction, std::uint64_t quorum) {
  const Instruction& barrier = program.threads[thread].instructions[instruction];
  if (!barrier.waits || (barrier.number && !barrier.quorum)) {
    return true;
  }
  const std::uint64_t number = reached.at({thread, instruction});
  std::uint64_t same = 0;
  bool are_all_reached = true;
  for (std::size_t other = 0; other < program.threads.size(); ++other) {
    const auto& instructions = program.threads[other].instructions;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      if (instructions[i].kind != Instruction::Kind::kBarrier ||
          instructions[i].instance != barrier.instance ||
          !program.threads[thread].includes(Scope::kCta, program.threads[other])) {
        continue;
      }
      const auto found = reached.find({other, i});
      are_all_reached = are_all_reached && found != reached.end();
      same += found != reached.end() && found->second == number ? 1U : 0U;
    }
  }
  return barrier.quorum ? same >= quorum : are_all_reached;
}

void encode_reached(const ReachedBarriers& reached, std::size_t thread, StateBytes& bytes) {
  const auto first = reached.lower_bound({thread, 0});
  const auto last = reached.lower_bound({thread + 1, 0});
  bytes.add(static_cast<std::uint64_t>(std::distance(first, last)));
  for (auto each = first; each != last; ++each) {
    bytes.add(each->first.second);
    bytes.add(each->second);
  }
}

bool is_in_loop(const Thread& thread, std::size_t instruction) {
  for (std::size_t jump = instruction; jump < thread.instructions.size(); ++jump) {
    if (thread.instructions[jump].kind == Instruction::Kind::kJump &&
        thread.instructions[jump].destination <= instruction) {
      return true;
    }
  }
  return false;
}

}  // namespace barracuda::memory_model
