// What holds wherever a predicate does: what it is combined of, and what decided that it was
// written so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/flow_order.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/register_uses.h"
#include "ptx/control_flow.h"

namespace barracuda::ptx {

// What decides: a predicate, or a number that is not zero.
struct Literal {
  std::string_view name;
  bool is_negated = false;
  std::uint32_t number_bits = 0;  // 0: a predicate

  friend bool operator==(const Literal&, const Literal&) = default;
};

// Of an operand that is a predicate; nothing of any other.
std::optional<Literal> predicate_of(const Operand& operand, bool is_negated);

struct ImpliedLiteral {
  Literal literal;
  std::size_t reader = 0;   // the instruction that reads it
  std::uint32_t depth = 0;  // those that follow and lie deeper are parts of it
  // It held when one of several instructions wrote what is made of it, which may be long ago.
  bool is_of_past = false;
};

class ImpliedLiterals {
 public:
  ImpliedLiterals(const Program& program, const ControlFlow& flow, const RegisterUses& uses,
                  const Constants& constants, ExecutedOnce& executed_once)
      : program_(program),
        flow_(flow),
        uses_(uses),
        constants_(constants),
        executed_once_(executed_once) {}

  // By a literal that `user` reads; it is the first of them.
  [[nodiscard]] std::vector<ImpliedLiteral> of(const Literal& literal, std::size_t user);

  // What holds in a block that only one way of a branch leads to.
  [[nodiscard]] std::optional<Literal> edge_into(std::uint32_t block) const;

 private:
  using Implied = std::vector<ImpliedLiteral>;

  void add(const ImpliedLiteral& one, Implied& implied);
  void add_parts(const Instruction& writer, std::size_t definition, const ImpliedLiteral& whole,
                 Implied& implied);
  [[nodiscard]] std::optional<Literal> part_of_number(const Instruction& writer,
                                                      std::size_t definition,
                                                      const Literal& whole) const;
  void add_of_several(const RegisterUses::Register& written, const ImpliedLiteral& whole,
                      Implied& implied);
  void add_guards(std::size_t statement, std::uint32_t depth, Implied& implied);
  void keep_common(Implied& some, const Implied& others);
  [[nodiscard]] bool says_the_same(const Literal& one, const Literal& other);
  [[nodiscard]] bool never_changes(const Operand& operand);
  [[nodiscard]] bool never_writes(std::size_t definition, const Literal& literal) const;
  [[nodiscard]] std::optional<bool> is_zero(const Operand& operand, std::uint32_t bytes,
                                            std::size_t statement) const;

  const Program& program_;
  const ControlFlow& flow_;
  const RegisterUses& uses_;
  const Constants& constants_;
  ExecutedOnce& executed_once_;
  std::size_t added_ = 0;  // for one question
};

}  // namespace barracuda::ptx
