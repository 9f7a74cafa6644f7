// Declarations: variables with their initialisers, parameter lists, function headers,
// .callprototype.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ptx/module.h"
#include "ptx/parser/cursor.h"
#include "ptx/parser/operand_parser.h"
#include "ptx/parser/scope.h"

namespace barracuda::ptx {

class DeclarationParser {
 public:
  DeclarationParser(Cursor& cursor, Scopes& scopes, OperandParser& operands)
      : cursor_(cursor), scopes_(scopes), operands_(operands) {}

  // What stands before the names of a declaration: .visible .global .align 4 .b8. Stops before
  // .entry and .func, and then is_function is set.
  struct Prefix {
    Variable variable;
    bool is_entry = false, is_function = false;
  };

  bool parse_prefix(Prefix& prefix);
  // The names after the prefix, up to and with ';'. Declares them in the current scope.
  bool parse_variables(const Prefix& prefix, std::vector<Variable>& variables);
  // After .entry or .func: up to '{' (not consumed) or ';' (consumed). Opens the scope of the
  // parameters; the caller closes it.
  bool parse_function(const Prefix& prefix, Function& function);
  // After .callprototype, with the ';'.
  bool parse_prototype(std::vector<Variable>& returns, std::vector<Variable>& parameters);

 private:
  bool apply_prefix_word(std::string_view word, const char* where, Prefix& prefix);
  bool parse_pointer_attribute();
  bool parse_declarator(Variable& variable);
  bool parse_dimensions(Variable& variable, std::vector<std::uint64_t>& dimensions);
  bool parse_initializer(Variable& variable, std::vector<std::uint64_t>& dimensions);
  bool parse_list(Variable& variable, const std::vector<std::uint64_t>& dimensions,
                  std::size_t level);
  bool pad(Variable& variable, std::uint64_t multiple);
  bool parse_parameters(std::vector<Variable>& parameters);
  bool parse_attributes(std::vector<std::string_view>& attributes);
  void declare(const Variable& variable);

  Cursor& cursor_;
  Scopes& scopes_;
  OperandParser& operands_;
};

}  // namespace barracuda::ptx
