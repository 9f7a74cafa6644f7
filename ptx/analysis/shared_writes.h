// Which bytes of a function's shared variables an instruction may write, as far as its text says
// where its address comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/analysis/constants.h"
#include "ptx/module.h"
#include "ptx/opcode.h"

namespace barracuda::ptx {

// Bytes [first, end) of a shared variable that is not extern: extern ones lie all at one place.
struct SharedPiece {
  std::string_view variable;
  std::int64_t first = 0, end = 0;

  [[nodiscard]] bool meets(const SharedPiece& other) const {
    return variable == other.variable && first < other.end && other.first < end;
  }
};

class SharedWrites {
 public:
  // Both must outlive it.
  SharedWrites(const Module& module, const Function& function);

  // What a plain load reads, if it names the place, by itself or through a register that one `mov`
  // gives the address.
  [[nodiscard]] std::optional<SharedPiece> read_by(std::size_t statement) const;

  // Whether it is a store at all, and of shared memory: what a kernel's arguments lead to is none,
  // for a launch is made before its blocks have any.
  [[nodiscard]] bool may_write(std::size_t statement) const { return writes_.contains(statement); }

  // And of these bytes: not where it names others.
  [[nodiscard]] bool may_write(std::size_t statement, const SharedPiece& piece) const;
  // And leads to this variable: not if its address is computed from that of another, which only an
  // index that is too large leaves.
  [[nodiscard]] bool may_lead_to(std::size_t statement, std::string_view variable) const;

 private:
  // What an address may be computed from: shared variables, by their names, the kernel's arguments,
  // and what is loaded. None of these: a number.
  struct Sources {
    std::set<std::string_view> variables;
    bool is_argument = false, is_loaded = false;

    bool add(const Sources& other);
    [[nodiscard]] std::size_t count() const;
  };

  struct Write {
    std::optional<SharedPiece> piece;  // none: it does not name its place
    Sources sources;                   // of its address
  };

  void find_variables();
  bool read_registers();
  void find_writes();
  [[nodiscard]] const Instruction* instruction_at(std::size_t statement) const;
  [[nodiscard]] std::optional<SharedPiece> piece_of(std::size_t statement,
                                                    const Effect& effect) const;
  [[nodiscard]] Sources sources_of(const Operand& operand) const;
  [[nodiscard]] Sources computed(const Instruction& instruction) const;
  [[nodiscard]] Sources made_by(const Instruction& instruction) const;
  // Of the address of a store or an atomic that is not of another space by its name.
  [[nodiscard]] std::optional<Sources> written_through(std::size_t statement) const;

  const Module& module_;
  const Function& function_;
  Constants constants_;
  std::set<std::string_view> all_, own_;                            // variables; own: not extern
  boost::unordered_flat_map<std::string_view, Sources> registers_;  // where there are such
  // By statement, for each is asked about as often as there are loads behind its barrier.
  boost::unordered_flat_map<std::size_t, Write> writes_;
};

}  // namespace barracuda::ptx
