// Executable graphs as the hooks need them: the kernel nodes of each with a copy of their
// parameters, so that every replay can be given launch descriptors of its own. Thread-safe; a
// plan's lock is held while a replay is prepared and submitted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "preload/hooks.h"
#include "session/graph_launches.h"
#include "session/launch_arguments.h"

namespace barracuda::preload {

using KernelNodeParameters = CUDA_KERNEL_NODE_PARAMS;  // the current form

// Parameters whose argument values are ours, the hidden one last.
class OwnedParameters {
 public:
  OwnedParameters(const KernelNodeParameters& parameters, const ptx::Kernel& kernel);

  // With this hidden argument, and shared memory up to `shared_end` if that is more; the arrays
  // belong to this object.
  KernelNodeParameters with(const wire::HiddenArgument& hidden, std::uint32_t shared_end);

  // The program's own, packed.
  [[nodiscard]] const std::vector<std::byte>& arguments() const { return buffer_; }

  // Whether the node has these since the last with().
  [[nodiscard]] bool has(const wire::HiddenArgument& hidden, std::uint32_t shared_end) const;

 private:
  KernelNodeParameters parameters_;
  std::vector<std::byte> buffer_;
  std::vector<std::size_t> offsets_;
  std::vector<void*> pointers_;
  wire::HiddenArgument hidden_;
  std::uint32_t shared_end_ = 0;
};

struct GraphNode {
  CUgraphNode node = nullptr;
  std::optional<OwnedParameters> parameters;  // of an instrumented kernel
  std::size_t first_inside = 0;  // of a graph as a node: its nodes stand from here to before it
};

struct GraphPlan {
  std::mutex mutex;
  std::uint64_t number = 0;  // of the executable graph; a handle may be used again
  CUgraph graph = nullptr;
  // Two views of the same nodes, those of graphs inside too, dependencies first.
  std::vector<GraphNode> nodes;
  std::vector<session::GraphKernel> kernels;

  // A node stands behind what it depends on and what is inside it. It has parameters of its own
  // where it is checked, and only there: a kernel that keeps an old descriptor logs to a launch
  // that is over.
  [[nodiscard]] bool is_valid() const;
};

class GraphBook {
 public:
  // Nobody else has the plan yet.
  void add(CUgraphExec executable, std::shared_ptr<GraphPlan> plan);
  std::shared_ptr<GraphPlan> find(CUgraphExec executable);
  std::vector<std::pair<CUgraphExec, std::shared_ptr<GraphPlan>>> all();
  // The program destroys the graph. True if an executable graph still needs its nodes: it is then
  // destroyed with the last of them.
  bool defers_destruction(CUgraph graph);
  // The graph to destroy now, if its destruction was deferred; else null.
  CUgraph remove(CUgraphExec executable);

 private:
  bool is_needed(CUgraph graph) const;
  // Each executable graph has a plan, which has a number.
  [[nodiscard]] bool is_valid() const;

  std::mutex mutex_;
  std::map<CUgraphExec, std::shared_ptr<GraphPlan>> plans_;
  std::set<CUgraph> deferred_;
  std::uint64_t last_number_ = 0;
};

}  // namespace barracuda::preload
