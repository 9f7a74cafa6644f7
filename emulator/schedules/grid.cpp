#include "emulator/schedules/grid.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "emulator/schedules/deadlock.h"
#include "emulator/state/position.h"
#include "emulator/state/weak_state.h"

namespace barracuda::emulator {

namespace {

constexpr std::int32_t kWarpSlice = 4096;

void set_thread_indices(const Dim3& block, Warp& warp, std::uint32_t first) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t thread = first + lane;
    warp.tid[0][lane] = thread % block.x;
    warp.tid[1][lane] = thread / block.x % block.y;
    warp.tid[2][lane] = thread / block.x / block.y;
  }
}

void start_warp(Worker& worker, Cta& cta, Warp& warp, std::uint32_t index) {
  const Launch& launch = *worker.context.launch;
  const auto threads = static_cast<std::uint32_t>(launch.config.block.volume());
  DEBUG_ASSERT(index * kLanes < threads);
  const std::uint32_t lanes = std::min<std::uint32_t>(kLanes, threads - index * kLanes);
  warp.index = index;
  warp.live = lanes == kLanes ? kFullMask : (std::uint32_t{1} << lanes) - 1;
  warp.turn = 0;
  warp.takes_turns = false;
  warp.meetings = 0;
  warp.has_met = true;
  warp.product_groups = 0;
  warp.watch.reset();
  const Function& entry = *launch.program.functions.front();
  Frame* frame = worker.pool.take(entry);
  frame->parent = nullptr;
  frame->call = nullptr;
  frame->lanes = warp.live;
  frame->depth = 0;
  frame->local_base = 0;
  frame->allocated = 0;
  warp.local.reserve(entry.local_bytes);
  warp.fragments.clear();
  warp.fragments.push_back(Fragment{.mask = warp.live, .frame = frame});
  ++cta.live_warps;
}

// True if it executed anything.
bool run_live_warp(Context& c, Cta& cta, Warp& warp, std::int32_t budget) {
  const std::uint64_t before = c.clock;
  run_warp(c, warp, budget);
  DEBUG_ASSERT(warp.live != 0 || cta.live_warps != 0);
  cta.live_warps -= warp.live == 0 ? 1U : 0U;
  if (c.weak != nullptr && cta.live_warps == 0) {
    c.weak->leave_block(cta);
  }
  return c.clock != before;
}

SliceResult state_of(Context& c, const Cluster& cluster, bool progress) {
  if (c.launch->stop.load(std::memory_order_relaxed) || cluster.live_warps() == 0) {
    return SliceResult::kEnded;
  }
  if (!progress) {
    report_deadlock(*c.launch, cluster);
    return SliceResult::kEnded;
  }
  return SliceResult::kRunning;
}

void enter_cta(Context& c, Cta& cta) {
  c.cta = &cta;
  c.shared = cta.shared.get();
  c.shared_bytes = cta.shared_bytes;
}

std::unique_ptr<Cta> allocate_cta(const Launch& launch) {
  auto cta = std::make_unique<Cta>();
  cta->shared_bytes = launch.program.static_shared_bytes + launch.config.dynamic_shared_bytes;
  cta->shared = std::make_unique<std::byte[]>(reserved_shared_offset(cta->shared_bytes) +
                                              kReservedSharedBytes);
  const auto warps =
      static_cast<std::uint32_t>((launch.config.block.volume() + kLanes - 1) / kLanes);
  while (cta->warps.size() < warps) {
    cta->warps.push_back(std::make_unique<Warp>());
    set_thread_indices(launch.config.block, *cta->warps.back(),
                       static_cast<std::uint32_t>(cta->warps.size() - 1) * kLanes);
  }
  return cta;
}

void clear_cta(Cta& cta) {
  reset_barriers(cta);
  cta.tensor_memory.reset();
  std::memset(cta.shared.get(), 0, reserved_shared_offset(cta.shared_bytes) + kReservedSharedBytes);
}

void start_cta(Worker& worker, const Cluster& cluster, Cta& cta, std::uint32_t rank) {
  const LaunchConfig& config = worker.context.launch->config;
  const Dim3 place = position_in(config.cluster, rank);
  cta.rank = rank;
  cta.index = Dim3{.x = cluster.index.x * config.cluster.x + place.x,
                   .y = cluster.index.y * config.cluster.y + place.y,
                   .z = cluster.index.z * config.cluster.z + place.z};
  cta.number = cta.index.x + std::uint64_t{config.grid.x} *
                                 (cta.index.y + std::uint64_t{config.grid.y} * cta.index.z);
  cta.live_warps = 0;
  cta.next_warp = 0;
  for (std::uint32_t i = 0; i < cta.warps.size(); ++i) {
    start_warp(worker, cta, *cta.warps[i], i);
  }
  if (WeakState* weak = worker.context.weak; weak != nullptr) {
    weak->start_block(cta);
  }
}

// Each warp of the cluster once. True if any executed anything.
bool run_round(Context& c, Cluster& cluster) {
  const bool is_reversed = c.launch->is_reversed;
  const auto in_turn = [is_reversed](const auto& all, std::size_t number) -> auto& {
    return *all[is_reversed ? all.size() - 1 - number : number];
  };
  bool progress = false;
  for (std::size_t rank = 0; rank < cluster.ctas.size(); ++rank) {
    Cta& cta = in_turn(cluster.ctas, rank);
    enter_cta(c, cta);
    for (std::size_t i = 0; i < cta.warps.size(); ++i) {
      Warp& warp = in_turn(cta.warps, cta.next_warp);
      cta.next_warp = cta.next_warp + 1 == cta.warps.size() ? 0 : cta.next_warp + 1;
      if (warp.live != 0 && run_live_warp(c, cta, warp, kWarpSlice)) {
        progress = true;
      }
      if (c.launch->stop.load(std::memory_order_relaxed)) {
        return progress;
      }
    }
  }
  return progress;
}

}  // namespace

