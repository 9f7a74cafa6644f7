// One change of a program as a programmer would make it: at one place of the source, and so at each
// instruction that the compiler made of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ptx/edit_order.h"
#include "ptx/site_table.h"

namespace barracuda::weak_memory {

struct Edit {
  std::vector<ptx::OrderEdit> changes;  // the same at each copy; at least one
  // The line of the source next to which, or in which, the change is made: the user's own, then
  // where it was inlined. Empty: no line is known.
  std::vector<ptx::SourceFrame> lines;
  std::optional<ptx::SourceFrame> within;  // a line of somebody else's that the line calls
  bool is_line_before = false;  // what is put in stands before the statement of that line
  bool is_behind_loop = false;  // behind the whole loop whose head the line is
  std::string before;           // the instruction that is changed; empty: one is put in
  std::string after;            // the instruction that stands there then
  std::uint32_t loops = 0;      // around it

  friend bool operator==(const Edit& left, const Edit& right) {
    return left.changes == right.changes;
  }
};

// The change of the first instruction.
inline const ptx::OrderChange& change_of(const Edit& edit) {
  return edit.changes.front().change;
}

// What it costs to execute, in steps of a fence of the block; a loop counts tenfold.
std::uint64_t cost_of(const Edit& edit);

// "__threadfence()", "cuda::memory_order_release, cuda::thread_scope_device": how CUDA C++ says it.
std::string cuda_spelling(const Edit& edit);

}  // namespace barracuda::weak_memory
