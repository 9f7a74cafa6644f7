// Graphs. A kernel node is built with a null launch descriptor, which logs nothing; before each
// replay the executable graph's nodes get descriptors of their own, for two replays must not share
// a launch.
#include <algorithm>
#include <functional>
#include <utility>

#include "preload/graph_plan.h"
#include "preload/hook.h"
#include "session/python_place.h"

namespace barracuda::preload {
namespace {

using session::Session;

GraphBook& graph_book() {
  static auto* const book = new GraphBook;  // hooks may run until the process is gone
  return *book;
}

// Calls `submit` with a copy of the parameters that has a place for the descriptor.
template <typename Parameters, typename Submit>
CUresult with_hidden_parameter(const Parameters& parameters, session::Handle function,
                               const Submit& submit) {
  session::Launch launch(parameters.kernelParams, parameters.extra);
  if (Session* const session = existing_session()) {
    HookScope::protect(Loss::kCoverage, [&] { session->note_variables(function); });
    if (!HookScope::protect(Loss::kOrder,
                            [&] { session->launches().begin_unlogged(launch, function); })) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
  }
  Parameters extended = parameters;
  extended.kernelParams = launch.parameters();
  extended.extra = launch.extra();
  return submit(extended);
}

session::Handle function_of(const CUDA_KERNEL_NODE_PARAMS_v1& parameters) {
  return handle_of(parameters.func);
}

template <typename Parameters>
session::Handle function_of(const Parameters& parameters) {
  return kernel_handle(parameters);
}

template <typename Submit>
CUresult with_hidden_node_parameter(const CUgraphNodeParams* parameters, const Submit& submit) {
  if (parameters == nullptr || parameters->type != CU_GRAPH_NODE_TYPE_KERNEL) {
    return submit(parameters);
  }
  return with_hidden_parameter(parameters->kernel, function_of(parameters->kernel),
                               [&](const CUDA_KERNEL_NODE_PARAMS_v3& extended) {
                                 CUgraphNodeParams copy = *parameters;
                                 copy.kernel = extended;
                                 return submit(&copy);
                               });
}

void note_instantiated(const HookScope& scope, CUresult status, const CUgraphExec* executable,
                       CUgraph graph) {
  if (status != CUDA_SUCCESS) {
    return;
  }
  scope.run([&](Session& session) {
    if (auto plan = plan_of(session, graph)) {
      graph_book().add(*executable, std::move(plan));
    }
  });
}

// The program has given one node of an executable graph other parameters.
void note_changed(const HookScope& scope, CUgraphExec executable, CUgraphNode node,
                  const KernelNodeParameters& parameters) {
  scope.run([&](Session& session) {
    const auto plan = graph_book().find(executable);
    if (plan == nullptr) {
      return;
    }
    const std::lock_guard lock(plan->mutex);
    for (std::size_t i = 0; i < plan->nodes.size(); ++i) {
      if (plan->nodes[i].node != node) {
        continue;
      }
      session::GraphKernel& kernel = plan->kernels[i];
      kernel.kernel = find_kernel(session, kernel_handle(parameters));
      kernel.grid = {.x = parameters.gridDimX, .y = parameters.gridDimY, .z = parameters.gridDimZ};
      kernel.block = {
          .x = parameters.blockDimX, .y = parameters.blockDimY, .z = parameters.blockDimZ};
      kernel.is_checked = kernel.kernel != nullptr && kernel.kernel->instrumented();
      plan->nodes[i].parameters.reset();
      if (kernel.is_checked) {
        plan->nodes[i].parameters.emplace(parameters, *kernel.kernel->kernel);
      }
    }
  });
}

void note_copy(const HookScope& scope, CUgraphExec executable, CUgraphNode node,
               const std::function<session::CopyRequest(Session&)>& describe) {
  scope.run([&](Session& session) {
    const auto plan = graph_book().find(executable);
    if (plan == nullptr) {
      return;
    }
    const std::lock_guard lock(plan->mutex);
    for (std::size_t i = 0; i < plan->nodes.size(); ++i) {
      if (plan->nodes[i].node == node) {
        plan->kernels[i].copy = describe(session);
      }
    }
  });
}

bool set_descriptor(CUgraphExec executable, GraphNode& node, std::uint64_t descriptor) {
  static const OriginalOf<&graph_executable_set_kernel_v2> set;
  if (!node.parameters || node.parameters->descriptor() == descriptor) {
    return true;
  }
  const KernelNodeParameters changed = node.parameters->with_descriptor(descriptor);
  return set(executable, node.node, &changed) == CUDA_SUCCESS;
}

// Gives every kernel node its descriptor. A node that cannot take one keeps none, and its launch
// ends.
void set_descriptors(Session& session, CUgraphExec executable, GraphPlan& plan,
                     std::vector<session::GraphKernelLaunch>& launches) {
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    if (!set_descriptor(executable, plan.nodes[i], launches[i].descriptor)) {
      session.launches().give_up(launches[i]);
      plan.kernels[i].is_checked = false;
      plan.nodes[i].parameters.reset();
    }
  }
}

// What the last replay logged to is another launch's by now, or gone.
void clear_descriptors(CUgraphExec executable, GraphPlan& plan) {
  for (GraphNode& node : plan.nodes) {
    (void)set_descriptor(executable, node, 0);
  }
}

CUresult launch_graph(const Original<decltype(graph_launch)>& original, CUgraphExec executable,
                      CUstream stream, DefaultStream meaning) {
  const HookScope scope;
  const auto plan = graph_book().find(executable);
  if (plan == nullptr) {
    return original(executable, stream);
  }
  scope.run([](Session&) { session::note_python_place(); });  // may wait for Python: no lock held
  const std::lock_guard lock(plan->mutex);
  std::vector<session::GraphKernelLaunch> launches(plan->nodes.size());
  const session::Handle handle = stream_handle(stream, meaning);
  bool captured = false;
  session::Mark begin{};
  const bool begun = scope.run([&](Session& session) {
    captured = session.driver().stream_is_capturing(handle);
    if (!captured) {
      begin = session.launches().watch_begin(handle);
      launches = session.launches().begin_graph(plan->kernels, session.streams().key_of(handle),
                                                plan->number);
      set_descriptors(session, executable, *plan, launches);
      session.launches().graph_submitting(plan->kernels, launches);
    }
  });
  if (!begun || captured) {
    HookScope::protect(Loss::kOrder, [&] { clear_descriptors(executable, *plan); });
  }
  const CUresult status = original(executable, stream);
  if (begun && !captured) {
    scope.run([&](Session& session) {
      session.launches().watch_end(begin, handle, {});
      session.launches().graph_submitted(plan->kernels, launches, status);
      session.observe(status);
    });
  }
  return status;
}

// The program has given the executable graph what another graph runs, in the place of all its nodes
// or of one graph inside it.
void note_updated(const HookScope& scope, CUgraphExec executable, CUgraphNode inside,
                  CUgraph graph) {
  scope.run([&](Session& session) {
    const auto plan = graph_book().find(executable);
    if (plan == nullptr) {
      return;
    }
    const std::lock_guard lock(plan->mutex);
    std::size_t first = 0;
    std::size_t end = plan->nodes.size();
    if (inside != nullptr) {
      end = static_cast<std::size_t>(std::ranges::find(plan->nodes, inside, &GraphNode::node) -
                                     plan->nodes.begin());
      if (end == plan->nodes.size()) {
        return;
      }
      first = plan->nodes[end].first_inside;
    }
    const auto changed = plan_of(session, graph);
    GraphPlan unreadable;
    (void)adopt(*plan, first, end, changed == nullptr ? unreadable : *changed);
  });
}

// A node that goes takes its name with it: executable graphs keep what it ran, unlogged.
void note_node_destroyed(const HookScope& scope, CUgraphNode node) {
  scope.run([&](Session& /*session*/) {
    for (const auto& [executable, plan] : graph_book().all()) {
      const std::lock_guard lock(plan->mutex);
      const auto found = std::ranges::find(plan->nodes, node, &GraphNode::node);
      if (found == plan->nodes.end()) {
        continue;
      }
      const auto end = static_cast<std::size_t>(found - plan->nodes.begin());
      for (std::size_t i = found->first_inside; i <= end; ++i) {
        (void)set_descriptor(executable, plan->nodes[i], 0);
        plan->nodes[i].parameters.reset();
        plan->nodes[i].node = nullptr;
        plan->kernels[i].is_checked = false;
      }
    }
  });
}

void note_enabled(const HookScope& scope, CUgraphExec executable, CUgraphNode node,
                  bool is_enabled) {
  scope.run([&](Session& /*session*/) {
    if (const auto plan = graph_book().find(executable)) {
      const std::lock_guard lock(plan->mutex);
      for (std::size_t i = 0; i < plan->nodes.size(); ++i) {
        if (plan->nodes[i].node == node) {
          plan->kernels[i].is_disabled = !is_enabled;
        }
      }
    }
  });
}

}  // namespace

