#include "emulator/state/weak_state.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "emulator/state/host_address.h"
#include "emulator/state/launch.h"

namespace barracuda::emulator {

namespace {

// Of one launch; what is older drains first.
constexpr std::size_t kMostPending = std::size_t{1} << 20;
// Of one granule, so that looking there stays quick.
constexpr std::size_t kMostInGranule = 512;

// Whole where the host may look: a value of 1, 2, 4 or 8 bytes is not torn.
void copy_out(std::uint64_t address, const std::byte* value, std::size_t bytes) {
  const auto store = [&]<class T>(T word) {
    std::memcpy(&word, value, sizeof word);
    __atomic_store_n(host_address<T>(address), word, __ATOMIC_RELEASE);
  };
  switch (bytes) {
    case 1:
      return store(std::uint8_t{});
    case 2:
      return store(std::uint16_t{});
    case 4:
      return store(std::uint32_t{});
    case 8:
      return store(std::uint64_t{});
    default:
      std::memcpy(host_address<std::byte>(address), value, bytes);
  }
}

Granule read_granule(std::uint64_t granule) {
  Granule bytes;
  std::memcpy(bytes.data(), host_address<const std::byte>(granule * kGranuleBytes), bytes.size());
  return bytes;
}

}  // namespace

WeakState::WeakState(const Weakness& weakness, Launch& launch)
    : draws(weakness, launch),
      log(weakness, launch),
      weakness_(weakness),
      launch_(launch),
      releases_(launch.memory.releases().load()) {
  const auto is_stale = [](const Decision& decision) { return decision.kind == WeakKind::kStale; };
  keeps_history_ = weakness.stale_reads > 0 || std::ranges::any_of(weakness.decisions, is_stale);
}

// --- memory ---

bool WeakState::is_in_memory(std::uint64_t address) const {
  return launch_.memory.releases().load(std::memory_order_relaxed) == releases_ ||
         launch_.memory.find(address).has_value();
}

void WeakState::change(std::uint64_t address, std::span<const std::byte> bytes,
                       const Commit& commit) {
  if (keeps_history_) {
    Commit noted = commit;
    noted.before = read_granule(granule_of(address));
    history.add(granule_of(address), noted);
  }
  copy_out(address, bytes.data(), bytes.size());
}

// The store is over: it is in memory, unless that has gone.
void WeakState::finish(StoreId id, WeakEnd end) {
  const PendingStore& store = pending[id];
  ++moment_;
  if (store.space == WeakSpace::kShared || is_in_memory(store.address)) {
    const std::span<const std::byte> value(store.value);
    change(store.address, value.subspan(store.address % kGranuleBytes, store.bytes),
           {.visible = moment_,
            .visible_own = store.visible != 0 ? store.visible : moment_,
            .block = store.thread.block,
            .mask = store.mask});
  }
  if (WeakThread* owner = store.buffer->owner; owner != nullptr && keeps_history_) {
    owner->note_access(granule_of(store.address), moment_);
  }
  log.add_end(store, end, turn - store.turn);
  pending.remove(id);
}

void WeakState::delay(PendingStore store, WeakThread& thread) {
  const bool is_strong = store.site->is_strong;
  store.serial = ++serial_;
  store.turn = turn;
  const auto* chain = pending.at(granule_of(store.address));
  if (chain != nullptr && chain->size() >= kMostInGranule) {
    commit(chain->front(), WeakEnd::kCapacity);
  }
  if (pending.size() >= kMostPending) {
    commit_oldest();
  }
  const StoreId id = pending.add(store, thread.buffer);
  (is_strong ? strong_ : weak_).emplace_back(id, serial_);
}

void WeakState::commit(StoreId id, WeakEnd end) {
  std::vector<StoreId> own, block;
  std::uint16_t mask = 0;
  pending.collect_before(id, mask, own);
  if (const StoreBuffer* next = pending[id].buffer->next; next != nullptr) {
    pending.collect_overlapping(*next, granule_of(pending[id].address), mask, block);
  }
  for (const StoreId older : block) {
    finish(older, end);
  }
  for (const StoreId older : own) {
    finish(older, end);
  }
}

void WeakState::publish(StoreId id, WeakEnd end) {
  StoreBuffer* block = pending[id].buffer->next;
  if (block == nullptr || pending[id].is_own_shared) {
    commit(id, end);
    return;
  }
  std::vector<StoreId> own;
  std::uint16_t mask = 0;
  pending.collect_before(id, mask, own);
  for (const StoreId older : own) {
    PendingStore& store = pending[older];
    store.visible = ++moment_;
    if (keeps_history_) {
      store.buffer->owner->note_access(granule_of(store.address), moment_);
    }
    pending.move(older, *block);
  }
}

void WeakState::settle(const WeakThread& thread, std::uint64_t address, std::uint64_t bytes,
                       WeakEnd end) {
  if (pending.size() == 0 || bytes == 0) {
    return;
  }
  const std::uint64_t behind = address + bytes;
  while (address < behind) {
    const std::uint64_t granule = granule_of(address);
    const std::uint64_t here =
        std::min<std::uint64_t>(behind, (granule + 1) * kGranuleBytes) - address;
    if (pending.at(granule) != nullptr) {
      std::vector<StoreId> own, block;
      std::uint16_t mask = mask_of(address, static_cast<std::uint32_t>(here));
      pending.collect_overlapping(thread.buffer, granule, mask, own);
      if (thread.buffer.next != nullptr) {
        pending.collect_overlapping(*thread.buffer.next, granule, mask, block);
      }
      for (const StoreId older : block) {
        finish(older, end);
      }
      for (const StoreId older : own) {
        finish(older, end);
      }
    }
    address += here;
  }
}

void WeakState::settle_all(std::uint64_t begin, std::uint64_t end, WeakEnd reason) {
  for (std::uint64_t granule = granule_of(begin); granule * kGranuleBytes < end; ++granule) {
    while (const auto* chain = pending.at(granule)) {
      commit(chain->front(), reason);
    }
  }
}

void WeakState::drop(std::uint64_t begin, std::uint64_t end, WeakEnd reason) {
  for (std::uint64_t granule = granule_of(begin);
       pending.size() != 0 && granule * kGranuleBytes < end; ++granule) {
    while (const auto* chain = pending.at(granule)) {
      const StoreId id = chain->front();
      log.add_end(pending[id], reason, turn - pending[id].turn);
      pending.remove(id);
    }
  }
  history.forget(begin, end);
}

void WeakState::write(WeakThread& thread, const ThreadName& name, std::uint64_t address,
                      std::span<const std::byte> bytes) {
  settle(thread, address, bytes.size(), WeakEnd::kSettle);
  ++moment_;
  change(address, bytes,
         {.visible = moment_,
          .visible_own = moment_,
          .block = name.block,
          .mask = mask_of(address, static_cast<std::uint32_t>(bytes.size()))});
  if (keeps_history_) {
    thread.note_access(granule_of(address), moment_);
  }
}

void WeakState::note_change(const ThreadName& name, std::uint64_t granule, const Granule& before) {
  const Granule now = read_granule(granule);
  std::uint16_t mask = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    mask |= static_cast<std::uint16_t>((now[i] != before[i] ? 1U : 0U) << i);
  }
  if (mask != 0) {
    ++moment_;
    history.add(granule, {.visible = moment_,
                          .visible_own = moment_,
                          .block = name.block,
                          .mask = mask,
                          .before = before});
  }
}

