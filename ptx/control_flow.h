// Basic blocks of one function, their successors, and (post-)dominators (Cooper, Harvey, Kennedy:
// "A Simple, Fast Dominance Algorithm", 2001). Statement indices are those of Module::statements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/expected.h"
#include "ptx/module.h"

namespace barracuda::ptx {

inline constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};

struct BasicBlock {
  std::size_t begin = 0, end = 0;  // statements [begin, end)
  std::vector<std::uint32_t> successors, predecessors;
  std::uint32_t immediate_dominator = kNoBlock;
  std::uint32_t immediate_post_dominator = kNoBlock;  // kNoBlock: only the function's end
};

struct ControlFlow {
  std::vector<BasicBlock> blocks;  // blocks[0] is the entry
  [[nodiscard]] std::uint32_t block_of(std::size_t statement) const;
  [[nodiscard]] bool dominates(std::uint32_t dominator, std::uint32_t block) const;
};

// Errors: a branch to a label that does not exist.
Expected<ControlFlow> build_control_flow(const Module& module, const Function& function);

}  // namespace barracuda::ptx
