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
  std::uint32_t immediate_dominator = kNoBlock;       // kNoBlock: the entry, or unreachable
  std::uint32_t immediate_post_dominator = kNoBlock;  // kNoBlock: only the function's end
  bool is_reachable = false;
  bool leaves = false;  // may end the function: ret, exit, or its last statement runs into the end
  std::uint32_t dominator_enter = 0, dominator_leave = 0;  // visit of the dominator tree
};

// The blocks cover the body from its '{' to its '}', in the order of the text; each belongs to one.
// trap ends a block and leads nowhere, not even to the function's end: post-dominators, which serve
// to find where lanes meet again, are those of the paths that survive. Of a block that cannot reach
// the function's end (an endless loop) the post-dominator is kNoBlock.
struct ControlFlow {
  std::vector<BasicBlock> blocks;  // blocks[0] is the entry and has no predecessors
  // kNoBlock outside of the body.
  [[nodiscard]] std::uint32_t block_of(std::size_t statement) const;
  // A block dominates itself; one that cannot be reached dominates, and is dominated by, no other.
  [[nodiscard]] bool dominates(std::uint32_t dominator, std::uint32_t block) const;
};

// Errors: a branch to a label that does not exist, a function without a body.
Expected<ControlFlow> build_control_flow(const Module& module, const Function& function);

}  // namespace barracuda::ptx
