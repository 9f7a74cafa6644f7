// Graphs. A kernel node is built with a null launch descriptor, which logs nothing; before each
// replay the executable graph's nodes get descriptors of their own, for two replays must not share
// a launch.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/held_lock.h"
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

session::Handle function_of(const CUDA_KERNEL_NODE_PARAMS_v1& parameters) {
  return handle_of(parameters.func);
}

template <typename Parameters>
session::Handle function_of(const Parameters& parameters) {
  return kernel_handle(parameters);
}

// Calls `submit` with a copy of the parameters that has a place for the descriptor. Null goes as it
// is: the driver says what it thinks of that.
template <typename Parameters, typename Submit>
CUresult with_hidden_parameter(const Parameters* parameters, const Submit& submit) {
  if (parameters == nullptr) {
    return submit(parameters);
  }
  session::Launch launch(parameters->kernelParams, parameters->extra);
  if (Session* const session = existing_session()) {
    const session::Handle function = function_of(*parameters);
    HookScope::protect(Loss::kCoverage, [&] { session->variables().note(function); });
    bool placed = false;
    if (!HookScope::protect(Loss::kOrder,
                            [&] {
                              placed = session->variables().place(function);
                              session->launches().begin_unlogged(launch, function);
                            }) ||
        !placed) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
  }
  Parameters extended = *parameters;
  extended.kernelParams = launch.parameters();
  extended.extra = launch.extra();
  return submit(&extended);
}

template <typename Submit>
CUresult with_hidden_parameter(const CUgraphNodeParams* parameters, const Submit& submit) {
  if (parameters == nullptr || parameters->type != CU_GRAPH_NODE_TYPE_KERNEL) {
    return submit(parameters);
  }
  return with_hidden_parameter(&parameters->kernel,
                               [&](const CUDA_KERNEL_NODE_PARAMS_v3* extended) {
                                 CUgraphNodeParams copy = *parameters;
                                 copy.kernel = *extended;
                                 return submit(&copy);
                               });
}

// Calls the driver with a place for the descriptor in `parameters`, which are its last argument.
template <auto Hook, typename Parameters, typename... Arguments>
CUresult call_with_place(const Parameters* parameters, Arguments... arguments) {
  static const OriginalOf<Hook> original;
  const HookScope scope;
  return with_hidden_parameter(parameters, [&](const Parameters* extended) {
    return original(arguments..., const_cast<Parameters*>(extended));
  });
}

template <auto Hook, typename... Arguments>
CUresult instantiate(CUgraphExec* executable, CUgraph graph, Arguments... more) {
  return call_and_note_success<Hook>(
      [&](Session& session) {
        if (auto plan = plan_of(session, graph)) {
          graph_book().add(*executable, std::move(plan));
        }
      },
      executable, graph, more...);
}

// Calls `change` with the plan of an executable graph that the tool knows.
template <typename Change>
void change_plan(CUgraphExec executable, const Change& change) {
  if (const auto plan = graph_book().find(executable)) {
    const HeldLock lock(plan->mutex);
    change(*plan);
    DEBUG_ASSERT(plan->is_valid());
  }
}

// Calls `change` with the number of a node in its plan.
template <typename Change>
void change_node(CUgraphExec executable, CUgraphNode node, const Change& change) {
  change_plan(executable, [&](GraphPlan& plan) {
    for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
      if (plan.nodes[i].node == node) {
        change(plan, i);
      }
    }
  });
}

// The program has given one node of an executable graph other parameters.
void note_changed(Session& session, CUgraphExec executable, CUgraphNode node,
                  const KernelNodeParameters& parameters) {
  change_node(executable, node, [&](GraphPlan& plan, std::size_t i) {
    session::GraphKernel& kernel = plan.kernels[i];
    set_kernel(session, parameters, plan.nodes[i], kernel);
  });
}

void note_copy(CUgraphExec executable, CUgraphNode node, const session::CopyRequest& copy) {
  change_node(executable, node,
              [&](GraphPlan& plan, std::size_t i) { plan.kernels[i].copy = copy; });
}

