// Who reads and who writes each register of a function, by its name, which no other one of the
// function has (rename_registers.h).
#pragma once

#include <cstddef>
#include <string_view>

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/analysis/program.h"

namespace barracuda::ptx {

class RegisterUses {
 public:
  static constexpr int kPredicate = -1;

  struct Use {
    std::size_t statement = 0;
    int operand = kPredicate;  // index into Instruction::operands
  };

  struct Register {
    boost::container::small_vector<Use, 3> uses;
    boost::container::small_vector<std::size_t, 1> definitions;  // in the order of the text
    bool is_in_inner_block = false;                              // the last of them is

    [[nodiscard]] bool is_written_once() const { return definitions.size() == 1; }
  };

  RegisterUses(const Program& program, const Function& function);

  // Null if nothing reads or writes it.
  [[nodiscard]] const Register* find(std::string_view name) const;

 private:
  void read(std::size_t statement, const Instruction& instruction, const Effect& effect,
            std::size_t depth);

  boost::unordered_flat_map<std::string_view, Register> registers_;
};

// An instruction that does nothing but compute what its first operand names.
bool is_computation(const Instruction& instruction, const Effect& effect);

// Whether it writes what its first operand names, and does not read that.
bool only_writes_first(const Instruction& instruction, const Effect& effect);

}  // namespace barracuda::ptx
