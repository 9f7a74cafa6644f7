// The parts of a program that its functions share while they are decoded: which functions it has,
// and where shared variables lie.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "emulator/decode/loaded_module.h"
#include "emulator/state/program.h"

namespace barracuda::emulator {

class ProgramBuilder {
 public:
  ProgramBuilder(const LoadedModule& module, Program& program)
      : module_(module), program_(program) {}

  [[nodiscard]] const LoadedModule& module() const { return module_; }

  // The decoded function; it is filled later if it is new.
  Function* function(const ptx::Function& function);
  void needs_addressed_functions();

  // The offset in shared memory: of what the entry names by ptx/analysis/shared_layout.h, of
  // others given at the first call for a variable.
  std::uint32_t shared_offset(const ptx::Variable& variable);
  // A constant that holds the offset of dynamic shared memory, which is known at the end: `lanes`
  // are 32 values of `bytes` bytes, to which it is added.
  void add_dynamic_offset(Function& function, std::uint32_t constant, std::uint32_t bytes,
                          std::uint32_t alignment);

  void build(const ptx::Function& entry);

 private:
  struct Patch {
    Function* function = nullptr;
    std::uint32_t constant = 0, bytes = 0;
  };

  void lay_out_shared(const ptx::Variable& wanted);
  void lay_out_dynamic_shared();

  const LoadedModule& module_;
  Program& program_;
  boost::unordered_flat_map<const ptx::Function*, Function*> known_;
  std::vector<std::pair<const ptx::Function*, Function*>> pending_;
  boost::unordered_flat_map<const ptx::Variable*, std::uint32_t> shared_;
  std::vector<Patch> patches_;
  std::uint32_t dynamic_alignment_ = 16;
  bool indirect_ = false;
  const ptx::Function* decoding_ = nullptr;
};

void decode_function(ProgramBuilder& builder, const ptx::Function& source, Function& function);

}  // namespace barracuda::emulator