CUresult graph_add_kernel(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                          std::size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  static const OriginalOf<&graph_add_kernel> original;
  const HookScope scope;
  if (parameters == nullptr) {
    return original(node, graph, dependencies, count, parameters);
  }
  return with_hidden_parameter(*parameters, function_of(*parameters), [&](const auto& extended) {
    return original(node, graph, dependencies, count, &extended);
  });
}

CUresult graph_add_kernel_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                             std::size_t count, const KernelNodeParameters* parameters) {
  static const OriginalOf<&graph_add_kernel_v2> original;
  const HookScope scope;
  if (parameters == nullptr) {
    return original(node, graph, dependencies, count, parameters);
  }
  return with_hidden_parameter(*parameters, function_of(*parameters), [&](const auto& extended) {
    return original(node, graph, dependencies, count, &extended);
  });
}

CUresult graph_set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  static const OriginalOf<&graph_set_kernel> original;
  const HookScope scope;
  if (parameters == nullptr) {
    return original(node, parameters);
  }
  return with_hidden_parameter(*parameters, function_of(*parameters),
                               [&](const auto& extended) { return original(node, &extended); });
}

CUresult graph_set_kernel_v2(CUgraphNode node, const KernelNodeParameters* parameters) {
  static const OriginalOf<&graph_set_kernel_v2> original;
  const HookScope scope;
  if (parameters == nullptr) {
    return original(node, parameters);
  }
  return with_hidden_parameter(*parameters, function_of(*parameters),
                               [&](const auto& extended) { return original(node, &extended); });
}

