// Values that registers have where a loaded value is used, had at the load already: what never
// changes, or is computed again from that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/analysis/flow_order.h"
#include "ptx/analysis/implied_literals.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/register_uses.h"
#include "ptx/control_flow.h"

namespace barracuda::ptx {

class ValuesAtLoad {
 public:
  // So many instructions are made again at most: what bounds the cost of a load's hook.
  static constexpr std::size_t kMostClones = 8;

  ValuesAtLoad(const Program& program, const ControlFlow& flow, const RegisterUses& uses,
               ExecutedOnce& executed_once)
      : program_(program), flow_(flow), uses_(uses), executed_once_(executed_once) {}

  // Of this load; what was made for the one before is forgotten.
  void start(std::size_t load);

  // Whether the value that a register has at `user` can be had at the load. `is_in_turn`: the load,
  // and all that its value goes through until the register is read at `user`, are written in one
  // place, each before what reads it on every path.
  [[nodiscard]] bool make(std::string_view name, std::size_t user, bool is_in_turn);
  // Of one that was made.
  [[nodiscard]] std::string_view name_at_load(std::string_view name) const;
  [[nodiscard]] Literal at_load(const Literal& literal) const;

  [[nodiscard]] bool is_full() const { return clones_.size() >= kMostClones; }

  // The instructions that give these names their values.
  [[nodiscard]] std::string text(const std::vector<std::string_view>& names_at_load) const;

 private:
  struct Clone {
    std::string_view type;
    std::string computation;  // its opcode and modifiers
    std::string operands;
    std::uint32_t reads = 0;  // other clones, as bits
  };

  struct Made {
    std::size_t clone = 0;
    bool relies = false;  // on being in turn
  };

  [[nodiscard]] bool clone(std::size_t definition, bool is_in_turn);
  [[nodiscard]] bool add_operand(const Operand& operand, std::size_t definition, bool is_in_turn,
                                 Clone& clone);
  void forget_from(std::size_t made, std::size_t clones);
  [[nodiscard]] bool holds_from_load(std::size_t definition, bool is_in_turn);
  [[nodiscard]] bool is_invariant(std::size_t definition, int depth = 0);

  const Program& program_;
  const ControlFlow& flow_;
  const RegisterUses& uses_;
  ExecutedOnce& executed_once_;

  // Of one load.
  std::size_t load_ = 0;
  bool relies_ = false;  // what is being made does
  std::vector<Clone> clones_;
  boost::unordered_flat_map<std::string_view, Made> made_;  // by the name that it stands for
  std::vector<std::string_view> order_;                     // in which they were made
};

}  // namespace barracuda::ptx
