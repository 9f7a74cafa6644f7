// Between which statements of a function and a fence there may be no barrier of the whole block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptx/analysis/program.h"
#include "ptx/control_flow.h"

namespace barracuda::ptx {

class NearFences {
 public:
  NearFences(const Program& program, const Function& function, const ControlFlow& flow);

  // On some way to the statement, or from it.
  [[nodiscard]] bool comes_before(std::size_t statement) const;
  [[nodiscard]] bool comes_after(std::size_t statement) const;

 private:
  // What ends a search: a fence, or a barrier of the block.
  struct Stop {
    std::size_t statement = 0;
    bool is_fence = false;
  };

  using Stops = std::vector<Stop>;

  [[nodiscard]] bool leads_to_fence(std::size_t begin, const BasicBlock& block) const;
  [[nodiscard]] bool follows_fence(std::size_t end, std::uint32_t block) const;

  const ControlFlow& flow_;
  Stops stops_;                       // by statement
  std::vector<bool> ahead_, behind_;  // by block: from its begin on, and before it
};

}  // namespace barracuda::ptx
