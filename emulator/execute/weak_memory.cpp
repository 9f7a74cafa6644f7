#include "emulator/execute/weak_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "emulator/execute/lanes/addresses.h"
#include "emulator/execute/weak_order.h"
#include "emulator/state/cluster.h"
#include "emulator/state/host_address.h"
#include "emulator/state/launch.h"
#include "emulator/state/program.h"

namespace barracuda::emulator {

using baseline::Addresses;
using baseline::source;
using baseline::target;

namespace {

using Bytes = LoadBytes;  // of a lane

bool resolve(Context& c, const Instruction& in, std::uint32_t mask, const Access& access,
             Addresses& where) {
  return static_cast<Place>(in.flags) == Place::kShared
             ? baseline::resolve<Place::kShared>(c, in, mask, access, where)
             : baseline::resolve<Place::kGeneric>(c, in, mask, access, where);
}

WeakThread& thread_of(const Context& c, int lane) {
  return (*c.warp->weak)[static_cast<std::size_t>(lane)];
}

Slot element_slot(const Instruction& in, std::uint32_t k) {
  return in.count == 1 ? in.d : static_cast<const VectorSlots*>(in.extra)->slots[k];
}

bool is_local(const Addresses& where, int lane) {
  return (where.local_lanes >> lane & 1) != 0;
}

// --- a lane's bytes and its registers ---

void read_registers(const Context& c, const Instruction& in, int lane, Bytes& bytes) {
  const std::uint32_t size = in.weak->element_bytes;
  const std::size_t stride = size == 8 ? 8 : 4;
  for (std::uint32_t k = 0; k < in.count; ++k) {
    const auto* lanes = source<std::byte>(c, element_slot(in, k));
    std::memcpy(bytes.data() + std::size_t{k} * size,
                lanes + static_cast<std::size_t>(lane) * stride, size);
  }
}

std::uint32_t widened(std::uint32_t value, std::uint32_t size, bool is_signed) {
  if (!is_signed || size == 4) {
    return value;
  }
  return size == 1 ? static_cast<std::uint32_t>(static_cast<std::int8_t>(value))
                   : static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
}

void write_registers(const Context& c, const Instruction& in, int lane, const Bytes& bytes) {
  const std::uint32_t size = in.weak->element_bytes;
  for (std::uint32_t k = 0; k < in.count; ++k) {
    const Slot slot = element_slot(in, k);
    const std::byte* element = bytes.data() + std::size_t{k} * size;
    if (slot == kNoSlot) {
      continue;
    }
    if (size == 8) {
      std::memcpy(target<std::uint64_t>(c, slot) + lane, element, size);
    } else {
      std::uint32_t value = 0;
      std::memcpy(&value, element, size);
      target<std::uint32_t>(c, slot)[lane] = widened(value, size, in.weak->is_signed);
    }
  }
}

// An element of interleaved memory lies in one piece.
template <class Move>
void for_each_local(const Instruction& in, std::uint64_t address, Move move) {
  const std::uint32_t size = in.weak->element_bytes;
  for (std::uint32_t k = 0; k < in.count; ++k) {
    const std::uint64_t byte = std::uint64_t{k} * size;
    move(host_address<std::byte>(address + local_step(byte)), byte, size);
  }
}

// Whole where the host may write: a value of 1, 2, 4 or 8 bytes is not torn.
void read_memory(std::uint64_t address, std::uint32_t bytes, std::byte* value) {
  const auto load = [&]<class T>(T word) {
    word = __atomic_load_n(host_address<const T>(address), __ATOMIC_ACQUIRE);
    std::memcpy(value, &word, sizeof word);
  };
  switch (bytes) {
    case 1:
      return load(std::uint8_t{});
    case 2:
      return load(std::uint16_t{});
    case 4:
      return load(std::uint32_t{});
    case 8:
      return load(std::uint64_t{});
    default:
      std::memcpy(value, host_address<const std::byte>(address), bytes);
  }
}

// --- where a lane accesses memory ---

bool is_in_shared(const Cta& cta, std::uint64_t address) {
  return address - reinterpret_cast<std::uint64_t>(cta.shared.get()) < cta.shared_bytes;
}

WeakAccess locate(const Context& c, std::uint64_t address, std::uint32_t bytes) {
  WeakAccess access{.address = address, .bytes = bytes, .logged_address = address};
  for (const auto& cta : c.cta->cluster->ctas) {
    if (is_in_shared(*cta, address)) {
      access.space = WeakSpace::kShared;
      access.is_own_shared = cta.get() == c.cta;
      access.logged_address = address - reinterpret_cast<std::uint64_t>(cta->shared.get());
    }
  }
  return access;
}

// Behind the program's shared memory lies what the system keeps there.
bool is_reserved(const Context& c, const WeakAccess& access) {
  const auto begin = reinterpret_cast<std::uint64_t>(c.cta->shared.get());
  return access.space == WeakSpace::kGlobal &&
         access.address - begin <
             reserved_shared_offset(c.cta->shared_bytes) + kReservedSharedBytes;
}

template <class Visit>
void for_each_piece(std::uint64_t address, std::uint32_t bytes, Visit visit) {
  for (std::uint32_t done = 0; done < bytes; done += kGranuleBytes) {
    visit(address + done, std::min(bytes - done, kGranuleBytes), done);
  }
}

// --- loads ---

constexpr std::uint64_t kNow = std::numeric_limits<std::uint64_t>::max();

void read_at(const Context& c, const WeakThread& thread, const WeakAccess& access,
             std::uint64_t moment, Bytes& bytes) {
  WeakState& weak = *c.weak;
  for_each_piece(access.address, access.bytes,
                 [&](std::uint64_t at, std::uint32_t size, std::uint32_t done) {
                   const std::uint64_t granule = granule_of(at);
                   const std::size_t offset = at % kGranuleBytes;
                   Granule seen{};
                   read_memory(at, size, seen.data() + offset);
                   if (moment != kNow) {
                     weak.history.turn_back(granule, c.cta->number, moment, seen);
                   }
                   weak.overlay(thread, granule, moment, seen);
                   std::memcpy(bytes.data() + done, seen.data() + offset, size);
                 });
}

// The earliest moment at which the load may take place; that of now, where it may not be earlier.
std::uint64_t window_of(const Context& c, const WeakThread& thread, const WeakAccess& access) {
  WeakState& weak = *c.weak;
  std::uint64_t begin = thread.window;
  bool has_own = false;
  for_each_piece(
      access.address, access.bytes, [&](std::uint64_t at, std::uint32_t size, std::uint32_t) {
        const std::uint64_t granule = granule_of(at);
        begin = std::max({begin, weak.history.begin(granule), thread.last_access(granule)});
        has_own = has_own || weak.pending.waits_in(thread.buffer, granule, mask_of(at, size));
      });
  return has_own ? weak.moment() : begin;
}

// A load that may be stale. Returns its moment.
std::uint64_t choose_moment(const Context& c, const Instruction& in, int lane,
                            const WeakAccess& access, std::uint64_t number) {
  WeakState& weak = *c.weak;
  const ThreadName name = thread_name(c, lane);
  const Weakness& weakness = weak.weakness();
  const bool is_wanted =
      weakness.has_decisions || weakness.spaces[static_cast<std::size_t>(access.space)];
  if (!is_wanted || !weak.draws.is_made_weak(WeakKind::kStale, name, number, *in.weak)) {
    return kNow;
  }
  const std::uint64_t begin = window_of(c, thread_of(c, lane), access), now = weak.moment();
  if (begin >= now) {
    return kNow;
  }
  // Where the load is known the oldest value is wanted, not any.
  const bool is_directed = weakness.has_decisions || !weakness.places.empty();
  return is_directed
             ? begin
             : begin + (weak.draws.hash(WeakKind::kStale, name, number) >> 32) % (now - begin + 1);
}

void note_load(WeakState& weak, WeakThread& thread, const WeakSite& site, std::uint64_t address,
               std::uint32_t bytes, std::uint64_t moment) {
  if (!weak.keeps_history() || (weak.weakness().weak_coherence && !site.is_strong)) {
    return;
  }
  for_each_piece(address, bytes, [&](std::uint64_t at, std::uint32_t, std::uint32_t) {
    // Where nothing was stored yet every moment reads the same.
    if (weak.history.knows(granule_of(at)) || weak.pending.at(granule_of(at)) != nullptr) {
      thread.note_access(granule_of(at), std::min(moment, weak.moment()));
    }
  });
}

// --- loads that are late ---

// So many turns at most, less one, does a warp wait before it completes a load.
constexpr std::uint64_t kMostWaits = 8;

bool is_late(const Context& c, const Instruction& in, int lane, const WeakAccess& access,
             std::uint64_t number) {
  const Weakness& weakness = c.weak->weakness();
  const bool is_wanted =
      weakness.has_decisions || weakness.spaces[static_cast<std::size_t>(access.space)];
  // The memory of another CTA may be gone by then.
  const bool is_foreign = access.space == WeakSpace::kShared && !access.is_own_shared;
  return in.weak->may_be_late && is_wanted && !is_foreign && !is_reserved(c, access) &&
         c.weak->draws.is_made_weak(WeakKind::kLate, thread_name(c, lane), number, *in.weak);
}

void take_place(const Context& c, int lane, LateLoad& load) {
  WeakState& weak = *c.weak;
  WeakThread& thread = thread_of(c, lane);
  load.took_place = true;
  const WeakAccess access = locate(c, load.address, load.bytes);
  weak.log.add_load(WeakKind::kLate, thread_name(c, lane), load.number, *load.site, access);
  if (access.space == WeakSpace::kGlobal && !weak.is_in_memory(load.address)) {
    return;
  }
  read_at(c, thread, access, kNow, load.value);
  for_each_piece(access.address, access.bytes,
                 [&](std::uint64_t at, std::uint32_t size, std::uint32_t) {
                   weak.note_access_of(thread, thread_name(c, lane), *load.site, at, size, true);
                 });
  note_load(weak, thread, *load.site, access.address, access.bytes, kNow);
}

// Others run between the stores that a late load is behind and the load, or it would show little.
bool waits(const Context& c, const Instruction& in, std::uint32_t mask) {
  bool any = false;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    for (LateLoad& load : thread_of(c, std::countr_zero(rest)).late) {
      if (load.site == in.weak && !load.took_place && load.waits > 0) {
        --load.waits;
        any = true;
      }
    }
  }
  return any;
}

// The thread is about to access bytes itself: its late loads of them take place before. Plain loads
// need not where PTX does not order them.
void take_place_before(const Context& c, const Instruction& in, int lane, std::uint64_t address,
                       std::uint32_t bytes) {
  const bool may_pass =
      !in.weak->is_write && !in.weak->is_strong && c.weak->weakness().weak_coherence;
  for (LateLoad& load : thread_of(c, lane).late) {
    const bool overlaps = load.address < address + bytes && address < load.address + load.bytes;
    if (!load.took_place && overlaps && !(may_pass && !load.site->is_strong)) {
      take_place(c, lane, load);
    }
  }
}

void load_lane(Context& c, const Instruction& in, int lane, std::uint64_t address, Bytes& bytes) {
  WeakState& weak = *c.weak;
  WeakThread& thread = thread_of(c, lane);
  const WeakAccess access = locate(c, address, in.weak->element_bytes * in.count);
  take_place_before(c, in, lane, address, access.bytes);
  const std::uint64_t number = ++thread.loads;
  read_at(c, thread, access, kNow, bytes);
  if (is_late(c, in, lane, access, number)) {
    thread.late.push_back(
        {.site = in.weak,
         .address = address,
         .bytes = access.bytes,
         .number = number,
         .waits = static_cast<std::uint32_t>(
             (weak.draws.hash(WeakKind::kLate, thread_name(c, lane), number) >> 32) % kMostWaits),
         .value = bytes});
    return;
  }
  for_each_piece(address, access.bytes, [&](std::uint64_t at, std::uint32_t size, std::uint32_t) {
    weak.note_access_of(thread, thread_name(c, lane), *in.weak, at, size, true);
  });
  if (!weak.keeps_history()) {
    return;
  }
  std::uint64_t moment = kNow;
  if (!in.weak->resets) {
    moment = choose_moment(c, in, lane, access, number);
  }
  if (moment != kNow) {
    Bytes earlier{};
    read_at(c, thread, access, moment, earlier);
    if (std::memcmp(earlier.data(), bytes.data(), access.bytes) != 0) {
      weak.log.add_load(WeakKind::kStale, thread_name(c, lane), number, *in.weak, access);
      bytes = earlier;
    }
  }
  note_load(weak, thread, *in.weak, address, access.bytes, moment);
}

// --- stores ---

void make_room(WeakState& weak, const WeakThread& thread) {
  const auto& stores = thread.buffer.stores;
  const bool is_bugaroo = weak.weakness().shape == WeakShape::kBugaroo;
  bool again = stores.size() >= weak.weakness().capacity;
  while (again && !stores.empty()) {
    const StoreId oldest =
        *std::ranges::min_element(stores, {}, [&](StoreId id) { return weak.pending[id].serial; });
    weak.commit(oldest, WeakEnd::kCapacity);
    again = is_bugaroo || stores.size() >= weak.weakness().capacity;
  }
}

void delay(const Context& c, const Instruction& in, int lane, const WeakAccess& access,
           std::uint64_t number, const std::byte* value) {
  WeakState& weak = *c.weak;
  WeakThread& thread = thread_of(c, lane);
  if (weak.weakness().shape == WeakShape::kBugaroo) {
    weak.settle(thread, access.address, access.bytes, WeakEnd::kSettle);
  }
  for_each_piece(access.address, access.bytes,
                 [&](std::uint64_t at, std::uint32_t size, std::uint32_t done) {
                   make_room(weak, thread);
                   PendingStore store;
                   store.address = at;
                   store.bytes = size;
                   store.mask = mask_of(at, size);
                   std::memcpy(store.value.data() + at % kGranuleBytes, value + done, size);
                   store.number = done == 0 ? number : 0;
                   store.logged_address = access.logged_address;
                   store.logged_bytes = access.bytes;
                   store.thread = thread_name(c, lane);
                   store.site = in.weak;
                   store.space = access.space;
                   store.is_own_shared = access.is_own_shared;
                   store.is_held = !weak.weakness().places.empty() && in.weak->is_selected;
                   weak.delay(store, thread);
                 });
}

// One store that is delayed or not as a whole.
void store_part(const Context& c, const Instruction& in, int lane, const WeakAccess& access,
                const std::byte* value) {
  WeakState& weak = *c.weak;
  WeakThread& thread = thread_of(c, lane);
  const ThreadName name = thread_name(c, lane);
  for_each_piece(access.address, access.bytes,
                 [&](std::uint64_t at, std::uint32_t size, std::uint32_t) {
                   weak.note_access_of(thread, name, *in.weak, at, size, false);
                 });
  if (!is_reserved(c, access)) {
    const std::uint64_t number = ++thread.stores;
    const Weakness& weakness = weak.weakness();
    const bool is_wanted =
        weakness.has_decisions || weakness.spaces[static_cast<std::size_t>(access.space)];
    if (is_wanted && weak.draws.is_made_weak(WeakKind::kStore, name, number, *in.weak)) {
      delay(c, in, lane, access, number, value);
      return;
    }
  }
  for_each_piece(access.address, access.bytes,
                 [&](std::uint64_t at, std::uint32_t size, std::uint32_t done) {
                   weak.write(thread, name, at, {value + done, size});
                 });
}

void store_lane(const Context& c, const Instruction& in, int lane, std::uint64_t address,
                const Bytes& bytes) {
  const std::uint32_t size = in.weak->element_bytes;
  take_place_before(c, in, lane, address, size * in.count);
  if (c.weak->log.counts()) {
    c.weak->log.count_store(locate(c, address, size * in.count).space);
  }
  if (in.count == 1 || !c.weak->weakness().split_vectors) {
    store_part(c, in, lane, locate(c, address, size * in.count), bytes.data());
    return;
  }
  for (std::uint32_t k = 0; k < in.count; ++k) {
    const std::uint32_t offset = k * size;
    store_part(c, in, lane, locate(c, address + offset, size), bytes.data() + offset);
  }
}

// --- atomic operations ---

struct Touched {
  std::uint64_t granule = 0;
  Granule before{};
};

// What the lanes are about to change, as it is.
std::vector<Touched> read_touched(const Addresses& where, std::uint32_t mask, std::uint32_t bytes) {
  std::vector<Touched> touched;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    for_each_piece(where.at[std::countr_zero(rest)], bytes,
                   [&](std::uint64_t at, std::uint32_t, std::uint32_t) {
                     const std::uint64_t granule = granule_of(at);
                     if (std::ranges::find(touched, granule, &Touched::granule) == touched.end()) {
                       Touched& added = touched.emplace_back(granule);
                       std::memcpy(added.before.data(),
                                   host_address<const std::byte>(granule * kGranuleBytes),
                                   kGranuleBytes);
                     }
                   });
  }
  return touched;
}

