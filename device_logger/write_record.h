// How records are made of what lanes do, and written into a queue. One source for the GPU
// (logger.cu), where every lane runs it with a value of its own, and for the host, which logs for
// the emulated device with the values of all lanes at once (session/native_logger.cpp).
//
// What differs is in two types:
//
// Lanes: those that log one record together.
//   Words                       a 64-bit value for each lane: std::uint64_t, or an array
//   Flags                       a bit for each lane: bool, or a mask
//   mask, leader, count()       the lanes, the first of them, how many
//   leads()                     whether this is run for the leader; on the host always
//   value_at(words, lane)       of any of the lanes
//   common(words)               of words that are equal in all lanes
//   broadcast(value)            the leader's value
//   which(words, is), none(words, is)   the lanes for which is(lane, word)
//   for_each(do_it)             do_it(lane, rank among the lanes)
//   of(words, lane), is_set(flags, lane)   inside for_each
//   everywhere(), all(flags)    flags of all lanes; whether all are set
//   all_store_alike(values), alike_where_equal(addresses, values), mixed(words)
//   converge()                  waits for all of them
//
// Queue: claim(slots) gives the first slot, or kNoSlot if kMayRefuse and the queue is full;
// write_half, order_commit, fence_and_flag; launch, program_cta and warp for the header. A Log
// opens one: it takes loads on the GPU, which only the lane that claims has to make.
#pragma once

#include <cstdint>

#include "device_logger/address_pattern.h"
#include "device_logger/record.h"
#include "device_logger/site_word.h"

namespace barracuda::wire {

inline constexpr std::uint64_t kNoSlot = ~std::uint64_t{0};
// What a lane has instead of an address if it touches memory that no other thread sees.
inline constexpr std::uint64_t kNoAddress = ~std::uint64_t{0};

// The values that a store writes, up to 16 bytes for each lane.
template <class Lanes>
struct StoredValues {
  typename Lanes::Words low{}, high{};
  bool are_known = false;
  bool are_wide = false;  // else `high` means nothing
};

// What all lanes store, if that is one value.
struct UniformValue {
  std::uint64_t value = 0;  // stored_value
  bool known = false;

