// A module in the device: its parsed text, its variables in memory, and its kernels, each decoded
// at its first use.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "emulator/machine.h"
#include "emulator/state/frame_pool.h"
#include "emulator/state/program.h"
#include "ptx/module.h"

namespace barracuda::emulator {

class LoadedKernel {
 public:
  LoadedKernel(const LoadedModule& module, const ptx::Function& function)
      : module_(module), function_(function) {}

  [[nodiscard]] const ptx::Function& function() const { return function_; }

  [[nodiscard]] const LoadedModule& module() const { return module_; }

  // Decodes it at the first call.
  [[nodiscard]] const Program& program() const;

  [[nodiscard]] FrameStore& frames() const { return frames_; }

 private:
  const LoadedModule& module_;
  const ptx::Function& function_;
  mutable std::once_flag decoded_;
  mutable std::unique_ptr<Program> program_;
  mutable FrameStore frames_;
};

class LoadedModule {
 public:
  LoadedModule(std::shared_ptr<const ptx::Module> module, Memory& memory,
               std::span<const NativeFunction> native_functions = {},
               const Weakness* weakness = nullptr)
      : module_(std::move(module)),
        memory_(memory),
        native_functions_(native_functions),
        weakness_(weakness) {}

  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  // Allocates and initialises the variables; fails where memory does not suffice.
  Expected<void> place_variables();
  void find_kernels();

  // What messages say of instructions, by statement.
  [[nodiscard]] const std::vector<InstructionText>& texts() const { return texts_; }

  [[nodiscard]] const ptx::Module& module() const { return *module_; }

  [[nodiscard]] const std::vector<std::unique_ptr<LoadedKernel>>& kernels() const {
    return kernels_;
  }

  [[nodiscard]] const GlobalVariable* variable(std::string_view name) const;

  // Where variables of constant memory lie.
  [[nodiscard]] const std::vector<std::pair<std::uint64_t, std::uint64_t>>& const_ranges() const {
    return const_ranges_;
  }

  [[nodiscard]] std::uint32_t const_bytes() const { return const_bytes_; }

  // The definition of that name (not an entry's); null if there is none.
  [[nodiscard]] const ptx::Function* function(std::string_view name) const;
  [[nodiscard]] std::uint64_t address_of(const ptx::Function& function) const;

  // Functions whose address is taken anywhere: what an indirect call may reach.
  [[nodiscard]] const std::vector<const ptx::Function*>& addressed_functions() const {
    return addressed_;
  }

  // What the host executes in place of that function; null if that is its PTX.
  [[nodiscard]] const NativeFunction* native_function(std::string_view name) const;

  // How weak memory is; null: it is not.
  [[nodiscard]] const Weakness* weakness() const { return weakness_; }

  // The line of a statement, where memory is weak.
  [[nodiscard]] const CodePlace& place_of(std::size_t statement) const {
    return places_[statement];
  }

  // A variable of shared memory that is declared outside functions.
  [[nodiscard]] const ptx::Variable* shared_variable(std::string_view name) const;

 private:
  void initialise(const ptx::Variable& variable, std::uint64_t address) const;
  [[nodiscard]] std::uint64_t initial_value(const ptx::Variable& variable,
                                            const ptx::Operand& operand) const;
  void find_addressed_functions();
  void find_places();
  void note_addressed(const ptx::Operand& operand);

  std::shared_ptr<const ptx::Module> module_;
  Memory& memory_;
  boost::unordered_flat_map<std::string_view, GlobalVariable> variables_;
  boost::unordered_flat_map<std::string_view, const ptx::Variable*> shared_;
  boost::unordered_flat_map<std::string_view, const ptx::Function*> functions_;
  std::vector<const ptx::Function*> addressed_;
  std::vector<std::unique_ptr<LoadedKernel>> kernels_;
  std::vector<InstructionText> texts_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> const_ranges_;
  std::uint32_t const_bytes_ = 0;
  std::span<const NativeFunction> native_functions_;
  const Weakness* weakness_ = nullptr;
  std::vector<CodePlace> places_;  // by statement
};

// Bytes of an immediate for an operand of that type: integers wrap, floats are converted.
std::uint64_t immediate_bits(const ptx::Operand& operand, ptx::ScalarType type);

std::unique_ptr<Program> decode_program(const LoadedModule& module, const ptx::Function& entry);

}  // namespace barracuda::emulator
