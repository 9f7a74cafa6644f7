// Threads and blocks of a launch whose memory is weak: how they start and end.
#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "emulator/state/cluster.h"
#include "emulator/state/weak_state.h"

namespace barracuda::emulator {

namespace {

std::uint64_t shared_begin(const Cta& cta) {
  return reinterpret_cast<std::uint64_t>(cta.shared.get());
}

}  // namespace

void WeakState::take_over(StoreBuffer& buffer) {
  std::vector<StoreId> stores = buffer.stores;
  // In their order: by when the block came to see them, and those that it does not by their age.
  std::ranges::sort(stores, {}, [this](StoreId id) {
    const PendingStore& store = pending[id];
    return std::pair(store.visible, store.serial);
  });
  for (const StoreId id : stores) {
    pending.move(id, ended_);
  }
}

void WeakState::reset_windows(WeakLanes& lanes, std::uint32_t mask) const {
  for (std::uint32_t rest = keeps_history_ ? mask : 0; rest != 0; rest &= rest - 1) {
    lanes[static_cast<std::size_t>(std::countr_zero(rest))].reset_window(moment_);
  }
}

void WeakState::start_block(Cta& cta) {
  const bool has_level = weakness_.block_level && weakness_.shape == WeakShape::kFull;
  cta.weak = this;
  for (const auto& warp : cta.warps) {
    if (warp->weak == nullptr) {
      warp->weak = std::make_unique<WeakLanes>();
    }
    for (WeakThread& thread : *warp->weak) {
      thread = {};
      thread.buffer.owner = &thread;
      thread.buffer.next = has_level ? &cta.weak_buffer : nullptr;
    }
  }
}

// A thread's exit orders nothing: what it has delayed stays, but for what it has stored into the
// shared memory of other blocks, which may end now.
void WeakState::exit(const WeakLanes& lanes, std::uint32_t mask) {
  const bool is_bugaroo = weakness_.shape == WeakShape::kBugaroo;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto& stores = lanes[static_cast<std::size_t>(std::countr_zero(rest))].buffer.stores;
    for (std::size_t i = 0; i < stores.size();) {
      const PendingStore& store = pending[stores[i]];
      const bool is_remote = store.space == WeakSpace::kShared && !store.is_own_shared;
      if (is_bugaroo || is_remote) {
        commit(stores[i], WeakEnd::kExit);
        i = 0;
      } else {
        ++i;
      }
    }
  }
}

// Others of the cluster may go on; they do not access its shared memory any more.
void WeakState::leave_block(Cta& cta) {
  if (cta.cluster->ctas.size() > 1 && pending.size() != 0) {
    settle_all(shared_begin(cta), shared_begin(cta) + cta.shared_bytes, WeakEnd::kExit);
    const std::vector<StoreId> stores = cta.weak_buffer.stores;
    for (const StoreId id : stores) {
      if (pending[id].space == WeakSpace::kShared && pending[id].buffer == &cta.weak_buffer) {
        commit(id, WeakEnd::kExit);
      }
    }
  }
}

void WeakState::end_block(Cta& cta) {
  const std::uint64_t begin = shared_begin(cta);
  drop(begin, begin + cta.shared_bytes, WeakEnd::kExit);
  take_over(cta.weak_buffer);
  for (const auto& warp : cta.warps) {
    for (WeakThread& thread : *warp->weak) {
      take_over(thread.buffer);
    }
  }
}

}  // namespace barracuda::emulator