CUresult graph_executable_set_kernel(CUgraphExec executable, CUgraphNode node,
                                     const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  static const OriginalOf<&graph_executable_set_kernel> original;
  const HookScope scope;
  if (parameters == nullptr) {
    return original(executable, node, parameters);
  }
  const CUresult status = with_hidden_parameter(
      *parameters, function_of(*parameters),
      [&](const auto& extended) { return original(executable, node, &extended); });
  if (status == CUDA_SUCCESS) {
    KernelNodeParameters current{};
    current.func = parameters->func;
    current.gridDimX = parameters->gridDimX;
    current.gridDimY = parameters->gridDimY;
    current.gridDimZ = parameters->gridDimZ;
    current.blockDimX = parameters->blockDimX;
    current.blockDimY = parameters->blockDimY;
    current.blockDimZ = parameters->blockDimZ;
    current.sharedMemBytes = parameters->sharedMemBytes;
    current.kernelParams = parameters->kernelParams;
    current.extra = parameters->extra;
    note_changed(scope, executable, node, current);
  }
  return status;
}

CUresult graph_executable_set_kernel_v2(CUgraphExec executable, CUgraphNode node,
                                        const KernelNodeParameters* parameters) {
  static const OriginalOf<&graph_executable_set_kernel_v2> original;
  const HookScope scope;
  if (parameters == nullptr) {
    return original(executable, node, parameters);
  }
  const CUresult status = with_hidden_parameter(
      *parameters, function_of(*parameters),
      [&](const auto& extended) { return original(executable, node, &extended); });
  if (status == CUDA_SUCCESS) {
    note_changed(scope, executable, node, *parameters);
  }
  return status;
}

CUresult graph_add_node(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                        std::size_t count, CUgraphNodeParams* parameters) {
  static const OriginalOf<&graph_add_node> original;
  const HookScope scope;
  return with_hidden_node_parameter(parameters, [&](const CUgraphNodeParams* extended) {
    return original(node, graph, dependencies, count, const_cast<CUgraphNodeParams*>(extended));
  });
}

