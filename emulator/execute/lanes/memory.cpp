// ld and st in all spaces. Lanes at consecutive addresses are moved as one block.
#include <cstring>

#include "emulator/execute/lanes/addresses.h"
#include "emulator/state/host_address.h"
#include "emulator/state/program.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

namespace {

[[gnu::always_inline]] inline bool is_consecutive(const u64* at, u64 size) {
  u64 difference = 0;
  for (int i = 0; i < kLanes; ++i) {
    difference |= at[i] ^ (at[0] + static_cast<u64>(i) * size);
  }
  return difference == 0;
}

[[gnu::always_inline]] inline Slot element_slot(const Instruction& in, Slot single, int k) {
  return in.count == 1 ? single : static_cast<const VectorSlots*>(in.extra)->slots[k];
}

// Element k of a lane lies at this distance from its first.
template <class M>
[[gnu::always_inline]] inline u64 step_of(const Addresses& where, int lane, int k) {
  const u64 byte = static_cast<u64>(k) * sizeof(M);
  return (where.local_lanes & kBit[lane]) != 0 ? local_step(byte) : byte;
}

template <class M, bool Strong>
[[gnu::always_inline]] inline M read_memory(u64 address) {
  const auto* pointer = host_address<const M>(address);
  if constexpr (Strong) {
    return __atomic_load_n(pointer, __ATOMIC_ACQUIRE);
  } else {
    return *pointer;
  }
}

template <class M, bool Strong>
[[gnu::always_inline]] inline void write_memory(u64 address, M value) {
  auto* pointer = host_address<M>(address);
  if constexpr (Strong) {
    __atomic_store_n(pointer, value, __ATOMIC_RELEASE);
  } else {
    *pointer = value;
  }
}

// Element k of each lane; only local lanes have several here.
template <class M, bool Strong>
[[gnu::always_inline]] inline void load_element(Lane<M>* d, const Addresses& where, u32 mask,
                                                int k) {
  if (mask == kFullMask && where.local_lanes == 0) [[likely]] {
    if (!Strong && is_consecutive(where.at, sizeof(M))) {
      M block[kLanes];
      std::memcpy(block, host_address<const void>(where.at[0]), sizeof block);
      for (int i = 0; i < kLanes; ++i) {
        d[i] = to_lane<M>(block[i]);
      }
      return;
    }
    for (int i = 0; i < kLanes; ++i) {
      d[i] = to_lane<M>(read_memory<M, Strong>(where.at[i]));
    }
    return;
  }
  for (const int i : SetBits<int>(mask)) {
    d[i] = to_lane<M>(read_memory<M, Strong>(where.at[i] + step_of<M>(where, i, k)));
  }
}

template <class M, bool Strong>
[[gnu::always_inline]] inline void store_element(const Lane<M>* s, const Addresses& where, u32 mask,
                                                 int k) {
  if (mask == kFullMask && where.local_lanes == 0) [[likely]] {
    if (!Strong && is_consecutive(where.at, sizeof(M))) {
      M block[kLanes];
      for (int i = 0; i < kLanes; ++i) {
        block[i] = static_cast<M>(s[i]);
      }
      std::memcpy(host_address<void>(where.at[0]), block, sizeof block);
      return;
    }
    for (int i = 0; i < kLanes; ++i) {
      write_memory<M, Strong>(where.at[i], static_cast<M>(s[i]));
    }
    return;
  }
  for (const int i : SetBits<int>(mask)) {
    write_memory<M, Strong>(where.at[i] + step_of<M>(where, i, k), static_cast<M>(s[i]));
  }
}

// --- vectors: who loads one while another stores it sees all of one store, as on a GPU. CUB's tile
// descriptors and the halves of log records rely on it.

template <std::size_t Bytes>
struct WholeOf {
  using Type [[gnu::vector_size(16)]] = u64;
};

template <>
struct WholeOf<2> {
  using Type = u16;
};

template <>
struct WholeOf<4> {
  using Type = u32;
};

template <>
struct WholeOf<8> {
  using Type = u64;
};

// A lane's elements `First` to `First + Count`, moved at once.
template <class M, int First, int Count>
struct Part {
  using Whole = typename WholeOf<sizeof(M) * Count>::Type;

