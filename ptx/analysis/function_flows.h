// The control flow of a module's functions, and where their threads come together: several passes
// ask for it, so it is found once a function. Only for as long as no statement is inserted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/expected.h"
#include "ptx/analysis/uniform_blocks.h"
#include "ptx/control_flow.h"
#include "ptx/module.h"

namespace barracuda::ptx {

class FunctionFlows {
 public:
  // Errors: those of build_control_flow.
  Expected<const ControlFlow*> flow_of(const Module& module, std::uint32_t function);

  // By basic block. The function must have a control flow.
  const std::vector<Uniformity>& uniform_blocks_of(const Module& module, std::uint32_t function);

 private:
  struct Flow {
    ControlFlow blocks;
    std::optional<std::vector<Uniformity>> uniform;
  };

  std::map<std::uint32_t, Flow> flows_;  // by index into Module::functions; pointers stay valid
};

}  // namespace barracuda::ptx
