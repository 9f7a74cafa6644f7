// Where the memory of a launch lies when nobody has a device: the buffers of its arguments, the
// variables of its module. An address says which space it is of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/literal_kernel.h"
#include "ptx/module.h"

namespace barracuda::ptx {

struct LiteralAddress {
  StateSpace space = StateSpace::kGlobal;  // or kShared, kLocal, kParam, kConst
  std::uint64_t offset = 0;                // of global and constant memory the whole address
};

class LiteralPlaces {
 public:
  // Errors: initial values that are addresses, which this does not know.
  static Expected<LiteralPlaces> create(const Module& module, const Function& entry,
                                        const LiteralLaunch& launch);

  // What a symbol stands for where it is moved to a register or accessed; none: not a variable.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::string_view symbol) const;
  // What a generic address is of.
  static LiteralAddress resolve(std::uint64_t generic);
  // The generic address of an offset in that space, and back.
  static std::uint64_t generic_of(StateSpace space, std::uint64_t offset);
  static std::uint64_t offset_in(StateSpace space, std::uint64_t generic);

  [[nodiscard]] std::optional<std::uint64_t> initial(const LiteralAddress& address,
                                                     std::uint32_t bytes) const;
  [[nodiscard]] std::string name_of(const LiteralAddress& address, std::uint32_t bytes) const;
  [[nodiscard]] std::optional<LiteralElement> element(std::string_view name,
                                                      std::uint64_t index) const;

 private:
  void place(const Variable& variable, const LiteralLaunch& launch);
  Expected<void> fill(const Variable& variable, LiteralMemory& memory) const;

  struct Shared {
    std::string name;
    std::uint64_t offset = 0, size = 0;
    std::uint32_t element_bytes = 4;
  };

  std::vector<LiteralMemory> memory_;
  std::vector<Shared> shared_;
  std::uint64_t shared_bytes_ = 0, local_bytes_ = 0;
  boost::unordered_flat_map<std::string_view, std::uint64_t> symbols_;
};

}  // namespace barracuda::ptx
