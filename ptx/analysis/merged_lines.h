// Where code stands that the compiler made of several lines: what both ways of a branch do alike
// is done once, and its .loc says line 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ptx/analysis/program.h"

namespace barracuda::ptx {

class MergedLines {
 public:
  MergedLines(const Program& program, const Function& function);

  // The instruction whose line says best where `statement` stands; nothing if it has a line of its
  // own, or no other has one. A load stands where what it read is used first; anything else where
  // one of the merged lines goes on to it, or just behind what comes before it.
  [[nodiscard]] std::optional<std::size_t> stand_in(std::size_t statement) const;

 private:
  [[nodiscard]] bool has_line(std::size_t statement) const;
  [[nodiscard]] std::optional<std::size_t> first_use(std::size_t load) const;
  [[nodiscard]] std::optional<std::size_t> jump_here(std::size_t statement) const;
  [[nodiscard]] std::optional<std::size_t> before(std::size_t statement) const;
  [[nodiscard]] std::optional<std::size_t> behind(std::size_t statement) const;

  const Program& program_;
  const Function& function_;
  std::uint32_t declared_at_ = 0;     // the function's own line, to which parameters belong
  std::vector<std::uint32_t> lines_;  // by statement from the function's '{' on; empty: none is 0
};

}  // namespace barracuda::ptx
