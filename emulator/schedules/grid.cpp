#include "emulator/schedules/grid.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace barracuda::emulator {

namespace {

constexpr std::int32_t kWarpSlice = 4096;
constexpr std::size_t kNamedWaits = 8;

std::uint64_t grid_size(const Launch& launch) {
  return launch.config.grid.volume();
}

Dim3 index_in_grid(const Dim3& grid, std::uint64_t number) {
  return Dim3{.x = static_cast<std::uint32_t>(number % grid.x),
              .y = static_cast<std::uint32_t>(number / grid.x % grid.y),
              .z = static_cast<std::uint32_t>(number / grid.x / grid.y)};
}

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
  const std::uint32_t lanes = std::min<std::uint32_t>(kLanes, threads - index * kLanes);
  warp.index = index;
  warp.live = lanes == kLanes ? kFullMask : (std::uint32_t{1} << lanes) - 1;
  warp.turn = 0;
  warp.takes_turns = false;
  const Function& entry = *launch.program.functions.front();
  Frame* frame = worker.pool.take(entry);
  frame->parent = nullptr;
  frame->call = nullptr;
  frame->lanes = warp.live;
  frame->depth = 0;
  frame->local_base = 0;
  warp.local.reserve(entry.local_bytes);
  warp.fragments.clear();
  warp.fragments.push_back(Fragment{.mask = warp.live, .frame = frame});
  ++cta.live_warps;
}

// Who waits where, when nobody can go on.
void report_deadlock(Launch& launch, const Cta& cta) {
  std::string waits;
  std::size_t named = 0;
  DeviceError error;
  error.code = DeviceErrorCode::kDeadlock;
  error.block = cta.index;
  for (const auto& warp : cta.warps) {
    for (const Fragment& fragment : warp->fragments) {
      if (fragment.mask == 0 || fragment.state == FragmentState::kReady) {
        continue;
      }
      const InstructionText& text = launch.program.text_of(*fragment.waits_at);
      if (named++ == 0) {
        const int lane = std::countr_zero(fragment.mask);
        error.thread =
            Dim3{.x = warp->tid[0][lane], .y = warp->tid[1][lane], .z = warp->tid[2][lane]};
        error.function = fragment.frame->function->name;
        error.ptx_line = text.line;
      }
      if (named <= kNamedWaits) {
        waits += fmt::format("; warp {}, lanes {:#010x}, at PTX line {}: {}", warp->index,
                             fragment.mask, text.line, text.text);
        if (fragment.state == FragmentState::kCollective) {
          waits +=
              fmt::format(" (for lanes {:#010x})", fragment.members & warp->live & ~fragment.mask);
        }
      }
    }
  }
  const std::size_t more = named > kNamedWaits ? named - kNamedWaits : 0;
  error.message = fmt::format("deadlock: all threads of block ({},{},{}) of kernel {} wait{}{}",
                              cta.index.x, cta.index.y, cta.index.z, launch.program.kernel, waits,
                              more == 0 ? std::string() : fmt::format("; and {} more", more));
  launch.fail(std::move(error));
}

SliceResult state_of(Context& c, Cta& cta, bool progress) {
  if (c.launch->stop.load(std::memory_order_relaxed) || cta.live_warps == 0) {
    return SliceResult::kEnded;
  }
  if (!progress) {
    report_deadlock(*c.launch, cta);
    return SliceResult::kEnded;
  }
  return SliceResult::kRunning;
}

// True if it executed anything.
bool run_live_warp(Context& c, Cta& cta, Warp& warp, std::int32_t budget) {
  const std::uint64_t before = c.clock;
  run_warp(c, warp, budget);
  cta.live_warps -= warp.live == 0 ? 1U : 0U;
  return c.clock != before;
}

void enter_cta(Context& c, Cta& cta) {
  c.cta = &cta;
  c.shared = cta.shared.get();
  c.shared_bytes = cta.shared_bytes;
}

}  // namespace

