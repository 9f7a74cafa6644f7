// From the parameters that CUDA has for each kind of node to the work of the node.
#pragma once

#include "emulator/libcuda/graph/graph.h"

namespace barracuda::emulator::driver {

CUresult make_work(const CUDA_KERNEL_NODE_PARAMS_v2& parameters, Work& work);
CUresult make_work(const CUgraphNodeParams& parameters, Work& work);

// What a node of a graph does from now on, if it is work of the same kind. A kernel keeps its
// attributes.
CUresult replace_work(GraphNode& node, Work work);

CUDA_KERNEL_NODE_PARAMS_v2 current_form(const CUDA_KERNEL_NODE_PARAMS_v1& parameters);

}  // namespace barracuda::emulator::driver
