// The host addresses of a warp access: quick where all lanes lie in one known allocation or in the
// CTA's shared memory.
#pragma once

#include "emulator/execute/address.h"
#include "emulator/execute/lanes/lanes.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

struct Addresses {  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by resolve()
  alignas(32) u64 at[kLanes];
  u32 local_lanes = 0;  // whose memory is interleaved
};

struct Extent {
  u64 low, high, bits;
};

// In shared and local memory an address of 32 bits wraps: compilers subtract from a register what
// the immediate adds again.
template <Place Where>
[[gnu::always_inline]] inline u64 sum(u64 base, u64 offset) {
  constexpr u64 kNarrow = 0xffff'ffff;
  constexpr bool kWraps = Where == Place::kShared || Where == Place::kLocal;
  return (base + offset) & (kWraps && base <= kNarrow ? kNarrow : ~u64{0});
}

template <Place Where>
[[gnu::always_inline]] inline Extent read_addresses(const Context& c, const Instruction& in,
                                                    u32 mask, u64* at) {
  const u64* a = source<u64>(c, in.a);
  const auto offset = static_cast<u64>(in.immediate);
  // Lanes that do not take part repeat one that does.
  const u64 first = a[std::countr_zero(mask)];
  if (mask == kFullMask) [[likely]] {
    for (int i = 0; i < kLanes; ++i) {
      at[i] = sum<Where>(a[i], offset);
    }
  } else {
    for (int i = 0; i < kLanes; ++i) {
      at[i] = sum<Where>((mask & kBit[i]) != 0 ? a[i] : first, offset);
    }
  }
  // Valid addresses are positive, so signed extremes (which vectorise) do.
  s64 low = static_cast<s64>(at[0]), high = low;
  u64 bits = 0;
  for (int i = 0; i < kLanes; ++i) {
    const auto value = static_cast<s64>(at[i]);
    low = value < low ? value : low;
    high = value > high ? value : high;
    bits |= at[i];
  }
  return {.low = static_cast<u64>(low), .high = static_cast<u64>(high), .bits = bits};
}

template <Place Where>
[[gnu::always_inline]] inline bool resolve(Context& c, const Instruction& in, u32 mask,
                                           const Access& access, Addresses& where) {
  u64* at = where.at;
  const Extent extent = read_addresses<Where>(c, in, mask, at);
  const bool aligned = (extent.bits & (access.bytes - 1)) == 0;
  if constexpr (Where == Place::kShared) {
    if (aligned && extent.low <= extent.high && extent.high < kWindowBytes &&
        extent.high + access.bytes <= c.shared_bytes) [[likely]] {
      const auto base = reinterpret_cast<u64>(c.shared);
      for (int i = 0; i < kLanes; ++i) {
        at[i] += base;
      }
      return true;
    }
  } else if constexpr (Where == Place::kLocal) {
    if (aligned && extent.low <= extent.high && extent.high < kWindowBytes &&
        extent.high + access.bytes <= c.local_bytes) [[likely]] {
      const auto base = reinterpret_cast<u64>(c.local);
      for (int i = 0; i < kLanes; ++i) {
        at[i] = base + (at[i] >> 3) * 256 + static_cast<u64>(i) * 8 + (at[i] & 7);
      }
      where.local_lanes = mask;
      return true;
    }
  } else {
    const CachedRange& range = c.range_of(in);
    if (aligned && extent.low >= range.begin && extent.high <= range.end - access.bytes &&
        c.releases->load(std::memory_order_relaxed) == c.seen_releases) [[likely]] {
      return true;
    }
    if (static_cast<Place>(in.flags) == Place::kGeneric && aligned &&
        extent.low >= c.windows.shared() &&
        extent.high + access.bytes <= c.windows.shared() + c.shared_bytes) {
      const u64 base = reinterpret_cast<u64>(c.shared) - c.windows.shared();
      for (int i = 0; i < kLanes; ++i) {
        at[i] += base;
      }
      return true;
    }
  }
  return resolve_lanes(c, in, mask, access, at, where.local_lanes);
}

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
