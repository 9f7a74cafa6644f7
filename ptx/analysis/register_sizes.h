// The declared size of registers at a point of a function's text. Feed it every statement of the
// body in order; nested scopes may declare a name anew.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/module.h"

namespace barracuda::ptx {

class RegisterSizes {
 public:
  // Opens the function's own scope.
  void enter(const Function& function);
  void read(const Statement& statement);

  // Bytes of a register or of a component of it; 0 if it is not known or a predicate.
  [[nodiscard]] std::uint32_t bytes_of(const Operand& operand) const;
  [[nodiscard]] bool is_declared(std::string_view name) const;

 private:
  struct Scope {
    boost::unordered_flat_map<std::string_view, std::uint32_t> names;  // bytes
    boost::unordered_flat_map<std::string_view, std::uint32_t> ranges;
  };

  void declare(const Variable& variable);
  [[nodiscard]] const std::uint32_t* find(std::string_view name) const;

  std::vector<Scope> scopes_;
  std::size_t depth_ = 0;  // of scopes_ in use; the others keep their memory
};

}  // namespace barracuda::ptx
