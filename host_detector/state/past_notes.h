// What the warps of blocks that are over had synchronised by (clock/sync_notes.h), for reports: of
// the last few thousand blocks. Several threads may use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tbb/spin_mutex.h>

#include "base/strong_id.h"
#include "host_detector/clock/sync_notes.h"
#include "host_detector/state/launch_state.h"

namespace barracuda::detector {

class PastNotes {
 public:
  static constexpr std::size_t kBlocks = 2048;

  PastNotes() : blocks_(kBlocks) {}

  void keep(const CtaState& cta) {
    const std::size_t index = index_of(cta.key);
    const tbb::spin_mutex::scoped_lock lock(mutexes_[index % kMutexes]);
    Block& block = blocks_[index];
    block.cta = cta.key;
    block.warps.clear();
    for (const WarpState& warp : cta.warps) {
      block.warps.push_back(warp.sync_notes);
    }
  }

  [[nodiscard]] std::optional<SyncNotes> find(CtaKey cta, std::uint32_t warp) const {
    const std::size_t index = index_of(cta);
    const tbb::spin_mutex::scoped_lock lock(mutexes_[index % kMutexes]);
    const Block& block = blocks_[index];
    return block.cta == cta && warp < block.warps.size() ? std::optional(block.warps[warp])
                                                         : std::nullopt;
  }

 private:
  static constexpr std::size_t kMutexes = 16;

  struct Block {
    CtaKey cta{};
    std::vector<SyncNotes> warps;
  };

  // Blocks of one launch have places next to each other, and small launches places apart.
  static std::size_t index_of(CtaKey cta) {
    constexpr std::size_t kApart = 521;
    const std::uint32_t launch = barracuda::index_of(cta.work().packed());
    return (launch * kApart + cta.cta()) % kBlocks;
  }

  mutable std::array<tbb::spin_mutex, kMutexes> mutexes_;
  std::vector<Block> blocks_;
};

}  // namespace barracuda::detector
