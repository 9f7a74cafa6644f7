// The threads of a CTA as the lanes of one warp in lock step: the instructions of a thread that is
// ahead wait for those that are behind, so that each is issued by all together.
#pragma once

#include <cstdint>
#include <vector>

#include "weak_memory/memory_model/program.h"

namespace barracuda::memory_model {

// Whether no thread of the CTA is at an earlier instruction. `next`: by thread.
inline bool is_in_step(const Program& program, const std::vector<std::uint32_t>& next,
                       std::size_t thread) {
  for (std::size_t other = 0; other < program.threads.size(); ++other) {
    const Thread& that = program.threads[other];
    if (program.threads[thread].includes(Scope::kCta, that) && next[other] < next[thread] &&
        next[other] < that.instructions.size()) {
      return false;
    }
  }
  return true;
}

}  // namespace barracuda::memory_model
