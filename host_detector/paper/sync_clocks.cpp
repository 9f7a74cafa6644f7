#include "host_detector/paper/sync_clocks.h"

#include "base/assert.h"

namespace barracuda::detector::paper {

using wire::FenceScope;

Clock SyncClocks::of_block(const Location& location, const Block& block) {
  const auto own = location.blocks.find(block.key);
  return own == location.blocks.end() ? location.everywhere : own->second;
}

Clock SyncClocks::of_grid(const Location& location, const Block& block) {
  Clock all;
  std::uint64_t own = 0;
  for (const auto& [key, clock] : location.blocks) {
    if (key.work() == block.key.work()) {
      ++own;
      all.join(clock);
    }
  }
  ASSERT(own <= block.grid);
  if (own < block.grid) {
    all.join(location.everywhere);
  }
  return all;
}

Clock SyncClocks::acquired(const Bytes& bytes, const Block& by, FenceScope scope) const {
  DEBUG_ASSERT(by.grid != 0);
  Clock all;
  for (std::uint32_t i = 0; i < bytes.count; ++i) {
    const auto location = locations_.find(bytes.address + i);
    if (location != locations_.end()) {
      all.join(scope == FenceScope::kGlobal ? of_grid(location->second, by)
                                            : of_block(location->second, by));
    }
  }
  return all;
}

void SyncClocks::release(const Bytes& bytes, const Block& by, FenceScope scope,
                         const Clock& clock) {
  for (std::uint32_t i = 0; i < bytes.count; ++i) {
    Location& location = locations_[bytes.address + i];
    if (scope == FenceScope::kGlobal) {
      location.everywhere = clock;
      location.blocks.clear();
    } else {
      location.blocks[by.key] = clock;
    }
  }
}

void SyncClocks::add(const Bytes& bytes, const Block& by, FenceScope scope, const Clock& clock) {
  for (std::uint32_t i = 0; i < bytes.count; ++i) {
    Location& location = locations_[bytes.address + i];
    if (scope == FenceScope::kGlobal) {
      location.everywhere.join(clock);
      for (auto& each : location.blocks) {
        each.second.join(clock);
      }
    } else {
      location.blocks.try_emplace(by.key, location.everywhere).first->second.join(clock);
    }
  }
}

void SyncClocks::acquire_and_release(const Bytes& bytes, const Block& by, const Scopes& scopes,
                                     const Clock& clock) {
  Clock all = acquired(bytes, by, scopes.acquires);
  all.join(clock);
  release(bytes, by, scopes.releases, all);
}

void SyncClocks::forget(std::uint64_t address, std::uint64_t bytes) {
  erase_if(locations_,
           [&](const auto& each) { return address <= each.first && each.first < address + bytes; });
}

}  // namespace barracuda::detector::paper
