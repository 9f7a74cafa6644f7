#include "emulator/execute/weak_order.h"

#include <bit>

#include "emulator/state/cta.h"
#include "emulator/state/launch.h"

namespace barracuda::emulator {

namespace {

// After this many turns the rest of a drain is made at once, so that it ends however fast others
// store.
constexpr std::uint32_t kMostYields = 32;

// The store of these buffers whose number is `choice` modulo how many there are.
struct Waiting {
  std::size_t count = 0;
  StoreId chosen = 0;
  bool is_own = false;  // in a thread's buffer
};

std::size_t count_of(const WeakLanes& lanes, std::uint32_t mask, const StoreBuffer* block) {
  std::size_t count = block == nullptr ? 0 : block->stores.size();
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    count += lanes[static_cast<std::size_t>(std::countr_zero(rest))].buffer.stores.size();
  }
  return count;
}

Waiting choose(const WeakLanes& lanes, std::uint32_t mask, const StoreBuffer* block,
               std::uint64_t random) {
  Waiting waiting{.count = count_of(lanes, mask, block)};
  if (waiting.count == 0) {
    return waiting;
  }
  std::size_t number = random % waiting.count;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto& stores = lanes[static_cast<std::size_t>(std::countr_zero(rest))].buffer.stores;
    if (number < stores.size()) {
      waiting.chosen = stores[number];
      waiting.is_own = true;
      return waiting;
    }
    number -= stores.size();
  }
  waiting.chosen = block->stores[number];
  return waiting;
}

}  // namespace

ThreadName thread_name(const Context& c, int lane) {
  return {.block = c.cta->number,
          .thread = c.warp->index * static_cast<std::uint32_t>(kLanes) +
                    static_cast<std::uint32_t>(lane)};
}

bool drain(Context& c, std::uint32_t mask, wire::Scope scope, WeakEnd end, Pace pace) {
  WeakState& weak = *c.weak;
  WeakLanes& lanes = *c.warp->weak;
  const bool is_wide = scope != wire::Scope::kCta;
  const StoreBuffer* block = is_wide ? &c.cta->weak_buffer : nullptr;
  WeakThread& first = lanes[static_cast<std::size_t>(std::countr_zero(mask))];
  if (first.yields == 0) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      weak.log.add_drain(lanes[static_cast<std::size_t>(std::countr_zero(rest))], weak.pending);
    }
  }
  for (;;) {
    const std::uint64_t random = weak.draws.random();
    const Waiting waiting = choose(lanes, mask, block, random >> 1);
    if (waiting.count == 0) {
      first.yields = 0;
      return true;
    }
    if (waiting.is_own && !is_wide) {
      weak.publish(waiting.chosen, end);
    } else {
      weak.commit(waiting.chosen, end);
    }
    if (pace == Pace::kInTurns && waiting.count > 1 && (random & 1) != 0 &&
        first.yields < kMostYields) {
      ++first.yields;
      return false;
    }
  }
}

Step try_again(Context& c) {
  --c.pc;
  c.yields = true;
  return Step::kSwitch;
}

void reset_windows(Context& c, std::uint32_t mask) {
  c.weak->reset_windows(*c.warp->weak, mask);
}

Step execute_weak_order(Context& c, const Instruction& in, std::uint32_t mask) {
  const WeakSite& site = *in.weak;
  if (site.drains && !drain(c, mask, site.scope, site.end, Pace::kInTurns)) {
    return try_again(c);
  }
  if (site.is_fence && c.weak->log.counts()) {
    c.weak->log.count_fences(*site.place, mask);
  }
  if (site.resets) {
    reset_windows(c, mask);
  }
  return site.plain(c, in, mask);
}

Step execute_weak_builtin(Context& c, const Instruction& in, std::uint32_t mask) {
  drain(c, mask, wire::Scope::kSys, WeakEnd::kRelease, Pace::kAtOnce);
  reset_windows(c, mask);
  return in.weak->plain(c, in, mask);
}

void settle_for_copy(Context& c, int lane, const std::byte* memory, std::uint64_t bytes) {
  if (c.weak != nullptr && memory != nullptr) {
    WeakThread& thread = (*c.warp->weak)[static_cast<std::size_t>(lane)];
    c.weak->settle(thread, reinterpret_cast<std::uint64_t>(memory), bytes, WeakEnd::kSettle);
    thread.reset_window(c.weak->moment());
  }
}

}  // namespace barracuda::emulator
