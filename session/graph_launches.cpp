#include "session/graph_launches.h"

#include <algorithm>
#include <string>

#include "base/assert.h"
#include "base/held_lock.h"
#include "base/strong_id.h"

namespace barracuda::session {
namespace {

using detector::CopyId;
using detector::LaunchId;

// A kernel that is not instrumented has nothing to log, or a reason of its own.
LaunchCheck check_of(const GraphKernel& node, const GraphKernelLaunch& launch) {
  const bool is_checked = launch.id != LaunchId{} || launch.is_left_out ||
                          (node.kernel != nullptr && !node.kernel->instrumented());
  return {.is_left_out = launch.is_left_out,
          .unchecked = is_checked ? "" : "launched by a graph in a way that is not checked"};
}

// Whose memory for states a node takes. It is zeroed before the graph begins, so no two nodes share
// a piece, nor do replays in two streams: only the next replay in the same stream is behind it.
detector::StreamKey states_of(std::uint64_t executable, std::uint64_t stream, std::size_t node) {
  constexpr int kNodeBits = 20, kStreamBits = 20;
  ASSERT(node >> kNodeBits == 0 && stream >> kStreamBits == 0);
  return {executable << (kNodeBits + kStreamBits) | stream << kNodeBits | node,
          detector::StreamKey::Kind::kGraphStep};
}

}  // namespace

std::vector<GraphKernelLaunch> GraphLaunches::begin(const std::vector<GraphKernel>& nodes,
                                                    Handle stream, std::uint64_t executable) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    ASSERT(std::ranges::all_of(nodes[i].dependencies, [i](std::size_t each) { return each < i; }));
    ASSERT(nodes[i].kernel == nullptr || nodes[i].kernel->is_valid());
  }
  const detector::StreamKey key = streams_.key_of(stream);
  const std::uint64_t number = streams_.number_of(key);
  in_flight_.make_room(nodes.size());
  const HeldLock lock(in_flight_.mutex());
  std::vector<GraphKernelLaunch> launches(nodes.size());
  std::vector<GraphStep> steps(nodes.size());
  std::vector<detector::LaunchInfo> infos(nodes.size());
  std::vector<detector::CopyInfo> copies(nodes.size());
  std::vector<LaunchesInFlight::InFlight> taken(nodes.size());
  const bool is_open = in_flight_.closed().empty();
  const Handle context = driver_.current_context();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const GraphKernel& node = nodes[i];
    steps[i].dependencies = node.dependencies;
    steps[i].waits_for = node.waits_for;
    steps[i].records = node.records;
    if (node.copy && !node.is_disabled && is_open) {
      copies[i] = copies_.open(*node.copy, key);
      copies[i].id = books_.next_copy();
      steps[i].work = copies[i].id;
    }
    if (node.kernel == nullptr || node.is_disabled || !is_open) {
      continue;
    }
    launches[i].is_left_out =
        node.is_checked ? filter_.leaves_out_next(*node.kernel) : !filter_.matches(*node.kernel);
    if (!node.is_checked || launches[i].is_left_out) {
      continue;
    }
    infos[i].grid = node.request.grid;
    infos[i].block = node.request.block;
    infos[i].cluster = node.kernel->cluster(node.request.cluster);
    detector::LaunchInfo info = infos[i];
    info.id = books_.open(*node.kernel, info, number);
    std::string reason;
    if (const auto* const added = in_flight_.add(*node.kernel, info, context, reason)) {
      taken[i] = *added;  // the next one may move it
      launches[i].id = info.id;
      launches[i].hidden.descriptor = reinterpret_cast<std::uint64_t>(added->descriptor);
      infos[i].id = info.id;
      steps[i].work = info.id;
    }
  }
  const GraphOrder order = streams_.graph_launch(key, executable, steps);
  ASSERT(order.after.size() == nodes.size());
  // A kernel with a programmatic edge may begin before the one before it is over.
  const bool is_chain = order.is_chain && std::ranges::none_of(nodes, [](const GraphKernel& node) {
                          return node.request.is_programmatic &&
                                 !(node.is_checked && node.kernel->kernel->waits_first);
                        });
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (launches[i].id != LaunchId{}) {
      infos[i].ordered_after = order.after[i];
      if (is_chain) {
        leave_out(nodes[i], taken[i], {.handle = stream, .key = key},
                  states_of(executable, number, i), launches[i]);
      } else {
        in_flight_.unlogged().begin(infos[i].id);
      }
      pipeline_.begin_launch(infos[i]);
    } else if (copies[i].id != CopyId{}) {
      copies[i].ordered_after = order.after[i];
      copies[i].host_waited = streams_.host_waited();
      in_flight_.unlogged().begin(copies[i]);
      pipeline_.begin_copy(copies[i]);
    }
  }
  return launches;
}

void GraphLaunches::leave_out(const GraphKernel& node, const LaunchesInFlight::InFlight& taken,
                              const Stream& stream, detector::StreamKey states,
                              GraphKernelLaunch& launch) {
  const UnloggedAccesses::BegunLaunch begun{
      .id = taken.id,
      .stream = stream.key,
      .kernel = *node.kernel->kernel,
      .arguments = node.arguments,
      .variables = node.request.variables,
      .is_programmatic = node.request.is_programmatic,
      .grid = node.request.grid,
      .block = node.request.block,
      .most_owner_bytes = taken.area->states().most_owner_bytes()};
  LaunchRequest request = node.request;
  request.stream = stream.handle;
  const LaunchesInFlight::LeftOut left_out = in_flight_.leave_out(
      taken, request, begun, in_flight_.unlogged().begin_in_chain(begun), states);
  std::ranges::copy(left_out.shortcuts, launch.hidden.shortcuts);
  launch.own_shared_end = left_out.own_shared_end;
}

void GraphLaunches::submitting(const std::vector<GraphKernel>& nodes,
                               const std::vector<GraphKernelLaunch>& launches) {
  ASSERT(launches.size() == nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].is_kernel && !nodes[i].is_disabled) {
      books_.count(nodes[i].kernel.get(), check_of(nodes[i], launches[i]));
    }
  }
}

void GraphLaunches::submitted(const std::vector<GraphKernel>& nodes,
                              const std::vector<GraphKernelLaunch>& launches, DriverStatus status) {
  ASSERT(launches.size() == nodes.size());
  if (status == 0) {
    return;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (launches[i].id != LaunchId{}) {
      in_flight_.end(launches[i].id);
    }
    if (nodes[i].is_kernel && !nodes[i].is_disabled) {
      books_.refused(nodes[i].kernel.get(), check_of(nodes[i], launches[i]));
    }
  }
}

void GraphLaunches::give_up(GraphKernelLaunch& launch) {
  if (launch.id != LaunchId{}) {
    in_flight_.end(launch.id);
  }
  launch = {};
}

}  // namespace barracuda::session