void Worker::account() {
  context.launch->warp_instructions.fetch_add(context.clock - context.charged);
  context.launch->fences.fetch_add(context.fences);
  context.clock = context.charged = context.fences = 0;
}

std::uint64_t cluster_count(const Launch& launch) {
  return launch.config.grid.volume() / launch.config.cluster.volume();
}

std::unique_ptr<Cluster> make_cluster(Worker& worker, std::uint64_t number) {
  ASSERT(number < cluster_count(*worker.context.launch));
  const Launch& launch = *worker.context.launch;
  const Dim3 &grid = launch.config.grid, &shape = launch.config.cluster;
  std::unique_ptr<Cluster> cluster;
  if (worker.spare.empty()) {
    cluster = std::make_unique<Cluster>();
    while (cluster->ctas.size() < shape.volume()) {
      cluster->ctas.push_back(allocate_cta(launch));
      cluster->ctas.back()->cluster = cluster.get();
    }
  } else {
    cluster = std::move(worker.spare.back());
    worker.spare.pop_back();
    std::ranges::for_each(cluster->ctas, [](const auto& cta) { clear_cta(*cta); });
    std::ranges::fill(cluster->barrier.arrived, 0U);
    cluster->barrier.is_used = false;
  }
  cluster->number = number;
  cluster->index = position_in(
      Dim3{.x = grid.x / shape.x, .y = grid.y / shape.y, .z = grid.z / shape.z}, number);
  for (std::uint32_t rank = 0; rank < cluster->ctas.size(); ++rank) {
    start_cta(worker, *cluster, *cluster->ctas[rank], rank);
  }
  return cluster;
}

void end_cluster(Worker& worker, std::unique_ptr<Cluster> cluster) {
  const bool failed = worker.context.launch->stop.load(std::memory_order_relaxed);
  ASSERT(failed || cluster->live_warps() == 0);
  for (const auto& cta : cluster->ctas) {
    for (const auto& warp : cta->warps) {
      // Bulk copies go on after their thread; what was to arrive in shared memory is not missed.
      if (!failed) {
        warp->bulk_copies.complete_all(kFullMask);
      }
      warp->copies.forget();
      warp->bulk_copies.forget();
    }
    if (WeakState* weak = worker.context.weak; weak != nullptr && !failed) {
      weak->end_block(*cta);
    }
  }
  cluster->transfers.clear();
  worker.spare.push_back(std::move(cluster));
}

SliceResult run_slice(Worker& worker, Cluster& cluster, std::int32_t budget) {
  Context& c = worker.context;
  const std::uint64_t start = c.clock;
  for (;;) {
    const std::uint64_t clock = c.clock, charged = c.charged;
    c.meets = false;
    const bool progress = run_round(c, cluster);
    const SliceResult result = state_of(c, cluster, progress);
    if (result == SliceResult::kEnded || c.meets) {
      return result;
    }
    if ((c.charged - charged) * 2 > c.clock - clock) {
      return SliceResult::kPolling;
    }
    if (c.clock - start > static_cast<std::uint64_t>(budget)) {
      return result;
    }
  }
}

SliceResult run_one_warp(Worker& worker, Cluster& cluster, std::uint64_t choice,
                         std::int32_t budget) {
  Context& c = worker.context;
  const std::size_t warps = cluster.ctas.front()->warps.size();
  const std::size_t total = warps * cluster.ctas.size();
  bool progress = false;
  // From the chosen one on, the first that can run; those that wait with a held store only if no
  // other can.
  const bool steers = c.weak != nullptr && !c.weak->weakness().places.empty();
  for (std::size_t i = 0; i < (steers ? 2 * total : total) && !progress; ++i) {
    const std::size_t number = (choice + i) % total;
    Cta& cta = *cluster.ctas[number / warps];
    Warp& warp = *cta.warps[number % warps];
    if (warp.live != 0 && !(steers && i < total && c.weak->steering.holds(*warp.weak))) {
      enter_cta(c, cta);
      progress = run_live_warp(c, cta, warp, budget);
    }
  }
  return state_of(c, cluster, progress);
}

Residency::Residency(const Launch& launch, std::uint32_t workers) {
  const std::uint64_t warps =
      (launch.config.block.volume() + kLanes - 1) / kLanes * launch.config.cluster.volume();
  ASSERT(warps != 0 && workers != 0);
  soft_cap_ = std::max<std::uint64_t>(
      std::uint64_t{kMultiprocessors} * kMaximumWarpsPerMultiprocessor / warps, workers);
  limit_ = launch.config.cooperative ? cluster_count(launch) : workers;
}

void Residency::ran(std::uint64_t resident) {
  ++slices_;
  // Beyond what a GPU holds, only when nothing has moved for long.
  const std::uint64_t rounds = limit_ < soft_cap_ ? 4 : 256;
  if (slices_ > rounds * resident) {
    limit_ = limit_ + limit_ / 2 + 1;
    slices_ = 0;
  }
}

}  // namespace barracuda::emulator
