// Reads an instantiated graph's nodes from the driver.
#pragma once

#include <memory>

#include "preload/graph_book.h"
#include "preload/hook.h"
#include "session/session.h"

namespace barracuda::preload {

// Null if the graph cannot be read.
std::shared_ptr<GraphPlan> plan_of(session::Session& session, CUgraph graph);

// The nodes of `plan` from `first` to before `end` now run what `changed` has at the same places.
// False if it has another shape: nothing of theirs is known any more, and they run unlogged.
bool adopt(GraphPlan& plan, std::size_t first, std::size_t end, GraphPlan& changed);

// What a kernel node runs from now on, but for its attributes.
void set_kernel(session::Session& session, const KernelNodeParameters& parameters, GraphNode& node,
                session::GraphKernel& kernel);

// What a node does that copies or sets memory.
session::CopyRequest node_copy(session::Session& session, const CUDA_MEMCPY3D& copy);
session::CopyRequest node_memset(session::Session& session, const CUDA_MEMSET_NODE_PARAMS& set);

// A kernel is named by either of two fields.
template <typename Parameters>
session::Handle kernel_handle(const Parameters& parameters) {
  return parameters.func != nullptr ? handle_of(parameters.func) : handle_of(parameters.kern);
}

// A node's function may be one that the driver made of a library's kernel by itself.
std::shared_ptr<const session::KernelBinding> find_kernel(session::Session& session,
                                                          session::Handle function);

}  // namespace barracuda::preload