CUresult graph_add_node_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* edges, std::size_t count,
                           CUgraphNodeParams* parameters) {
  static const OriginalOf<&graph_add_node_v2> original;
  const HookScope scope;
  return with_hidden_node_parameter(parameters, [&](const CUgraphNodeParams* extended) {
    return original(node, graph, dependencies, edges, count,
                    const_cast<CUgraphNodeParams*>(extended));
  });
}

CUresult graph_node_set(CUgraphNode node, CUgraphNodeParams* parameters) {
  static const OriginalOf<&graph_node_set> original;
  const HookScope scope;
  return with_hidden_node_parameter(parameters, [&](const CUgraphNodeParams* extended) {
    return original(node, const_cast<CUgraphNodeParams*>(extended));
  });
}

CUresult graph_executable_node_set(CUgraphExec executable, CUgraphNode node,
                                   CUgraphNodeParams* parameters) {
  static const OriginalOf<&graph_executable_node_set> original;
  const HookScope scope;
  const CUresult status =
      with_hidden_node_parameter(parameters, [&](const CUgraphNodeParams* extended) {
        return original(executable, node, const_cast<CUgraphNodeParams*>(extended));
      });
  if (status == CUDA_SUCCESS && parameters != nullptr &&
      parameters->type == CU_GRAPH_NODE_TYPE_KERNEL) {
    const CUDA_KERNEL_NODE_PARAMS_v3& kernel = parameters->kernel;
    note_changed(scope, executable, node,
                 {.func = kernel.func,
                  .gridDimX = kernel.gridDimX,
                  .gridDimY = kernel.gridDimY,
                  .gridDimZ = kernel.gridDimZ,
                  .blockDimX = kernel.blockDimX,
                  .blockDimY = kernel.blockDimY,
                  .blockDimZ = kernel.blockDimZ,
                  .sharedMemBytes = kernel.sharedMemBytes,
                  .kernelParams = kernel.kernelParams,
                  .extra = kernel.extra,
                  .kern = kernel.kern,
                  .ctx = kernel.ctx});
  } else if (status == CUDA_SUCCESS && parameters != nullptr &&
             parameters->type == CU_GRAPH_NODE_TYPE_GRAPH) {
    note_updated(scope, executable, node, parameters->graph.graph);
  } else if (status == CUDA_SUCCESS && parameters != nullptr &&
             parameters->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
    note_copy(scope, executable, node,
              [&](Session& session) { return node_copy(session, parameters->memcpy.copyParams); });
  } else if (status == CUDA_SUCCESS && parameters != nullptr &&
             parameters->type == CU_GRAPH_NODE_TYPE_MEMSET) {
    const CUDA_MEMSET_NODE_PARAMS_v2& set = parameters->memset;
    note_copy(scope, executable, node, [&](Session& session) {
      return node_memset(session, {.dst = set.dst,
                                   .pitch = set.pitch,
                                   .value = set.value,
                                   .elementSize = set.elementSize,
                                   .width = set.width,
                                   .height = set.height});
    });
  }
  return status;
}

CUresult graph_executable_set_copy(CUgraphExec executable, CUgraphNode node,
                                   const CUDA_MEMCPY3D* copy, CUcontext context) {
  static const OriginalOf<&graph_executable_set_copy> original;
  const HookScope scope;
  const CUresult status = original(executable, node, copy, context);
  if (status == CUDA_SUCCESS) {
    note_copy(scope, executable, node, [&](Session& session) { return node_copy(session, *copy); });
  }
  return status;
}

CUresult graph_executable_set_memset(CUgraphExec executable, CUgraphNode node,
                                     const CUDA_MEMSET_NODE_PARAMS* set, CUcontext context) {
  static const OriginalOf<&graph_executable_set_memset> original;
  const HookScope scope;
  const CUresult status = original(executable, node, set, context);
  if (status == CUDA_SUCCESS) {
    note_copy(scope, executable, node,
              [&](Session& session) { return node_memset(session, *set); });
  }
  return status;
}

CUresult graph_instantiate(CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node,
                           char* text, std::size_t bytes) {
  static const OriginalOf<&graph_instantiate> original;
  const HookScope scope;
  const CUresult status = original(executable, graph, error_node, text, bytes);
  note_instantiated(scope, status, executable, graph);
  return status;
}

