#include "session/launch_stress.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/splitmix64.h"
#include "base/strong_id.h"
#include "device_logger/stress_beside.h"
#include "session/block_schedule.h"
#include "session/stress_parameters.h"

namespace barracuda::session {
namespace {

using detector::Dim3;
using stress::StressKind;

// Of the blocks that the program asked for, in hundredths.
constexpr std::uint64_t kLeastExtra = 15, kMostExtra = 50;
constexpr std::uint64_t kNanoseconds = 1'000'000;  // of a millisecond
// On a GPU the time ends a disturbing block. The emulated device knows none that repeats.
constexpr std::uint32_t kMostLooks = 1U << 20, kEmulatedLooks = 4;
constexpr std::uint32_t kMostX = 0x7fffffff, kMostYZ = 0xffff;
constexpr std::uint32_t kMostWarps = 32;  // of a block
// Beside a launch: a block's threads, and milliseconds before a cooperative one has its room.
constexpr std::uint32_t kMostThreadsBeside = 256;
constexpr std::uint64_t kMostBesideCooperative = 10;

std::uint32_t extent(const Dim3& size, std::size_t axis) {
  return axis == 0 ? size.x : axis == 1 ? size.y : size.z;
}

void set_extent(Dim3& size, std::size_t axis, std::uint32_t value) {
  (axis == 0 ? size.x : axis == 1 ? size.y : size.z) = value;
}

bool divides(const Dim3& cluster, const Dim3& grid) {
  return cluster.volume() != 0 && grid.x % cluster.x == 0 && grid.y % cluster.y == 0 &&
         grid.z % cluster.z == 0;
}

// The axis along which a slice of clusters is smallest: x of a grid with one dimension.
std::size_t axis_of(const Dim3& grid) {
  std::size_t best = 0;
  for (std::size_t axis = 1; axis < 3; ++axis) {
    if (grid.volume() / extent(grid, axis) < grid.volume() / extent(grid, best)) {
      best = axis;
    }
  }
  return best;
}

}  // namespace

bool is_stressed(const Options& options, bool is_emulated) {
  const bool is_rewritten = options.delay_levels == "rewrite";
  return (options.stress != "none" && (is_rewritten || !is_emulated)) ||
         (options.shuffle != "none" && is_rewritten);
}

Expected<stress::StressShape> stress_of(const Options& options, bool is_emulated) {
  if (options.stress == "none") {
    return stress::StressShape{};
  }
  if (is_emulated && options.delay_levels != "rewrite") {
    return unexpected(
        {.message = fmt::format(
             "option stress: the emulated device has no hardware to stress; what makes memory weak "
             "there is delay-stores, stale-reads and late-loads (stress={} is for a GPU)",
             options.stress)});
  }
  StressParameters parameters;
  if (!options.stress_parameters.empty()) {
    auto text = read_file(options.stress_parameters);
    if (!text) {
      return unexpected({.message = "option stress-parameters: " + text.error().to_string()});
    }
    auto read = parse_stress_parameters(*text, options.stress_parameters);
    if (!read) {
      return unexpected({.message = "option stress-parameters: " + read.error().to_string()});
    }
    parameters = std::move(*read);
  }
  parameters.stress.kind = stress_kind(options.stress).value_or(parameters.stress.kind);
  return parameters.stress;
}

Expected<std::unique_ptr<LaunchStress>> LaunchStress::create(const Options& options,
                                                             DeviceDriver& driver,
                                                             Problems& problems) {
  // The constructor is private: no make_unique.
  std::unique_ptr<LaunchStress> made(new LaunchStress(options, driver, problems));
  TRY(made->shape_, stress_of(options, driver.is_emulated()));
  return made;
}

std::uint64_t LaunchStress::draw() {
  const std::uint64_t seed = options_.weak_seed.value_or(options_.seed.value_or(1));
  return mix_bits(mix_bits(seed) ^ ++draws_);
}

DevicePointer LaunchStress::scratch() {
  const auto [known, is_new] = scratch_.try_emplace(driver_.current_context());
  if (is_new) {
    known->second = driver_.allocate_device(std::uint64_t{4} * shape_.words);
    if (known->second == DevicePointer{}) {
      problems_.add("there is no memory for stress to disturb: nothing is stressed");
    }
  }
  return known->second;
}

void LaunchStress::shuffle(const Request& request, wire::StressedLaunch& launch) {
  if (options_.shuffle == "none") {
    return;
  }
  const std::uint64_t cluster = request.cluster.volume();
  if (request.kernel.renumbers_blocks) {
    // Of clusters not so many fit as of their blocks alone: each keeps to one part of the device.
    const std::uint64_t at_once = driver_.size().multiprocessors / (cluster == 1 ? 1 : 2 * cluster);
    launch.clusters =
        shuffled(static_cast<std::uint32_t>(std::max<std::uint64_t>(at_once, 1)), draw());
  }
  if (options_.shuffle == "warps" && request.kernel.warps_together != 0) {
    launch.warps_together = request.kernel.warps_together;
    launch.warps = shuffled(kMostWarps, draw());
  }
}

// Whole slices of clusters along one axis, so that the grid stays one.
void LaunchStress::add_blocks(const Request& request, Placed& placed) {
  if (shape_.kind == StressKind::kNone || request.is_cooperative || !request.kernel.resizes_grid) {
    return;
  }
  const std::size_t axis = axis_of(request.grid);
  const std::uint32_t thickness = extent(request.cluster, axis);
  const std::uint64_t slice = request.grid.volume() / extent(request.grid, axis) * thickness;
  const std::uint64_t share = kLeastExtra + draw() % (kMostExtra - kLeastExtra + 1);
  const std::uint64_t wanted = request.grid.volume() * share / 100;
  const std::uint64_t slices = std::max<std::uint64_t>(wanted / slice, 1);
  const std::uint64_t longer = extent(request.grid, axis) + slices * thickness;
  // A grid of few slices would more than double.
  const bool is_small = slices * slice <= request.grid.volume();
  if (!is_small || longer > (axis == 0 ? kMostX : kMostYZ) ||
      request.grid.volume() + slices * slice > std::numeric_limits<std::uint32_t>::max()) {
    return;
  }
  const DevicePointer memory = scratch();
  if (memory == DevicePointer{}) {
    return;
  }
  set_extent(placed.grid, axis, static_cast<std::uint32_t>(longer));
  wire::StressedLaunch& launch = placed.launch;
  const std::uint64_t cluster = request.cluster.volume();
  launch.extra = static_cast<std::uint32_t>(slices * slice / cluster);
  launch.phase = static_cast<std::uint32_t>(draw() % (placed.grid.volume() / cluster));
  launch.seed = static_cast<std::uint32_t>(draw());
  launch.scratch = index_of(memory);
  launch.stress = shape_;
  launch.looks = driver_.is_emulated() ? kEmulatedLooks : kMostLooks;
  launch.nanoseconds =
      driver_.is_emulated() ? 0 : static_cast<std::uint32_t>(options_.stress_time * kNanoseconds);
}

std::optional<LaunchStress::Placed> LaunchStress::place(const Request& request) {
  // Clusters are counted in 32 bits on the device.
  if (!divides(request.cluster, request.grid) ||
      request.grid.volume() > std::numeric_limits<std::uint32_t>::max()) {
    return std::nullopt;
  }
  Placed placed{.launch = {}, .grid = request.grid};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    placed.launch.grid[axis] = extent(request.grid, axis);
    placed.launch.cluster[axis] = extent(request.cluster, axis);
  }
  shuffle(request, placed.launch);
  add_blocks(request, placed);
  return placed;
}