void note_event(CUgraphExec executable, CUgraphNode node, CUevent event) {
  change_node(executable, node, [&](GraphPlan& plan, std::size_t i) {
    session::GraphKernel& kernel = plan.kernels[i];
    (kernel.records != session::Handle{} ? kernel.records : kernel.waits_for) = handle_of(event);
  });
}

// One replay may have the descriptor of the last, and leave out something else.
bool set_descriptor(CUgraphExec executable, GraphNode& node,
                    const session::GraphKernelLaunch& launch) {
  static const auto set = DRIVER_FUNCTION(cuGraphExecKernelNodeSetParams_v2);
  if (!node.parameters || node.parameters->has(launch.hidden, launch.own_shared_end)) {
    return true;
  }
  const KernelNodeParameters changed = node.parameters->with(launch.hidden, launch.own_shared_end);
  return set(executable, node.node, &changed) == CUDA_SUCCESS;
}

// Gives every kernel node its descriptor. A node that cannot take one keeps none, and its launch
// ends.
void set_descriptors(Session& session, CUgraphExec executable, GraphPlan& plan,
                     std::vector<session::GraphKernelLaunch>& launches) {
  ASSERT(launches.size() == plan.nodes.size());
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    if (!set_descriptor(executable, plan.nodes[i], launches[i])) {
      (void)set_descriptor(executable, plan.nodes[i], {});  // what it had is another launch's now
      session.graphs().give_up(launches[i]);
      plan.kernels[i].is_checked = false;
      plan.nodes[i].parameters.reset();
    }
  }
}

// What the last replay logged to is another launch's by now, or gone.
void clear_descriptors(CUgraphExec executable, GraphPlan& plan) {
  for (GraphNode& node : plan.nodes) {
    (void)set_descriptor(executable, node, {});
  }
}

// The program has given the executable graph what another graph runs, in the place of all its nodes
// or of one graph inside it.
void note_updated(Session& session, CUgraphExec executable, CUgraphNode inside, CUgraph graph) {
  change_plan(executable, [&](GraphPlan& plan) {
    std::size_t first = 0;
    std::size_t end = plan.nodes.size();
    if (inside != nullptr) {
      end = static_cast<std::size_t>(std::ranges::find(plan.nodes, inside, &GraphNode::node) -
                                     plan.nodes.begin());
      if (end == plan.nodes.size()) {
        return;
      }
      first = plan.nodes[end].first_inside;
    }
    const auto changed = plan_of(session, graph);
    GraphPlan unreadable;
    (void)adopt(plan, first, end, changed == nullptr ? unreadable : *changed);
  });
}

// A node that goes takes its name with it: executable graphs keep what it ran, unlogged.
void note_node_destroyed(CUgraphNode node) {
  for (const auto& [executable, plan] : graph_book().all()) {
    const HeldLock lock(plan->mutex);
    const auto found = std::ranges::find(plan->nodes, node, &GraphNode::node);
    if (found == plan->nodes.end()) {
      continue;
    }
    const auto end = static_cast<std::size_t>(found - plan->nodes.begin());
    for (std::size_t i = found->first_inside; i <= end; ++i) {
      (void)set_descriptor(executable, plan->nodes[i], {});
      plan->nodes[i].parameters.reset();
      plan->nodes[i].node = nullptr;
      plan->kernels[i].is_checked = false;
    }
    DEBUG_ASSERT(plan->is_valid());
  }
}

// A later version has all fields of an earlier one.
template <typename Parameters>
KernelNodeParameters second_version_of(const Parameters& other) {
  KernelNodeParameters parameters{.func = other.func,
                                  .gridDimX = other.gridDimX,
                                  .gridDimY = other.gridDimY,
                                  .gridDimZ = other.gridDimZ,
                                  .blockDimX = other.blockDimX,
                                  .blockDimY = other.blockDimY,
                                  .blockDimZ = other.blockDimZ,
                                  .sharedMemBytes = other.sharedMemBytes,
                                  .kernelParams = other.kernelParams,
                                  .extra = other.extra,
                                  .kern = nullptr,
                                  .ctx = nullptr};
  if constexpr (requires { other.kern; }) {
    parameters.kern = other.kern;
    parameters.ctx = other.ctx;
  }
  return parameters;
}