  BARRACUDA_LOGGER std::uint32_t flag() const { return known ? kUniformValue : 0; }
};

template <class Lanes>
struct Agreement {
  bool all = false;                  // every lane stores the same value
  typename Lanes::Flags overlaps{};  // the lane and those at its address store the same value
};

template <class Lanes>
BARRACUDA_LOGGER Agreement<Lanes> find_agreement(const Lanes& lanes,
                                                 const typename Lanes::Words& addresses,
                                                 const StoredValues<Lanes>& values,
                                                 const Pattern& pattern) {
  Agreement<Lanes> agreement;
  if (!values.are_known) {
    return agreement;
  }
  agreement.all = lanes.all_store_alike(values);
  if (agreement.all) {
    agreement.overlaps = lanes.everywhere();
  } else if (!pattern.found || (pattern.may_overlap && pattern.width_log2 != 5)) {
    agreement.overlaps = lanes.alike_where_equal(addresses, values);
  }
  return agreement;
}

// A half with a 64-bit value in the middle.
template <class Queue>
BARRACUDA_LOGGER void write_value(const Queue& queue, std::uint64_t slot, std::uint32_t half,
                                  std::uint64_t value, std::uint32_t high16 = 0,
                                  std::uint32_t fourth = 0) {
  queue.write_half(slot, half, high16, static_cast<std::uint32_t>(value),
                   static_cast<std::uint32_t>(value >> 32), fourth);
}

template <class Queue>
BARRACUDA_LOGGER void write_header_half(const Queue& queue, std::uint64_t slot, std::uint32_t site,
                                        RecordKind kind, std::uint32_t width_log2,
                                        std::uint32_t mask) {
  const std::uint32_t word = (site & (kMaxSites - 1)) |
                             static_cast<std::uint32_t>(kind) << kSiteBits |
                             width_log2 << (kSiteBits + kKindBits);
  queue.write_half(slot, 0, queue.launch(), word, mask, queue.program_cta());
}

template <class Queue>
BARRACUDA_LOGGER void write_pattern_half(const Queue& queue, std::uint64_t slot,
                                         std::uint32_t stride0, std::uint64_t base,
                                         std::uint32_t flags, std::uint32_t stride1,
                                         std::uint32_t warp) {
  const std::uint32_t high =
      (static_cast<std::uint32_t>(base >> 32) & ((1U << kAddressHighBits) - 1)) |
      warp << kAddressHighBits | flags << (kAddressHighBits + kWarpBits);
  queue.write_half(slot, 1, stride0, static_cast<std::uint32_t>(base), high, stride1);
}

// The header of a record with entries; entries are written by their lanes, before or after.
template <class Queue>
BARRACUDA_LOGGER void write_entry_header(const Queue& queue, std::uint64_t slot, std::uint32_t site,
                                         RecordKind kind, std::uint32_t mask,
                                         const UniformValue& uniform = {}) {
  write_pattern_half(queue, slot, 0, uniform.value & 0xFFFFFFFF, uniform.flag(),
                     static_cast<std::uint32_t>(uniform.value >> 32), queue.warp());
  queue.order_commit();
  write_header_half(queue, slot, site, kind, 0, mask);
}

// Of a warp, or of all of its block.
struct EventRecord {
  RecordKind kind = RecordKind::kEvent;
  std::uint32_t site = 0, warp = 0, mask = 0, detail = 0;
  std::uint32_t threads = 0;  // of the barrier, 0: all
};

// Each of the writers below says whether the record was written: false if the queue was full, and
// nothing has happened.

template <class Log, class Lanes>
BARRACUDA_LOGGER bool write_affine(const Log& log, const Lanes& lanes, std::uint32_t site,
                                   const Pattern& pattern, std::uint32_t flags,
                                   const UniformValue& uniform) {
  if (!lanes.leads()) {
    return true;
  }
  decltype(auto) queue = log.open();
  // A value that stride1 has no room for takes a slot of its own.
  const bool fits = pattern.width_log2 == 5 && (site >> kSizeShift & 7) <= 2;
  const bool has_slot = uniform.known && !fits;
  const std::uint64_t slot = queue.claim(has_slot ? 2 : 1);
  if (queue.kMayRefuse && slot == kNoSlot) {
    return false;
  }
  if (has_slot) {
    write_value(queue, slot + 1, 0, uniform.value);
    write_value(queue, slot + 1, 1, 0);
  }
  write_pattern_half(queue, slot, static_cast<std::uint32_t>(pattern.stride0) & 0xFFFF,
                     pattern.base, flags | uniform.flag(),
                     uniform.known && fits ? static_cast<std::uint32_t>(uniform.value)
                                           : static_cast<std::uint32_t>(pattern.stride1),
                     queue.warp());
  queue.order_commit();
  write_header_half(queue, slot, site, has_slot ? RecordKind::kAffineValue : RecordKind::kAffine,
                    pattern.width_log2, lanes.mask);
  return true;
}

// An access that was not logged when it was made.
struct PastAccess {
  RecordKind kind = RecordKind::kEarlier;
  std::uint32_t site = 0;
  // Of a kEarlier: its number where barriers of warps are counted; of an asynchronous copy what is
  // known of its end (copy_states.h).
  std::uint32_t interval = 0;
  std::uint32_t thread = 0;   // in its block
  std::uint64_t address = 0;  // tagged
  UniformValue value;
  std::uint32_t cta = 0;  // of a kSettled, as the program numbers it
};

// By one lane, of another's access.
template <class Queue>
BARRACUDA_LOGGER bool write_past(const Queue& queue, const PastAccess& access) {
  const std::uint64_t slot = queue.claim(record_slots(access.kind, 1));
  if (queue.kMayRefuse && slot == kNoSlot) {
    return false;
  }
  write_value(queue, slot + 1, 0, access.value.value, 0, access.cta);
  write_value(queue, slot + 1, 1, 0);
  write_pattern_half(queue, slot, access.interval, access.address, access.value.flag(), 0,
                     access.thread / kWarpLanes);
  queue.order_commit();
  write_header_half(queue, slot, access.site, access.kind, 5, 1U << access.thread % kWarpLanes);
  return true;
}

// The slots of a record of these lanes, as all of them know then.
template <class Queue, class Lanes>
BARRACUDA_LOGGER std::uint64_t claim_record(const Queue& queue, const Lanes& lanes,
                                            RecordKind kind) {
  std::uint64_t slot = 0;
  if (lanes.leads()) {
    slot = queue.claim(record_slots(kind, lanes.count()));
  }
  return lanes.broadcast(slot);
}

// The header comes after all entries where it is the flag.
template <class Queue, class Lanes>
BARRACUDA_LOGGER void finish_entries(const Queue& queue, const Lanes& lanes, std::uint64_t slot,
                                     std::uint32_t site, RecordKind kind,
                                     const UniformValue& uniform = {}) {
  if (queue.fence_and_flag()) {
    queue.order_commit();
    lanes.converge();
  }
  if (lanes.leads()) {
    write_entry_header(queue, slot, site, kind, lanes.mask, uniform);
  }
}

template <class Log, class Lanes>
BARRACUDA_LOGGER bool write_scattered(const Log& log, const Lanes& lanes, std::uint32_t site,
                                      const typename Lanes::Words& addresses,
                                      const typename Lanes::Flags& agrees,
                                      const UniformValue& uniform) {
  decltype(auto) queue = log.open();
  const std::uint64_t slot = claim_record(queue, lanes, RecordKind::kScattered);
  if (queue.kMayRefuse && slot == kNoSlot) {
    return false;
  }
  lanes.for_each([&](std::uint32_t lane, std::uint32_t rank) {
    write_value(queue, slot + 1 + rank / 2, rank % 2, lanes.of(addresses, lane),
                lanes.is_set(agrees, lane) ? kLaneAgrees : 0);
    if ((lanes.count() & 1) != 0 && rank + 1 == lanes.count()) {
      queue.write_half(slot + 1 + rank / 2, 1, 0, 0, 0, 0);
    }
  });
  finish_entries(queue, lanes, slot, site, RecordKind::kScattered, uniform);
  return true;
}

template <class Log, class Lanes>
BARRACUDA_LOGGER bool write_access(const Log& log, const Lanes& lanes, std::uint32_t site,
                                   const typename Lanes::Words& addresses,
                                   const StoredValues<Lanes>& values) {
  const Pattern pattern = find_pattern(lanes, addresses);
  Agreement<Lanes> agreement = find_agreement(lanes, addresses, values, pattern);
  if ((site & kConstantValue) != 0) {
    agreement.overlaps = lanes.everywhere();
  }
  UniformValue uniform;
  if (agreement.all) {
    uniform = {stored_value(lanes.common(values.low), lanes.common(values.high)), true};
  } else if ((site & kKnownValues) != 0 && values.are_known) {
    // Only who stores the same at the same places has the same: the stores of a whole warp.
    uniform = {lanes.mixed(addresses) ^ lanes.mixed(values.low) * 3 ^ lanes.mixed(values.high) * 5,
               true};
  }
  if (!pattern.found) {
    return write_scattered(log, lanes, site, addresses, agreement.overlaps, uniform);
  }
  return write_affine(log, lanes, site, pattern, lanes.all(agreement.overlaps) ? kLanesAgree : 0,
                      uniform);
}

// NOLINTBEGIN(readability-function-size): a record's fields, and a structure costs registers
// `stamps`: the order numbers that the acquires come after (order_number.h).
template <class Queue, class Lanes>
BARRACUDA_LOGGER bool write_acquire(const Queue& queue, const Lanes& lanes, std::uint32_t site,
                                    const typename Lanes::Words& addresses,
                                    const typename Lanes::Words& values,
                                    const typename Lanes::Words& flags,
                                    const typename Lanes::Words& stamps) {
  const std::uint64_t slot = claim_record(queue, lanes, RecordKind::kAcquire);
  if (queue.kMayRefuse && slot == kNoSlot) {
    return false;
  }
  lanes.for_each([&](std::uint32_t lane, std::uint32_t rank) {
    write_value(queue, slot + 1 + rank, 0, lanes.of(addresses, lane),
                static_cast<std::uint32_t>(lanes.of(flags, lane)),
                static_cast<std::uint32_t>(lanes.of(stamps, lane)));
    write_value(queue, slot + 1 + rank, 1, lanes.of(values, lane));
  });
  finish_entries(queue, lanes, slot, site, RecordKind::kAcquire);
  return true;
}

// A lane's entry of a release, whose slots were claimed before its access. `number_and_flags`: the
// lane flags above 32 bits of order number.
template <class Queue>
BARRACUDA_LOGGER void write_release(const Queue& queue, std::uint64_t slot, std::uint32_t site,
                                    std::uint32_t lane, std::uint64_t address,
                                    std::uint64_t number_and_flags, std::uint64_t value_read,
                                    std::uint64_t value_written) {
  write_value(queue, slot, 0, address, static_cast<std::uint32_t>(number_and_flags >> 32),
              static_cast<std::uint32_t>(number_and_flags));
  write_value(queue, slot, 1, value_read);
  write_value(queue, slot + 1, 0, value_written);
  write_value(queue, slot + 1, 1, 0);
  if (queue.fence_and_flag()) {  // the lane has a record of its own
    write_entry_header(queue, slot - 1, site, RecordKind::kRelease, 1U << lane);
  }
}

// NOLINTEND(readability-function-size)

// By one lane.
template <class Queue>
BARRACUDA_LOGGER bool write_event(const Queue& queue, const EventRecord& event) {
  const std::uint64_t slot = queue.claim(1);
  if (queue.kMayRefuse && slot == kNoSlot) {
    return false;
  }
  write_pattern_half(queue, slot, 0, event.detail, 0, event.threads, event.warp);
  queue.order_commit();
  write_header_half(queue, slot, event.site, event.kind, 0, event.mask);
  return true;
}

}  // namespace barracuda::wire
