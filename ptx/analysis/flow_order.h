// What a function has executed before what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/control_flow.h"

namespace barracuda::ptx {

// On every path to `other` from the function's start, `statement` was executed.
inline bool comes_before(const ControlFlow& flow, std::size_t statement, std::size_t other) {
  const std::uint32_t block = flow.block_of(statement), of_other = flow.block_of(other);
  if (block == kNoBlock || of_other == kNoBlock) {
    return false;
  }
  return block == of_other ? statement < other : flow.dominates(block, of_other);
}

// Statements that no loop executes again.
class ExecutedOnce {
 public:
  explicit ExecutedOnce(const ControlFlow& flow) : flow_(flow) {}

  [[nodiscard]] bool contains(std::size_t statement) {
    const std::uint32_t block = flow_.block_of(statement);
    const auto [known, is_new] = in_cycle_.try_emplace(block, false);
    if (is_new) {
      known->second = comes_back_to(block);
    }
    return !known->second;
  }

 private:
  [[nodiscard]] bool comes_back_to(std::uint32_t block) const {
    std::vector<bool> seen(flow_.blocks.size());
    std::vector<std::uint32_t> waiting = flow_.blocks[block].successors;
    while (!waiting.empty() && !seen[block]) {
      const std::uint32_t next = waiting.back();
      waiting.pop_back();
      if (!seen[next]) {
        seen[next] = true;
        const auto& successors = flow_.blocks[next].successors;
        waiting.insert(waiting.end(), successors.begin(), successors.end());
      }
    }
    return seen[block];
  }

  const ControlFlow& flow_;
  boost::unordered_flat_map<std::uint32_t, bool> in_cycle_;  // by block
};

}  // namespace barracuda::ptx
