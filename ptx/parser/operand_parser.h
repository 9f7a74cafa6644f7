// Operands of instructions and values of initialisers. A name is a register if `scopes` says so.
#pragma once

#include <string_view>

#include "ptx/module.h"
#include "ptx/parser/cursor.h"
#include "ptx/parser/scope.h"

namespace barracuda::ptx {

class OperandParser {
 public:
  OperandParser(Cursor& cursor, const Scopes& scopes) : cursor_(cursor), scopes_(scopes) {}

  // One operand; `in_call`: a parenthesis opens a list, not an expression.
  bool parse(Operand& operand, bool in_call);
  // One value of an initialiser: a constant, symbol, generic(symbol) or mask(symbol).
  bool parse_value(Operand& operand);

 private:
  bool parse_any(Operand& operand, bool in_call);
  bool parse_address(Operand& operand);
  bool parse_elements(Operand& operand, char close, Operand::Kind kind);
  bool parse_constant_operand(Operand& operand);
  bool parse_signed(Operand& operand);
  bool parse_name(Operand& operand);
  bool parse_name_tail(Operand& operand, bool allow_pair);
  bool parse_pair(Operand& operand, const char* start);
  bool parse_offset(std::int64_t& offset);
  bool parse_index(Operand& operand);
  bool parse_symbol_value(Operand& operand, std::string_view component);
  bool has_component() const;
  bool too_deep();

  Cursor& cursor_;
  const Scopes& scopes_;
  int depth_ = 0;
};

}  // namespace barracuda::ptx
