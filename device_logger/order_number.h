// Order numbers of synchronising accesses to global memory (RACE_RULES section 4; the scheme is in
// docs/decisions/order-numbers.md). One 32-bit counter per hashed location, in device memory:
//   release: claim slots; n = counter++; fence; access; write the record with n
//   acquire: access; fence; s = counter;  claim slots; write the record with s
// An acquire that saw a release has s > n. The host lets an acquire pass once every release of that
// counter with a number below s is applied; releases never wait, so parking cannot deadlock.
#pragma once

#include <cstdint>

#include "device_logger/record.h"

namespace barracuda::wire {

inline constexpr std::uint32_t kOrderCounters = 1U << 16;

// Accesses that overlap must share a counter, so the hash drops the offset in 16 bytes: the widest
// atomic access (.b128).
BARRACUDA_WIRE std::uint32_t order_counter_of(std::uint64_t address) {
  return static_cast<std::uint32_t>(((address >> 4) * 0x9E3779B97F4A7C15ULL) >> 48);
}

static_assert(kOrderCounters == 1U << (64 - 48), "every hash has a counter");
static_assert(order_counter_of(16) == order_counter_of(31) &&
                  order_counter_of(16) != order_counter_of(32),
              "the bytes of one atomic share a counter");

}  // namespace barracuda::wire
