#include "emulator/decode/code_blocks.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/align.h"
#include "base/assert.h"
#include "emulator/execute/control.h"

namespace barracuda::emulator {

void CodeBlocks::open() {
  Block block;
  block.parent = open_.empty() ? 0 : open_.back();
  block.local_top = local_top_;
  open_.push_back(static_cast<std::uint32_t>(blocks_.size()));
  blocks_.push_back(std::move(block));
}

void CodeBlocks::close() {
  ASSERT(!open_.empty());
  local_top_ = std::max(blocks_[open_.back()].local_top, kept_top_);
  open_.pop_back();
}

void CodeBlocks::add_label(std::string_view label) {
  blocks_[open_.back()].labels.insert_or_assign(label,
                                                static_cast<std::uint32_t>(function_.code.size()));
}

void CodeBlocks::add_branch(std::string_view label, BranchTable* table) {
  branches_.push_back({.instruction = function_.code.size(),
                       .label = label,
                       .block = open_.back(),
                       .table = table});
}

std::uint32_t CodeBlocks::find_label(std::string_view label, std::uint32_t block) const {
  for (;;) {
    const auto found = blocks_[block].labels.find(label);
    if (found != blocks_[block].labels.end()) {
      return found->second;
    }
    if (block == 0) {
      return kNoSlot;
    }
    block = blocks_[block].parent;
  }
}

void CodeBlocks::resolve_branches() {
  for (const Branch& branch : branches_) {
    ASSERT(branch.instruction < function_.code.size());
    const std::uint32_t target = find_label(branch.label, branch.block);
    Instruction& instruction = function_.code[branch.instruction];
    if (target == kNoSlot) {
      function_.reasons.push_back(std::make_unique<std::string>(
          fmt::format("a branch to {}, which does not exist, was executed", branch.label)));
      instruction.handler = &execute_unsupported;
      instruction.extra = function_.reasons.back().get();
    } else if (branch.table != nullptr) {
      branch.table->targets.push_back(target);
    } else {
      instruction.immediate = target;
    }
  }
}

std::uint32_t CodeBlocks::new_local(std::uint64_t bytes, std::uint32_t alignment) {
  const std::uint32_t offset = align_up(local_top_, std::max(alignment, std::uint32_t{8}));
  local_top_ = offset + static_cast<std::uint32_t>(bytes);
  function_.local_bytes = std::max(function_.local_bytes, align_up(local_top_, 16));
  return offset;
}

void CodeBlocks::keep_locals() {
  if (kept_top_ == 0) {
    kept_base_ = blocks_[open_.back()].local_top;
  }
  kept_top_ = local_top_;
}

void CodeBlocks::free_kept() {
  if (kept_top_ == 0) {
    return;
  }
  for (const std::uint32_t block : open_) {
    std::uint32_t& top = blocks_[block].local_top;
    top = top == kept_top_ ? kept_base_ : top;
  }
  local_top_ = local_top_ == kept_top_ ? kept_base_ : local_top_;
  kept_top_ = 0;
}

}  // namespace barracuda::emulator
