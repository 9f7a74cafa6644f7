// The values of a function's registers as expressions (ptx/address_form.h): of registers with one
// definition that no predicate guards, or with several that read the same, and of counters of
// loops, which have one before the loop and one or more that add to them. A counter's value is its
// first one and some times each of its steps; two uses of one counter may be of different rounds,
// so each has numbers of times of its own.
//
// Registers are looked up by name, whatever their scope: a shadowed one has several definitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/address_form.h"
#include "ptx/analysis/guards.h"
#include "ptx/analysis/parameter_words.h"
#include "ptx/analysis/program.h"

namespace barracuda::ptx {

class AddressForms {
 public:
  AddressForms(const Program& program, const Function& function);

  // The node of the address's base; nothing if it is not known.
  [[nodiscard]] std::optional<std::uint32_t> base_of(const Operand& address);

  // Nothing if one of its sides is not known.
  [[nodiscard]] std::optional<AddressGuard> guard_of(const Comparison& comparison);

  [[nodiscard]] std::vector<AddressNode> take_nodes() { return std::move(nodes_); }

 private:
  struct Definition {
    std::size_t statement = 0;
    std::uint32_t element = 0;  // of a vector that is written
    bool is_whole = false;      // it is understood which of the statement's results it is
    std::uint32_t bytes = 0;    // of the register there; 0: not known
  };

  struct Register {
    boost::container::small_vector<Definition, 2> definitions;
    enum class State : std::uint8_t { kNew, kBegun, kDone } state = State::kNew;
    std::optional<std::uint32_t> node;
  };

  void read_definitions();
  void define(const Operand& destination, Definition definition);
  std::optional<std::uint32_t> node_of(std::string_view name);
  [[nodiscard]] bool are_alike(const Register& found) const;
  // Of `bytes`, as an instruction of that size reads it.
  std::optional<std::uint32_t> value_of(const Operand& operand, std::uint32_t bytes);
  std::optional<std::uint32_t> special(const Operand& operand);
  std::optional<std::uint32_t> result_of(const Definition& definition);
  std::optional<std::uint32_t> argument(const Instruction& load, const Definition& definition);
  std::optional<std::uint32_t> computed(const Instruction& instruction);
  std::optional<std::uint32_t> multiplied(const Instruction& instruction);
  std::optional<std::uint32_t> converted(const Instruction& instruction);
  std::optional<std::uint32_t> counter(std::string_view name, const Register& found);
  // What one round adds, if the definition adds to the register what it was before.
  std::optional<std::uint32_t> step_of(std::string_view name, const Definition& definition);
  std::optional<std::uint32_t> combine(AddressOp op, std::uint32_t bytes,
                                       std::optional<std::uint32_t> first,
                                       std::optional<std::uint32_t> second, bool is_signed = false);
  std::uint32_t add(const AddressNode& node);
  std::uint32_t constant(std::uint64_t value, std::uint32_t bytes);

  const Program& program_;
  const Function& function_;
  ParameterWords parameters_;
  boost::unordered_flat_map<std::string_view, Register> registers_;
  std::vector<AddressNode> nodes_;
  int depth_ = 0;        // of definitions within definitions
  int work_ = 0;         // definitions looked at
  bool is_cut_ = false;  // a value was asked for that had begun
};

}  // namespace barracuda::ptx
