// The nested blocks of a function that is being decoded: what their labels mean to the branches in
// them, and the local memory that their variables take.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "emulator/state/program.h"

namespace barracuda::emulator {

class CodeBlocks {
 public:
  explicit CodeBlocks(Function& function) : function_(function) {}

  void open();
  void close();
  // The next instruction has this label.
  void add_label(std::string_view label);
  // The next instruction leads there. `table`: whose next entry that is, instead of the
  // instruction's target.
  void add_branch(std::string_view label, BranchTable* table = nullptr);

  [[nodiscard]] std::size_t branches() const { return branches_.size(); }

  // All but the first are of an instruction that was given up.
  void take_back_branches(std::size_t first) { branches_.resize(first); }

  // All labels are known.
  void resolve_branches();

  // Its offset in local memory, until the block is closed.
  std::uint32_t new_local(std::uint64_t bytes, std::uint32_t alignment);
  // Keeps what the innermost block has, though that may be closed, until free_kept(): the arguments
  // of calls that are postponed.
  void keep_locals();
  void free_kept();

 private:
  struct Block {
    std::uint32_t parent = 0;
    std::uint32_t local_top = 0;
    boost::unordered_flat_map<std::string_view, std::uint32_t> labels;  // pc
  };

  struct Branch {
    std::size_t instruction = 0;
    std::string_view label;
    std::uint32_t block = 0;
    BranchTable* table = nullptr;
  };

  [[nodiscard]] std::uint32_t find_label(std::string_view label, std::uint32_t block) const;

  Function& function_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> open_;
  std::vector<Branch> branches_;
  std::uint32_t local_top_ = 0;
  std::uint32_t kept_base_ = 0, kept_top_ = 0;  // 0: nothing is kept
};

}  // namespace barracuda::emulator