// A cooperative launch needs room for all its blocks at once. No program's result depends on when
// it gets that, but it is to get it soon.
std::uint32_t LaunchStress::begin_beside(const Request& request,
                                         const std::optional<Placed>& placed) {
  const bool has_blocks = placed && placed->launch.extra != 0;
  if (!options_.stress_beside || has_blocks || driver_.is_emulated() ||
      shape_.kind == StressKind::kNone) {
    return 0;
  }
  stop_ = stop_ == nullptr ? driver_.allocate_pinned(sizeof(std::uint32_t)) : stop_;
  const DevicePointer memory = scratch();
  if (stop_ == nullptr || memory == DevicePointer{}) {
    return 0;
  }
  const std::uint64_t milliseconds = request.is_cooperative
                                         ? std::min(options_.stress_time, kMostBesideCooperative)
                                         : options_.stress_time;
  wire::StressBeside launch{.stress = shape_,
                            .number = beside_ + 1,
                            .stop = reinterpret_cast<std::uint64_t>(stop_),
                            .scratch = index_of(memory),
                            .seed = static_cast<std::uint32_t>(draw()),
                            .nanoseconds = static_cast<std::uint32_t>(milliseconds * kNanoseconds)};
  std::array<void*, 1> arguments{&launch};
  const bool is_started = driver_.start({.ptx = wire::stress_beside_ptx(),
                                         .name = wire::kStressBesideKernel,
                                         .blocks = driver_.size().multiprocessors,
                                         .threads = std::min(shape_.threads, kMostThreadsBeside),
                                         .arguments = arguments});
  if (!is_started) {
    problems_.add("the driver has refused a kernel that stresses memory beside a launch");
    return 0;
  }
  return ++beside_;
}

void LaunchStress::end_beside(std::uint32_t number, Handle stream) {
  if (!driver_.write_behind(stream, stop_, number)) {
    problems_.add(
        "stress beside a launch ends by its time alone: the driver writes no word behind "
        "the launch");
  }
}

void LaunchStress::close(Handle context) {
  driver_.forget_started(context);
  if (const auto found = scratch_.find(context); found != scratch_.end()) {
    if (found->second != DevicePointer{}) {
      driver_.free_device(found->second);
    }
    scratch_.erase(found);
  }
}

}  // namespace barracuda::session