  static void load(Context& c, const Instruction& in, const u64* at, u32 mask) {
    Lane<M> unused[kLanes];
    Lane<M>* to[Count];
    for (int k = 0; k < Count; ++k) {
      const Slot slot = element_slot(in, in.d, First + k);
      to[k] = slot == kNoSlot ? unused : target<Lane<M>>(c, slot);
    }
    for (const int i : SetBits<int>(mask)) {
      const Whole whole = *host_address<const volatile Whole>(at[i] + First * sizeof(M));
      M elements[Count];
      std::memcpy(elements, &whole, sizeof whole);
      for (int k = 0; k < Count; ++k) {
        to[k][i] = to_lane<M>(elements[k]);
      }
    }
  }

  static void store(Context& c, const Instruction& in, const u64* at, u32 mask) {
    const Lane<M>* from[Count];
    for (int k = 0; k < Count; ++k) {
      from[k] = source<Lane<M>>(c, element_slot(in, in.d, First + k));
    }
    for (const int i : SetBits<int>(mask)) {
      M elements[Count];
      for (int k = 0; k < Count; ++k) {
        elements[k] = static_cast<M>(from[k][i]);
      }
      Whole whole;
      std::memcpy(&whole, elements, sizeof whole);
      *host_address<volatile Whole>(at[i] + First * sizeof(M)) = whole;
    }
  }
};

// Those of more than 16 bytes move in two halves.
template <class M, int Count, class Move>
[[gnu::always_inline]] inline void for_each_part(Move move) {
  if constexpr (sizeof(M) * Count <= 16) {
    move(Part<M, 0, Count>{});
  } else if constexpr (sizeof(M) * Count == 32) {
    move(Part<M, 0, Count / 2>{});
    move(Part<M, Count / 2, Count / 2>{});
  }
}

template <class M, class Move>
[[gnu::always_inline]] inline void for_each_part(int count, Move move) {
  switch (count) {
    case 2:
      return for_each_part<M, 2>(move);
    case 4:
      return for_each_part<M, 4>(move);
    default:
      return for_each_part<M, 8>(move);
  }
}

template <class M, Place Where, bool Strong>
Step load(Context& c, const Instruction& in, u32 mask) {
  if constexpr (Strong) {
    if (meets_first(c)) {
      return Step::kSwitch;
    }
  }
  Addresses where;
  if (!resolve<Where>(c, in, mask, {static_cast<u32>(sizeof(M)) * in.count, false}, where)) {
    return Step::kSwitch;
  }
  if (in.count == 1) [[likely]] {
    load_element<M, Strong>(target<Lane<M>>(c, in.d), where, mask, 0);
  } else if (where.local_lanes == 0) {
    for_each_part<M>(in.count, [&](auto part) { part.load(c, in, where.at, mask); });
  } else {
    for (int k = 0; k < in.count; ++k) {
      if (const Slot slot = element_slot(in, in.d, k); slot != kNoSlot) {
        load_element<M, Strong>(target<Lane<M>>(c, slot), where, mask, k);
      }
    }
  }
  if constexpr (Strong) {
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    charge_poll(c);
  }
  return Step::kNext;
}

template <class M, Place Where, bool Strong>
Step store(Context& c, const Instruction& in, u32 mask) {
  if constexpr (Strong) {
    if (meets_first(c)) {
      return Step::kSwitch;
    }
  }
  Addresses where;
  if (!resolve<Where>(c, in, mask, {static_cast<u32>(sizeof(M)) * in.count, true}, where)) {
    return Step::kSwitch;
  }
  if constexpr (Strong) {
    __atomic_thread_fence(__ATOMIC_RELEASE);
  }
  if (in.count == 1) [[likely]] {
    store_element<M, Strong>(source<Lane<M>>(c, in.d), where, mask, 0);
  } else if (where.local_lanes == 0) {
    for_each_part<M>(in.count, [&](auto part) { part.store(c, in, where.at, mask); });
  } else {
    for (int k = 0; k < in.count; ++k) {
      store_element<M, Strong>(source<Lane<M>>(c, element_slot(in, in.d, k)), where, mask, k);
    }
  }
  return Step::kNext;
}

// --- the frame's locals: one offset for all lanes, 8 bytes from lane to lane ---

template <class M>
[[gnu::always_inline]] inline M* frame_element(const Context& c, const Instruction& in, int k) {
  const u64 byte = static_cast<u64>(in.immediate) + static_cast<u64>(k) * sizeof(M);
  return reinterpret_cast<M*>(c.frame_local + local_step(byte));
}

template <class M>
Step load_frame(Context& c, const Instruction& in, u32 mask) {
  constexpr int kStride = 8 / sizeof(M);
  for (int k = 0; k < in.count; ++k) {
    const Slot slot = element_slot(in, in.d, k);
    if (slot != kNoSlot) {
      const M* from = frame_element<M>(c, in, k);
      fill(target<Lane<M>>(c, slot), mask, [&](int i) { return to_lane<M>(from[i * kStride]); });
    }
  }
  return Step::kNext;
}

template <class M>
Step store_frame(Context& c, const Instruction& in, u32 mask) {
  constexpr int kStride = 8 / sizeof(M);
  for (int k = 0; k < in.count; ++k) {
    const auto* from = source<Lane<M>>(c, element_slot(in, in.d, k));
    M* to = frame_element<M>(c, in, k);
    if (mask == kFullMask) [[likely]] {
      for (int i = 0; i < kLanes; ++i) {
        to[i * kStride] = static_cast<M>(from[i]);
      }
      continue;
    }
    for (const int i : SetBits<int>(mask)) {
      to[i * kStride] = static_cast<M>(from[i]);
    }
  }
  return Step::kNext;
}

// --- the kernel's parameters: one value for all lanes ---

template <class M>
Step load_parameter(Context& c, const Instruction& in, u32 mask) {
  for (int k = 0; k < in.count; ++k) {
    const Slot slot = element_slot(in, in.d, k);
    if (slot == kNoSlot) {
      continue;
    }
    M value{};
    std::memcpy(&value, c.parameters + in.immediate + k * static_cast<int>(sizeof(M)), sizeof(M));
    const Lane<M> lane = to_lane<M>(value);
    fill(target<Lane<M>>(c, slot), mask, [&](int) { return lane; });
  }
  return Step::kNext;
}

template <class M, bool Strong>
Handler load_at(Place place) {
  switch (place) {
    case Place::kShared:
      return &load<M, Place::kShared, Strong>;
    case Place::kLocal:
      return &load<M, Place::kLocal, Strong>;
    case Place::kFrame:
      return &load_frame<M>;
    case Place::kParameter:
      return &load_parameter<M>;
    case Place::kGlobal:
    case Place::kGeneric:
      return &load<M, Place::kGeneric, Strong>;
  }
  return nullptr;
}

template <class M, bool Strong>
Handler store_at(Place place) {
  switch (place) {
    case Place::kShared:
      return &store<M, Place::kShared, Strong>;
    case Place::kLocal:
      return &store<M, Place::kLocal, Strong>;
    case Place::kFrame:
      return &store_frame<M>;
    case Place::kParameter:
      return nullptr;
    case Place::kGlobal:
    case Place::kGeneric:
      return &store<M, Place::kGeneric, Strong>;
  }
  return nullptr;
}

template <class M>
Handler load_of(Place place, bool strong) {
  return strong ? load_at<M, true>(place) : load_at<M, false>(place);
}

template <class M>
Handler store_of(Place place, bool strong) {
  return strong ? store_at<M, true>(place) : store_at<M, false>(place);
}

}  // namespace

Handler select_load(ptx::ScalarType element, Place place, bool strong) {
  using enum ptx::ScalarType;
  switch (ptx::size_of(element)) {
    case 1:
      return element == kS8 ? load_of<s8>(place, strong) : load_of<u8>(place, strong);
    case 2:
      return element == kS16 ? load_of<s16>(place, strong) : load_of<u16>(place, strong);
    case 4:
      return load_of<u32>(place, strong);
    case 8:
      return load_of<u64>(place, strong);
    default:
      return nullptr;
  }
}

Handler select_store(ptx::ScalarType element, Place place, bool strong) {
  switch (ptx::size_of(element)) {
    case 1:
      return store_of<u8>(place, strong);
    case 2:
      return store_of<u16>(place, strong);
    case 4:
      return store_of<u32>(place, strong);
    case 8:
      return store_of<u64>(place, strong);
    default:
      return nullptr;
  }
}

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET
