// The bits of a register that reach something, by all that the function does with it, whatever its
// branches do. Follows moves, masks, shifts, bit fields, permutations and conversions; whatever
// else reads a register reads all of it.
#pragma once

#include <cstdint>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/register_uses.h"

namespace barracuda::ptx {

class DemandedBits {
 public:
  DemandedBits(const Program& program, const RegisterUses& uses, const Constants& constants)
      : program_(program), uses_(uses), constants_(constants) {}

  // Zero if nothing reads it.
  [[nodiscard]] std::uint64_t of(std::string_view name);

  // Of what a load of `type` puts into the destination: the bits above are copies of the highest
  // one, or zeros.
  [[nodiscard]] std::uint64_t of_loaded(const Operand& destination, ScalarType type);

 private:
  // How deep values are followed, which bounds the stack.
  static constexpr int kDeepest = 16;

  [[nodiscard]] std::uint64_t by(const RegisterUses::Use& use, std::string_view name);
  [[nodiscard]] std::uint64_t by_computation(const Instruction& instruction, std::size_t operand,
                                             std::string_view name);
  [[nodiscard]] std::uint64_t by_move(const Instruction& instruction, std::size_t operand,
                                      std::string_view name, std::uint32_t width);
  [[nodiscard]] std::uint64_t by_field(const Instruction& instruction, std::size_t operand,
                                       std::uint64_t wanted) const;

  const Program& program_;
  const RegisterUses& uses_;
  const Constants& constants_;
  boost::unordered_flat_map<std::string_view, std::uint64_t> known_;
  int depth_ = 0;
};

}  // namespace barracuda::ptx