void settle_lanes(const Context& c, const Instruction& in, std::uint32_t mask,
                  const Addresses& where, std::uint32_t bytes) {
  for (const int lane : SetBits<int>(mask)) {
    WeakThread& thread = thread_of(c, lane);
    c.weak->settle(thread, where.at[lane], bytes, WeakEnd::kSettle);
    for_each_piece(where.at[lane], bytes, [&](std::uint64_t at, std::uint32_t size, std::uint32_t) {
      c.weak->note_access_of(thread, thread_name(c, lane), *in.weak, at, size, true);
    });
  }
}

void note_changes(const Context& c, std::uint32_t mask, const Addresses& where, std::uint32_t bytes,
                  const std::vector<Touched>& touched) {
  for (const Touched& granule : touched) {
    c.weak->note_change(thread_name(c, std::countr_zero(mask)), granule.granule, granule.before);
  }
  for (const int lane : SetBits<int>(mask)) {
    for_each_piece(where.at[lane], bytes, [&](std::uint64_t at, std::uint32_t, std::uint32_t) {
      thread_of(c, lane).note_access(granule_of(at), c.weak->moment());
    });
  }
}

}  // namespace

Step execute_weak_load(Context& c, const Instruction& in, std::uint32_t mask) {
  Addresses where;
  const std::uint32_t bytes = in.weak->element_bytes * in.count;
  if (!resolve(c, in, mask, {.bytes = bytes, .is_write = false}, where)) {
    return Step::kSwitch;
  }
  for (const int lane : SetBits<int>(mask)) {
    Bytes value{};
    if (is_local(where, lane)) {
      for_each_local(in, where.at[lane],
                     [&](const std::byte* memory, std::uint64_t byte, std::uint32_t size) {
                       std::memcpy(value.data() + byte, memory, size);
                     });
    } else {
      load_lane(c, in, lane, where.at[lane], value);
    }
    write_registers(c, in, lane, value);
  }
  c.weak->release_seen();
  if (in.weak->is_strong) {
    charge_poll(c);
  }
  if (in.weak->resets) {
    reset_windows(c, mask);
  }
  return Step::kNext;
}

