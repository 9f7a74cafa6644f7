// Atomics of one or two bytes where the device has only wider ones: libcu++ (and who writes the
// loop by hand) clears the low bits of the address, loads the word, and compares and swaps it until
// the bytes are exchanged; a load takes the word and shifts it. In the source these are accesses of
// the bytes, and so they are logged (docs/decisions/sub-word-atomics.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "ptx/analysis/program.h"

namespace barracuda::ptx {

class SubWords {
 public:
  SubWords(const Program& program, const Function& function)
      : program_(program), function_(function) {}

  // Of a strong load or a compare-and-swap of one word.
  [[nodiscard]] std::optional<SubWord> find(std::size_t statement);

 private:
  struct Definition {
    std::uint32_t count = 0;
    std::size_t statement = 0;  // the last
  };

  using Registers = boost::unordered_flat_set<std::string_view>;

  // An instruction `and A, X, -W`, where A is the address of a word of W bytes.
  struct Alignment {
    std::size_t statement = 0;
    std::string_view unaligned;  // X
  };

  void read_definitions();
  [[nodiscard]] const Instruction* definition_of(std::string_view name) const;
  [[nodiscard]] std::optional<Alignment> alignment_of(std::size_t access, std::uint32_t word) const;
  [[nodiscard]] Registers shifts_by(std::string_view unaligned) const;
  [[nodiscard]] std::uint32_t masked_bytes(const Registers& shifts) const;
  [[nodiscard]] bool shifts_value(std::size_t load, const Registers& shifts) const;
  [[nodiscard]] bool is_compared(std::size_t load, std::size_t alignment) const;
  [[nodiscard]] std::optional<std::uint64_t> constant(const Operand& operand) const;

  template <typename Visit>
  void for_each_instruction(Visit visit) const;

  const Program& program_;
  const Function& function_;
  bool is_read_ = false;
  boost::unordered_flat_map<std::string_view, Definition> definitions_;
};

}  // namespace barracuda::ptx
