// Loads that may be late are two instructions: one issues the load, another, where it ends at the
// latest, completes it. The call that logs it moves along.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/decode/code_blocks.h"
#include "emulator/decode/code_emitter.h"
#include "emulator/execute/native.h"
#include "emulator/state/weak_site.h"
#include "ptx/module.h"

namespace barracuda::emulator {

class PostponedLoads {
 public:
  PostponedLoads(CodeEmitter& code, CodeBlocks& blocks, const ptx::Function& source)
      : code_(code), blocks_(blocks), module_(code.builder().module().module()), source_(source) {}

  // The call that is being decoded logs a load that may be late: it comes when that is completed.
  bool postpone_log(const std::shared_ptr<NativeSite>& site);
  // The load that was emitted last only issues it, if it may be late.
  void split(const ptx::Instruction& instruction, WeakSite& site);

  // What must come before the statement.
  void complete(std::size_t statement) {
    if (!postponed_.empty()) {
      complete_all_before(statement);
    }
  }

 private:
  // A load that is to be completed, or the call that logs one.
  struct Postponed {
    std::size_t end = 0;                   // before which statement
    std::uint32_t statement = 0;           // its own
    Instruction load{};                    // as it was issued
    std::vector<std::uint32_t> registers;  // that it loads
    const NativeSite* log = nullptr;       // null: it is a load
  };

  // Before which statement the load that is the statement `load` ends. None: it is never late.
  std::optional<std::size_t> late_end(std::size_t load);
  void complete_all_before(std::size_t statement);

  CodeEmitter& code_;
  CodeBlocks& blocks_;
  const ptx::Module& module_;
  const ptx::Function& source_;
  std::vector<Postponed> postponed_;
};

}  // namespace barracuda::emulator