Step execute_late_load(Context& c, const Instruction& in, std::uint32_t mask) {
  if (waits(c, in, mask)) {
    return try_again(c);
  }
  for (const int lane : SetBits<int>(mask)) {
    auto& late = thread_of(c, lane).late;
    const auto found = std::ranges::find(late, in.weak, &LateLoad::site);
    if (found == late.end()) {
      continue;
    }
    if (!found->took_place) {
      take_place(c, lane, *found);
    }
    write_registers(c, in, lane, found->value);
    late.erase(found);
  }
  c.weak->release_seen();
  return Step::kNext;
}

Step execute_weak_store(Context& c, const Instruction& in, std::uint32_t mask) {
  const WeakSite& site = *in.weak;
  Addresses where;
  const std::uint32_t bytes = site.element_bytes * in.count;
  if (!resolve(c, in, mask, {.bytes = bytes, .is_write = true}, where)) {
    return Step::kSwitch;
  }
  if (site.drains && !drain(c, mask, site.scope, site.end, Pace::kInTurns)) {
    return try_again(c);
  }
  for (const int lane : SetBits<int>(mask)) {
    Bytes value{};
    read_registers(c, in, lane, value);
    if (is_local(where, lane)) {
      for_each_local(in, where.at[lane],
                     [&](std::byte* memory, std::uint64_t byte, std::uint32_t size) {
                       std::memcpy(memory, value.data() + byte, size);
                     });
    } else {
      store_lane(c, in, lane, where.at[lane], value);
    }
  }
  c.weak->release_seen();
  if (!c.weak->weakness().places.empty() && c.weak->steering.holds(*c.warp->weak)) {
    c.yields = true;  // for others to come and pass by
    return Step::kSwitch;
  }
  return Step::kNext;
}

Step execute_weak_atomic(Context& c, const Instruction& in, std::uint32_t mask) {
  const WeakSite& site = *in.weak;
  if (site.drains && !drain(c, mask, site.scope, site.end, Pace::kInTurns)) {
    return try_again(c);
  }
  Addresses where;
  const std::uint32_t bytes = site.element_bytes;
  if (!resolve(c, in, mask, {.bytes = bytes, .is_write = site.is_write}, where)) {
    return Step::kSwitch;
  }
  const std::uint32_t inside = mask & ~where.local_lanes;
  settle_lanes(c, in, inside, where, bytes);
  const bool keeps = c.weak->keeps_history() && inside != 0;
  const std::vector<Touched> touched =
      keeps ? read_touched(where, inside, bytes) : std::vector<Touched>();
  const Step step = site.plain(c, in, mask);
  if (keeps) {
    note_changes(c, inside, where, bytes, touched);
  }
  c.weak->release_seen();
  if (site.resets) {
    reset_windows(c, mask);
  }
  return step;
}

}  // namespace barracuda::emulator
