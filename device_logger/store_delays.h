// Delayed stores on a GPU (docs/decisions/rewritten-stores.md): each thread of a launch has a
// buffer in an arena in global memory, where its stores wait. What the host fills in, and the
// layout.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_logger/record.h"

namespace barracuda::wire {

// Part of a launch's descriptor. All zero: nothing is delayed.
struct StoreDelays {
  std::uint64_t arena = 0;  // device memory, zeroed before its first launch; one launch at a time
  std::uint64_t seed = 0;   // of the draws
  std::uint64_t threshold = 0;  // a store is delayed if 32 random bits are below it: p * 2^32
  std::uint32_t launch = 0;     // another one draws otherwise
  std::uint32_t blocks = 0;     // that have buffers in the arena; those behind them delay nothing
  std::uint32_t capacity = 0;   // stores that a buffer holds
  std::uint32_t spaces = 0;     // kDelaysGlobal, kDelaysShared
};

inline constexpr std::uint32_t kDelaysGlobal = 1, kDelaysShared = 2;
inline constexpr std::uint64_t kMaximumArenaBytes = std::uint64_t{1} << 30;

// In front of a thread's entries. Zeros are an empty buffer, which every thread leaves behind.
struct StoreBufferHeader {
  std::uint32_t count;      // entries in use
  std::uint32_t launch;     // that `serial` counts the stores of
  std::uint64_t serial;     // stores that were drawn for
  std::uint64_t bloom;      // one bit for each 8 bytes that a waiting store touches
  std::uint32_t is_passed;  // 1: others may see an access that came behind a store that waits
  std::uint32_t lingers;    // how often in this launch it let them look
};

// In program order.
struct StoreBufferEntry {
  std::uint64_t address;  // generic
  std::uint64_t low, high;
  std::uint32_t bytes;  // 1, 2, 4, 8 or 16; 0: it has left, within a call
  std::uint32_t flags;  // kStrongStore, and kLeaves within a call
};

inline constexpr std::uint32_t kStrongStore = 1, kLeaves = 2;
// The last parameter of __barracuda_delay: bytes, and this for a strong store.
inline constexpr std::uint32_t kStrongStoreShift = 8;
// The parameter of __barracuda_drain: whether it may let others look first. Not where the drain
// belongs to a release, which they see only behind it.
inline constexpr std::uint32_t kDrainAtOnce = 0, kDrainLingers = 1;

BARRACUDA_WIRE std::uint64_t store_buffer_bytes(std::uint32_t capacity) {
  return sizeof(StoreBufferHeader) + std::uint64_t{capacity} * sizeof(StoreBufferEntry);
}

static_assert(sizeof(StoreDelays) == 40 && offsetof(StoreDelays, launch) == 24 &&
              offsetof(StoreDelays, spaces) == 36);
static_assert(sizeof(StoreBufferHeader) == 32 && offsetof(StoreBufferHeader, serial) == 8 &&
              offsetof(StoreBufferHeader, bloom) == 16 &&
              offsetof(StoreBufferHeader, is_passed) == 24);
static_assert(sizeof(StoreBufferEntry) == 32 && offsetof(StoreBufferEntry, bytes) == 24);

}  // namespace barracuda::wire
