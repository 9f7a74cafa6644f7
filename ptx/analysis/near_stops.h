// What a thread may come to, on some way, before it passes a place where all of its block meet; and
// what it may have come from since it passed the last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptx/control_flow.h"

namespace barracuda::ptx {

class NearStops {
 public:
  // What ends a search: what is looked for, or such a place.
  struct Stop {
    std::size_t statement = 0;
    bool is_meant = false;
  };

  // `stops`: of one function, by statement.
  NearStops(const ControlFlow& flow, std::vector<Stop> stops);

  // Whether one that is meant is near, on some way to the statement, or from it.
  [[nodiscard]] bool come_before(std::size_t statement) const;
  [[nodiscard]] bool come_after(std::size_t statement) const;

 private:
  [[nodiscard]] bool lie_ahead(std::size_t begin, const BasicBlock& block) const;
  [[nodiscard]] bool lie_behind(std::size_t end, std::uint32_t block) const;

  const ControlFlow& flow_;
  std::vector<Stop> stops_;
  std::vector<bool> ahead_, behind_;  // by block: from its begin on, and before it
};

}  // namespace barracuda::ptx