CUresult graph_instantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node,
                              char* text, std::size_t bytes) {
  static const OriginalOf<&graph_instantiate_v2> original;
  const HookScope scope;
  const CUresult status = original(executable, graph, error_node, text, bytes);
  note_instantiated(scope, status, executable, graph);
  return status;
}

CUresult graph_instantiate_with_flags(CUgraphExec* executable, CUgraph graph,
                                      unsigned long long flags) {
  static const OriginalOf<&graph_instantiate_with_flags> original;
  const HookScope scope;
  const CUresult status = original(executable, graph, flags);
  note_instantiated(scope, status, executable, graph);
  return status;
}

CUresult graph_instantiate_with_parameters(CUgraphExec* executable, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  static const OriginalOf<&graph_instantiate_with_parameters> original;
  const HookScope scope;
  const CUresult status = original(executable, graph, parameters);
  note_instantiated(scope, status, executable, graph);
  return status;
}

CUresult graph_instantiate_with_parameters_ptsz(CUgraphExec* executable, CUgraph graph,
                                                CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  static const OriginalOf<&graph_instantiate_with_parameters_ptsz> original;
  const HookScope scope;
  const CUresult status = original(executable, graph, parameters);
  note_instantiated(scope, status, executable, graph);
  return status;
}

CUresult graph_launch(CUgraphExec executable, CUstream stream) {
  static const OriginalOf<&graph_launch> original;
  return launch_graph(original, executable, stream, DefaultStream::kLegacy);
}

CUresult graph_launch_ptsz(CUgraphExec executable, CUstream stream) {
  static const OriginalOf<&graph_launch_ptsz> original;
  return launch_graph(original, executable, stream, DefaultStream::kPerThread);
}

CUresult graph_executable_update(CUgraphExec executable, CUgraph graph, CUgraphNode* error_node,
                                 CUgraphExecUpdateResult* result) {
  static const OriginalOf<&graph_executable_update> original;
  const HookScope scope;
  const CUresult status = original(executable, graph, error_node, result);
  if (status == CUDA_SUCCESS) {
    note_updated(scope, executable, nullptr, graph);
  }
  return status;
}

CUresult graph_executable_update_v2(CUgraphExec executable, CUgraph graph,
                                    CUgraphExecUpdateResultInfo* result) {
  static const OriginalOf<&graph_executable_update_v2> original;
  const HookScope scope;
  const CUresult status = original(executable, graph, result);
  if (status == CUDA_SUCCESS) {
    note_updated(scope, executable, nullptr, graph);
  }
  return status;
}

CUresult graph_executable_set_child(CUgraphExec executable, CUgraphNode node, CUgraph graph) {
  static const OriginalOf<&graph_executable_set_child> original;
  const HookScope scope;
  const CUresult status = original(executable, node, graph);
  if (status == CUDA_SUCCESS) {
    note_updated(scope, executable, node, graph);
  }
  return status;
}

CUresult graph_node_set_enabled(CUgraphExec executable, CUgraphNode node, unsigned is_enabled) {
  static const OriginalOf<&graph_node_set_enabled> original;
  const HookScope scope;
  const CUresult status = original(executable, node, is_enabled);
  if (status == CUDA_SUCCESS) {
    note_enabled(scope, executable, node, is_enabled != 0);
  }
  return status;
}

CUresult graph_destroy_node(CUgraphNode node) {
  static const OriginalOf<&graph_destroy_node> original;
  const HookScope scope;
  note_node_destroyed(scope, node);
  return original(node);
}

// The nodes are needed to give each replay its descriptors: the graph goes with its last
// executable.
CUresult graph_destroy(CUgraph graph) {
  static const OriginalOf<&graph_destroy> original;
  const HookScope scope;
  return graph_book().defers_destruction(graph) ? CUDA_SUCCESS : original(graph);
}

CUresult graph_executable_destroy(CUgraphExec executable) {
  static const OriginalOf<&graph_executable_destroy> original;
  static const OriginalOf<&graph_destroy> destroy_graph;
  const HookScope scope;
  const CUgraph graph = graph_book().remove(executable);
  const CUresult status = original(executable);
  if (graph != nullptr) {
    destroy_graph(graph);
  }
  return status;
}

}  // namespace barracuda::preload
