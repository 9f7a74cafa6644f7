#include "host_detector/paper/block_state.h"

#include <bit>

#include "host_detector/shadow/shadow_memory.h"

namespace barracuda::detector::paper {

BlockState::BlockState(LaunchState& of, std::uint32_t block)
    : launch(of),
      index(block),
      cluster(of.shape.cluster_of(block)),
      key(CtaKey(of.shape.info.id, block)),
      live_threads(of.shape.threads_per_cta) {
  Clock initial(key);
  initial.join(of.initial);
  warps.reserve(of.shape.warps_per_cta);
  for (std::uint32_t warp = 0; warp < of.shape.warps_per_cta; ++warp) {
    const std::uint32_t left = of.shape.threads_per_cta - warp * wire::kWarpLanes;
    const std::uint32_t lanes =
        left >= wire::kWarpLanes ? kAllLanes : (std::uint32_t{1} << left) - 1;
    warps.push_back({.paths = WarpPaths(key, warp, lanes, initial)});
  }
}

bool BlockBarrier::is_valid() const {
  std::uint64_t all = 0;
  for (const Arrival& arrival : arrivals) {
    if ((arrival.waiting & ~arrival.lanes) != 0) {
      return false;
    }
    all += static_cast<std::uint64_t>(std::popcount(arrival.waiting));
  }
  return all == waiting;
}

LaunchState::LaunchState(const LaunchInfo& info)
    : shape(info), live_threads(info.grid.volume() * info.block.volume()) {}

BlockState* LaunchState::find_block(std::uint32_t index) {
  const auto known = blocks.find(index);
  if (known != blocks.end()) {
    return known->second.get();
  }
  if (index >= shape.info.grid.volume() || is_finished(index)) {
    return nullptr;
  }
  return blocks.emplace(index, std::make_unique<BlockState>(*this, index)).first->second.get();
}

std::optional<MemoryPlace> place_of(std::uint64_t tagged, const Actor& actor, std::uint64_t bytes) {
  const std::uint64_t address = wire::address_of(tagged);
  const wire::AddressSpace space = wire::space_of(tagged);
  if (space == wire::AddressSpace::kGlobal) {
    return MemoryPlace{.shared_of = nullptr, .address = address};
  }
  BlockState* owner = &actor.block;
  std::uint64_t offset = address;
  if (space == wire::AddressSpace::kSharedCluster) {
    LaunchState& launch = actor.block.launch;
    const auto index =
        launch.shape.cta_of_rank(actor.block.index, static_cast<std::uint32_t>(address >> 32));
    owner = index ? launch.find_block(*index) : nullptr;
    offset = address & 0xFFFFFFFFU;
  } else if (space != wire::AddressSpace::kShared) {
    return std::nullopt;
  }
  if (owner == nullptr || offset + bytes > SharedShadow::kLimit) {
    return std::nullopt;
  }
  return MemoryPlace{.shared_of = owner, .address = offset};
}

}  // namespace barracuda::detector::paper