void WeakState::overlay(const WeakThread& thread, std::uint64_t granule, std::uint64_t moment,
                        Granule& bytes) {
  const auto* chain = pending.at(granule);
  if (chain == nullptr) {
    return;
  }
  const auto apply = [&](const StoreBuffer* buffer) {
    for (const StoreId id : *chain) {
      const PendingStore& store = pending[id];
      if (store.buffer != buffer || store.visible > moment) {
        continue;
      }
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = (store.mask >> i & 1) != 0 ? store.value[i] : bytes[i];
      }
    }
  };
  if (thread.buffer.next != nullptr) {
    apply(thread.buffer.next);
  }
  apply(&thread.buffer);
}

// --- what others do ---

void WeakState::note_access_of(const WeakThread& thread, const ThreadName& name,
                               const WeakSite& site, std::uint64_t address, std::uint32_t bytes,
                               bool reads) {
  const auto* chain = pending.at(granule_of(address));
  if (chain == nullptr) {
    return;
  }
  const std::uint16_t mask = mask_of(address, bytes);
  for (const StoreId id : *chain) {
    PendingStore& store = pending[id];
    const bool is_seen = store.buffer == &thread.buffer || store.buffer == thread.buffer.next;
    if (is_seen || (store.mask & mask) == 0) {
      continue;
    }
    if (store.is_held) {
      seen_.push_back(id);
    }
    if (!reads) {
      continue;
    }
    if (store.reader_site == nullptr) {
      store.reader = name;
      store.reader_site = &site;
    }
    const bool again = store.poller_site == &site && store.poller == name;
    store.poller = name;
    store.poller_site = &site;
    store.polls = again ? store.polls + 1 : 1;
  }
}

void WeakState::release_seen() {
  for (const StoreId id : seen_) {
    if (pending[id].serial != 0 && pending[id].is_held) {
      commit(id, WeakEnd::kHeld);
    }
  }
  seen_.clear();
}

// --- progress ---

bool WeakState::is_alive(const Aged& aged) {
  return pending[aged.first].serial == aged.second;
}

void WeakState::drain_aged(Aging& aging, std::uint64_t age) {
  for (std::size_t left = aging.size(); left > 0; --left) {
    const Aged front = aging.front();
    const bool alive = is_alive(front);
    if (alive && turn - pending[front.first].turn < age) {
      return;
    }
    aging.pop_front();
    if (!alive) {
      continue;
    }
    if (steering.is_by(front.first)) {
      aging.push_back(front);
    } else {
      commit(front.first, WeakEnd::kAge);
    }
  }
}

void WeakState::drain_aged() {
  drain_aged(strong_, weakness_.strong_age);
  drain_aged(weak_, weakness_.weak_age);
}

void WeakState::drain_all(bool strong_only, WeakEnd end) {
  for (Aging* aging : {&strong_, &weak_}) {
    if (aging == &weak_ && strong_only) {
      return;
    }
    Aging kept;
    for (const Aged& aged : *aging) {
      if (is_alive(aged) && end == WeakEnd::kPoll && steering.is_by(aged.first)) {
        kept.push_back(aged);
      } else if (is_alive(aged)) {
        commit(aged.first, end);
      }
    }
    *aging = std::move(kept);
  }
}

void WeakState::commit_oldest() {
  for (Aging* aging : {&weak_, &strong_}) {
    while (!aging->empty()) {
      const Aged front = aging->front();
      aging->pop_front();
      if (is_alive(front)) {
        commit(front.first, WeakEnd::kCapacity);
        return;
      }
    }
  }
}

void WeakState::end_launch(bool failed) {
  if (!failed) {
    drain_all(false, WeakEnd::kLaunchEnd);
    ASSERT(pending.size() == 0);
  } else {
    for (const Aging* aging : {&strong_, &weak_}) {
      for (const Aged& aged : *aging) {
        if (is_alive(aged)) {
          const PendingStore& store = pending[aged.first];
          log.add_end(store, WeakEnd::kLaunchEnd, turn - store.turn);
        }
      }
    }
  }
  log.report();
}

}  // namespace barracuda::emulator
