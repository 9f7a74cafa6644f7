#include "emulator/state/weak_draws.h"

#include "base/splitmix64.h"
#include "emulator/state/launch.h"

namespace barracuda::emulator {

WeakDraws::WeakDraws(const Weakness& weakness, const Launch& launch)
    : weakness_(weakness),
      launch_(launch),
      takes_kernel_(!weakness.takes_kernel || weakness.takes_kernel(launch.program.kernel)),
      generator_(splitmix64(weakness.seed ^ splitmix64(launch.grid_id))) {
  const Dim3 &grid = launch.config.grid, &block = launch.config.block;
  for (const Decision& decision : weakness.decisions) {
    if (decision.launch == launch.grid_id && decision.kernel == launch.program.kernel) {
      const Dim3 &b = decision.block, &t = decision.thread;
      decisions_.insert({static_cast<std::uint64_t>(decision.kind),
                         b.x + std::uint64_t{grid.x} * (b.y + std::uint64_t{grid.y} * b.z),
                         t.x + std::uint64_t{block.x} * (t.y + std::uint64_t{block.y} * t.z),
                         decision.number});
    }
  }
}

std::uint64_t WeakDraws::hash(WeakKind kind, const ThreadName& thread, std::uint64_t number) const {
  std::uint64_t value = splitmix64(weakness_.seed + static_cast<std::uint64_t>(kind));
  for (const std::uint64_t part : {launch_.grid_id, thread.block, std::uint64_t{thread.thread}}) {
    value = splitmix64(value ^ splitmix64(part));
  }
  return splitmix64(value + number);
}

bool WeakDraws::is_made_weak(WeakKind kind, const ThreadName& thread, std::uint64_t number,
                             const WeakSite& site) const {
  if (weakness_.has_decisions) {
    return !decisions_.empty() && decisions_.contains({static_cast<std::uint64_t>(kind),
                                                       thread.block, thread.thread, number});
  }
  const double probability = kind == WeakKind::kStore   ? weakness_.delay_stores
                             : kind == WeakKind::kStale ? weakness_.stale_reads
                                                        : weakness_.late_loads;
  constexpr double kWhole = 4'294'967'296.0;
  return takes_kernel_ && site.is_selected && probability > 0 &&
         static_cast<double>(hash(kind, thread, number) & 0xffff'ffffU) < probability * kWhole;
}

std::uint64_t WeakDraws::random() {
  return splitmix64(generator_++);
}

}  // namespace barracuda::emulator
