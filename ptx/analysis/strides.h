// How far apart the elements lie that an index leads to: what the part of an address that is no
// variable is a multiple of, as its instructions say (a shift by 3, a product with 12). An array of
// structures is accessed member by member, and this alone tells it from one of numbers. Only for
// what reports name.
#pragma once

#include <cstdint>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/module.h"

namespace barracuda::ptx {

class Strides {
 public:
  Strides(const Module& module, const Function& function);

  // Without the address's own offset, which is that of a member. 0: there is no index; 1: nothing
  // is known.
  [[nodiscard]] std::uint64_t of(const Operand& address) const;

 private:
  bool follow(const Instruction& instruction);
  [[nodiscard]] std::uint64_t result_of(const Instruction& instruction) const;

  boost::unordered_flat_map<std::string_view, std::uint64_t> registers_;
};

}  // namespace barracuda::ptx