void Worker::account() {
  context.launch->warp_instructions.fetch_add(context.clock - context.charged);
  context.clock = context.charged = 0;
}

std::unique_ptr<Cta> make_cta(Worker& worker, std::uint64_t number) {
  const Launch& launch = *worker.context.launch;
  std::unique_ptr<Cta> cta;
  if (worker.spare.empty()) {
    cta = std::make_unique<Cta>();
    cta->shared_bytes = launch.program.static_shared_bytes + launch.config.dynamic_shared_bytes;
    cta->shared = std::make_unique<std::byte[]>(reserved_shared_offset(cta->shared_bytes) +
                                                kReservedSharedBytes);
  } else {
    cta = std::move(worker.spare.back());
    worker.spare.pop_back();
    reset_barriers(*cta);
    std::memset(cta->shared.get(), 0,
                reserved_shared_offset(cta->shared_bytes) + kReservedSharedBytes);
  }
  cta->number = number;
  cta->index = index_in_grid(launch.config.grid, number);
  cta->live_warps = 0;
  cta->next_warp = 0;
  const auto warps =
      static_cast<std::uint32_t>((launch.config.block.volume() + kLanes - 1) / kLanes);
  while (cta->warps.size() < warps) {
    cta->warps.push_back(std::make_unique<Warp>());
    set_thread_indices(launch.config.block, *cta->warps.back(),
                       static_cast<std::uint32_t>(cta->warps.size() - 1) * kLanes);
  }
  for (std::uint32_t i = 0; i < warps; ++i) {
    start_warp(worker, *cta, *cta->warps[i], i);
  }
  return cta;
}

void end_cta(Worker& worker, std::unique_ptr<Cta> cta) {
  worker.spare.push_back(std::move(cta));
}

SliceResult run_slice(Worker& worker, Cta& cta, std::int32_t budget) {
  Context& c = worker.context;
  enter_cta(c, cta);
  const std::uint64_t start = c.clock;
  for (;;) {
    bool progress = false;
    const std::uint64_t clock = c.clock, charged = c.charged;
    for (std::size_t i = 0; i < cta.warps.size(); ++i) {
      Warp& warp = *cta.warps[cta.next_warp];
      cta.next_warp = cta.next_warp + 1 == cta.warps.size() ? 0 : cta.next_warp + 1;
      if (warp.live != 0 && run_live_warp(c, cta, warp, kWarpSlice)) {
        progress = true;
      }
      if (c.launch->stop.load(std::memory_order_relaxed)) {
        return SliceResult::kEnded;
      }
    }
    const SliceResult result = state_of(c, cta, progress);
    if (result == SliceResult::kEnded) {
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

SliceResult run_one_warp(Worker& worker, Cta& cta, std::uint64_t choice, std::int32_t budget) {
  Context& c = worker.context;
  enter_cta(c, cta);
  bool progress = false;
  // From the chosen one on, the first that can run.
  for (std::size_t i = 0; i < cta.warps.size() && !progress; ++i) {
    Warp& warp = *cta.warps[(choice + i) % cta.warps.size()];
    progress = warp.live != 0 && run_live_warp(c, cta, warp, budget);
  }
  return state_of(c, cta, progress);
}

Residency::Residency(const Launch& launch, std::uint32_t workers) {
  const std::uint64_t warps = (launch.config.block.volume() + kLanes - 1) / kLanes;
  soft_cap_ = std::max<std::uint64_t>(
      std::uint64_t{kMultiprocessors} * kMaximumWarpsPerMultiprocessor / warps, workers);
  limit_ = launch.config.cooperative ? grid_size(launch) : workers;
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

void check_deadline(Launch& launch) {
  if (launch.timeout_ms != 0 && std::chrono::steady_clock::now() > launch.deadline) {
    DeviceError error;
    error.code = DeviceErrorCode::kTimeout;
    error.message =
        fmt::format("kernel {} did not end within {} ms", launch.program.kernel, launch.timeout_ms);
    launch.fail(std::move(error));
  }
}

}  // namespace barracuda::emulator
