#include "ptx/analysis/function_flows.h"

#include <utility>

namespace barracuda::ptx {

Expected<const ControlFlow*> FunctionFlows::flow_of(const Module& module, std::uint32_t function) {
  auto found = flows_.find(function);
  if (found == flows_.end()) {
    TRY(ControlFlow blocks, build_control_flow(module, module.functions[function]));
    found = flows_.emplace(function, Flow{.blocks = std::move(blocks), .uniform = {}}).first;
  }
  return &found->second.blocks;
}

const std::vector<Uniformity>& FunctionFlows::uniform_blocks_of(const Module& module,
                                                                std::uint32_t function) {
  Flow& flow = flows_.at(function);
  if (!flow.uniform) {
    flow.uniform = find_uniform_blocks(module, module.functions[function], flow.blocks);
  }
  return *flow.uniform;
}

}  // namespace barracuda::ptx