// What a node of an executable graph is from now on.
template <typename Parameters>
void note_node_set(Session& session, CUgraphExec executable, CUgraphNode node,
                   const Parameters& parameters) {
  note_changed(session, executable, node, second_version_of(parameters));
}

void note_node_set(Session& session, CUgraphExec executable, CUgraphNode node,
                   const CUgraphNodeParams& parameters) {
  if (parameters.type == CU_GRAPH_NODE_TYPE_KERNEL) {
    note_node_set(session, executable, node, parameters.kernel);
  } else if (parameters.type == CU_GRAPH_NODE_TYPE_GRAPH) {
    note_updated(session, executable, node, parameters.graph.graph);
  } else if (parameters.type == CU_GRAPH_NODE_TYPE_MEMCPY) {
    note_copy(executable, node, node_copy(session, parameters.memcpy.copyParams));
  } else if (parameters.type == CU_GRAPH_NODE_TYPE_MEMSET) {
    const CUDA_MEMSET_NODE_PARAMS_v2& set = parameters.memset;
    note_copy(executable, node,
              node_memset(session, {.dst = set.dst,
                                    .pitch = set.pitch,
                                    .value = set.value,
                                    .elementSize = set.elementSize,
                                    .width = set.width,
                                    .height = set.height}));
  } else if (parameters.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
    note_event(executable, node, parameters.eventRecord.event);
  } else if (parameters.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) {
    note_event(executable, node, parameters.eventWait.event);
  }
}

template <auto Hook, typename Parameters>
CUresult set_in_executable(CUgraphExec executable, CUgraphNode node, const Parameters* parameters) {
  const HookScope scope;
  const CUresult status = call_with_place<Hook>(parameters, executable, node);
  if (status == CUDA_SUCCESS && parameters != nullptr) {
    scope.run([&](Session& session) { note_node_set(session, executable, node, *parameters); });
  }
  return status;
}

}  // namespace

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return call_with_place<&cuGraphAddKernelNode>(parameters, node, graph, dependencies, count);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 std::size_t count, const KernelNodeParameters* parameters) {
  return call_with_place<&cuGraphAddKernelNode_v2>(parameters, node, graph, dependencies, count);
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node,
                                    const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return call_with_place<&cuGraphKernelNodeSetParams>(parameters, node);
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const KernelNodeParameters* parameters) {
  return call_with_place<&cuGraphKernelNodeSetParams_v2>(parameters, node);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return set_in_executable<&cuGraphExecKernelNodeSetParams>(executable, node, parameters);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                           const KernelNodeParameters* parameters) {
  return set_in_executable<&cuGraphExecKernelNodeSetParams_v2>(executable, node, parameters);
}

CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                        std::size_t count, CUgraphNodeParams* parameters) {
  return call_with_place<&cuGraphAddNode>(parameters, node, graph, dependencies, count);
}

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* edges, std::size_t count,
                           CUgraphNodeParams* parameters) {
  return call_with_place<&cuGraphAddNode_v2>(parameters, node, graph, dependencies, edges, count);
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* parameters) {
  return call_with_place<&cuGraphNodeSetParams>(parameters, node);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                  CUgraphNodeParams* parameters) {
  return set_in_executable<&cuGraphExecNodeSetParams>(executable, node, parameters);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMCPY3D* copy, CUcontext context) {
  return call_and_note_success<&cuGraphExecMemcpyNodeSetParams>(
      [&](Session& session) { note_copy(executable, node, node_copy(session, *copy)); }, executable,
      node, copy, context);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* set, CUcontext context) {
  return call_and_note_success<&cuGraphExecMemsetNodeSetParams>(
      [&](Session& session) { note_copy(executable, node, node_memset(session, *set)); },
      executable, node, set, context);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec executable, CUgraphNode node,
                                            CUevent event) {
  return call_and_note_success<&cuGraphExecEventRecordNodeSetEvent>(
      [&](Session& /*session*/) { note_event(executable, node, event); }, executable, node, event);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  return call_and_note_success<&cuGraphExecEventWaitNodeSetEvent>(
      [&](Session& /*session*/) { note_event(executable, node, event); }, executable, node, event);
}

CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node,
                            char* text, std::size_t bytes) {
  return instantiate<&cuGraphInstantiate>(executable, graph, error_node, text, bytes);
}

CUresult cuGraphInstantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node,
                               char* text, std::size_t bytes) {
  return instantiate<&cuGraphInstantiate_v2>(executable, graph, error_node, text, bytes);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph,
                                     unsigned long long flags) {
  return instantiate<&cuGraphInstantiateWithFlags>(executable, graph, flags);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* executable, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  return instantiate<&cuGraphInstantiateWithParams>(executable, graph, parameters);
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  static const OriginalOf<&cuGraphLaunch> original;
  const HookScope scope;
  const auto plan = graph_book().find(executable);
  if (plan == nullptr) {
    return original(executable, stream);
  }
  scope.run([](Session&) { session::note_python_place(); });  // may wait for Python: no lock held
  const HeldLock lock(plan->mutex);
  std::vector<session::GraphKernelLaunch> launches(plan->nodes.size());
  const session::Handle handle = stream_handle(stream);
  bool captured = false;
  session::Mark begin{};
  const bool begun = scope.run([&](Session& session) {
    captured = session.driver().stream_is_capturing(handle);
    if (!captured) {
      DEBUG_ASSERT(plan->is_valid());
      begin = session.launches().watch_begin(handle);
      launches = session.graphs().begin(plan->kernels, handle, plan->number);
      set_descriptors(session, executable, *plan, launches);
      session.graphs().submitting(plan->kernels, launches);
    }
  });
  if (!begun || captured) {
    HookScope::protect(Loss::kOrder, [&] { clear_descriptors(executable, *plan); });
  }
  const CUresult status = original(executable, stream);
  if (begun && !captured) {
    scope.run([&](Session& session) {
      session.launches().watch_end(begin, handle, {});
      session.graphs().submitted(plan->kernels, launches, status);
      session.contexts().observe(status);
    });
  }
  return status;
}

CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode* error_node,
                           CUgraphExecUpdateResult* result) {
  return call_and_note_success<&cuGraphExecUpdate>(
      [&](Session& session) { note_updated(session, executable, nullptr, graph); }, executable,
      graph, error_node, result);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph,
                              CUgraphExecUpdateResultInfo* result) {
  return call_and_note_success<&cuGraphExecUpdate_v2>(
      [&](Session& session) { note_updated(session, executable, nullptr, graph); }, executable,
      graph, result);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                            CUgraph graph) {
  return call_and_note_success<&cuGraphExecChildGraphNodeSetParams>(
      [&](Session& session) { note_updated(session, executable, node, graph); }, executable, node,
      graph);
}

CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node, unsigned is_enabled) {
  return call_and_note_success<&cuGraphNodeSetEnabled>(
      [&](Session& /*session*/) {
        change_node(executable, node, [&](GraphPlan& plan, std::size_t i) {
          plan.kernels[i].is_disabled = is_enabled == 0;
        });
      },
      executable, node, is_enabled);
}

CUresult cuGraphDestroyNode(CUgraphNode node) {
  return note_and_call<&cuGraphDestroyNode>(
      [&](Session& /*session*/) { note_node_destroyed(node); }, node);
}

// The nodes are needed to give each replay its descriptors: the graph goes with its last
// executable.
CUresult cuGraphDestroy(CUgraph graph) {
  static const OriginalOf<&cuGraphDestroy> original;
  const HookScope scope;
  return graph_book().defers_destruction(graph) ? CUDA_SUCCESS : original(graph);
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  static const OriginalOf<&cuGraphExecDestroy> original;
  static const auto destroy_graph = DRIVER_FUNCTION(cuGraphDestroy);
  const HookScope scope;
  const CUgraph graph = graph_book().remove(executable);
  const CUresult status = original(executable);
  if (graph != nullptr) {
    destroy_graph(graph);
  }
  return status;
}

}  // namespace barracuda::preload
