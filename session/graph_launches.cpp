// The launches of a graph's kernel nodes: LaunchTracker's part for them.
#include <algorithm>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/strong_id.h"
#include "session/launch_tracker.h"

namespace barracuda::session {
namespace {

using detector::CopyId;
using detector::LaunchId;

LaunchCheck check_of(const GraphKernelLaunch& launch) {
  const bool is_checked = launch.id != LaunchId{} || launch.is_left_out;
  return {.is_left_out = launch.is_left_out,
          .unchecked = is_checked ? "" : "launched by a graph in a way that is not checked"};
}

}  // namespace

std::vector<GraphKernelLaunch> LaunchTracker::begin_graph(const std::vector<GraphKernel>& nodes,
                                                          detector::StreamKey stream,
                                                          std::uint64_t executable) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    ASSERT(std::ranges::all_of(nodes[i].dependencies, [i](std::size_t each) { return each < i; }));
    ASSERT(nodes[i].kernel == nullptr || nodes[i].kernel->is_valid());
  }
  make_room(nodes.size());
  const HeldLock lock(mutex_);
  std::vector<GraphKernelLaunch> launches(nodes.size());
  std::vector<GraphStep> steps(nodes.size());
  std::vector<detector::LaunchInfo> infos(nodes.size());
  std::vector<detector::CopyInfo> copies(nodes.size());
  const Handle context = driver_.current_context();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const GraphKernel& node = nodes[i];
    steps[i].dependencies = node.dependencies;
    if (node.copy && !node.is_disabled && closed_.empty()) {
      copies[i] = open_copy(*node.copy, stream);
      copies[i].id = copies_.next_id();
      steps[i].work = copies[i].id;
    }
    if (node.kernel == nullptr || node.is_disabled || !closed_.empty()) {
      continue;
    }
    launches[i].is_left_out = is_left_out(*node.kernel, node.is_checked);
    if (!node.is_checked || launches[i].is_left_out) {
      continue;
    }
    infos[i].grid = node.grid;
    infos[i].block = node.block;
    infos[i].cluster = node.kernel->cluster(node.cluster);
    detector::LaunchInfo info = infos[i];
    info.id = open(*node.kernel, info, stream);
    std::string reason;
    if (const auto* const taken = add_in_flight(*node.kernel, info, context, reason)) {
      launches[i] = {.id = info.id, .descriptor = reinterpret_cast<std::uint64_t>(taken)};
      infos[i].id = info.id;
      steps[i].work = info.id;
    }
  }
  const auto after = streams_.graph_launch(stream, executable, steps);
  ASSERT(after.size() == nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (launches[i].id != LaunchId{}) {
      infos[i].ordered_after = after[i];
      unlogged_.begin(infos[i].id);
      pipeline_.begin_launch(infos[i]);
    } else if (copies[i].id != CopyId{}) {
      copies[i].ordered_after = after[i];
      copies[i].host_waited = streams_.host_waited();
      unlogged_.begin(copies[i]);
      pipeline_.begin_copy(copies[i]);
    }
  }
  return launches;
}

void LaunchTracker::graph_submitting(const std::vector<GraphKernel>& nodes,
                                     const std::vector<GraphKernelLaunch>& launches) {
  ASSERT(launches.size() == nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].is_kernel && !nodes[i].is_disabled) {
      count(nodes[i].kernel.get(), check_of(launches[i]));
    }
  }
}

void LaunchTracker::graph_submitted(const std::vector<GraphKernel>& nodes,
                                    const std::vector<GraphKernelLaunch>& launches,
                                    DriverStatus status) {
  ASSERT(launches.size() == nodes.size());
  if (status == 0) {
    return;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (launches[i].id != LaunchId{}) {
      end(launches[i].id);
    }
    if (nodes[i].is_kernel && !nodes[i].is_disabled) {
      refused(nodes[i].kernel.get(), check_of(launches[i]));
    }
  }
}

void LaunchTracker::give_up(GraphKernelLaunch& launch) {
  if (launch.id != LaunchId{}) {
    end(launch.id);
  }
  launch = {};
}

}  // namespace barracuda::session
