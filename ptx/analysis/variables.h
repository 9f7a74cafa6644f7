// Which variable an address is of: the names (of variables, of kernel parameters) that it is
// computed from, without what is added as an index. It tells the variables of one source line
// apart; nothing is derived from it for the verdict, so what is not known is just empty.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/module.h"

namespace barracuda::ptx {

class Variables {
 public:
  Variables(const Module& module, const Function& function);

  // "sums", "kernel_param_0", "*kernel_param_0+8" for a pointer that lies there.
  [[nodiscard]] std::string of(const Operand& address) const;

 private:
  using Names = std::set<std::string>;

  bool follow(const Instruction& instruction);
  bool add(const Operand& destination, const Names& names);
  [[nodiscard]] Names names_of(const Operand& operand) const;
  [[nodiscard]] Names names_loaded(const Instruction& load) const;

  boost::unordered_flat_map<std::string_view, Names> registers_;
};

}  // namespace barracuda::ptx
