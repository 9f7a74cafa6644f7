// The constants of a function, each in all lanes of a slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "emulator/decode/program_builder.h"
#include "emulator/decode/symbols.h"

namespace barracuda::emulator {

class ConstantPool {
 public:
  Slot add(std::uint64_t bits, RegisterClass register_class);
  // An offset in dynamic shared memory, which lies behind everything else: where that is is added
  // when it is known.
  Slot add_dynamic_offset(std::uint64_t offset);
  // No constant comes later.
  void finish(ProgramBuilder& builder, Function& function) const;

 private:
  Slot append(std::uint64_t bits, RegisterClass register_class);

  std::vector<std::byte> bytes_;
  boost::unordered_flat_map<std::uint64_t, Slot> slots_[3];
  std::vector<std::pair<std::uint32_t, std::uint32_t>> dynamic_;
};

}  // namespace barracuda::emulator
