// The functions that rewritten code calls: for delayed stores (ptx/passes/delay_stores.cpp), and
// under stress (stressed_blocks.cuh). Addresses are
// generic. A thread's buffer is its own: nothing here synchronises, and no function lets a store
// past an older one of the same thread to the same bytes.
//
// Lanes that call together return together, for what follows may be an instruction for whole warps.
#include <cstdint>

#include "device_logger/logger_queue.cuh"
#include "device_logger/store_delays.h"

namespace barracuda::wire {

// How long a drain lets others look: 1, 2, 4 … 256 naps, each as likely. How often: at first in one
// of two drains, then in ever fewer, so that n drains of a thread linger some sqrt(8n) times.
constexpr std::uint32_t kNapLengths = 9, kNapNanoseconds = 1000;
constexpr std::uint64_t kLingersAtFirst = 4, kDrainsAtFirst = 8;

__device__ __forceinline__ std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

__device__ __forceinline__ bool is_local(std::uint64_t address) {
  std::uint32_t is;
  asm("{\n.reg .pred p;\nisspacep.local p, %1;\nselp.u32 %0, 1, 0, p;\n}"
      : "=r"(is)
      : "l"(address));
  return is != 0;
}

__device__ __forceinline__ bool is_shared(std::uint64_t address) {
  std::uint32_t is;
#if __CUDA_ARCH__ >= 900
  asm("{\n.reg .pred p;\nisspacep.shared::cluster p, %1;\nselp.u32 %0, 1, 0, p;\n}"
#else
  asm("{\n.reg .pred p;\nisspacep.shared p, %1;\nselp.u32 %0, 1, 0, p;\n}"
#endif
      : "=r"(is)
      : "l"(address));
  return is != 0;
}

__device__ __forceinline__ void write(const StoreBufferEntry& entry) {
  const bool is_strong = (entry.flags & kStrongStore) != 0;
  const std::uint64_t address = entry.address, low = entry.low, high = entry.high;
  const auto word = static_cast<std::uint32_t>(low);
  const auto half = static_cast<std::uint16_t>(low);
#define BARRACUDA_WRITE(type, constraint, value)                                             \
  if (is_strong) {                                                                           \
    asm volatile("st.relaxed.sys." type " [%0], %1;" ::"l"(address), constraint(value)       \
                 : "memory");                                                                \
  } else {                                                                                   \
    asm volatile("st.weak." type " [%0], %1;" ::"l"(address), constraint(value) : "memory"); \
  }
  switch (entry.bytes) {
    case 1:
      BARRACUDA_WRITE("u8", "r", word)
      break;
    case 2:
      BARRACUDA_WRITE("u16", "h", half)
      break;
    case 4:
      BARRACUDA_WRITE("u32", "r", word)
      break;
    case 8:
      BARRACUDA_WRITE("u64", "l", low)
      break;
    default:
      if (is_strong) {
        asm volatile("st.relaxed.sys.v2.u64 [%0], {%1, %2};" ::"l"(address), "l"(low), "l"(high)
                     : "memory");
      } else {
        asm volatile("st.weak.v2.u64 [%0], {%1, %2};" ::"l"(address), "l"(low), "l"(high)
                     : "memory");
      }
  }
#undef BARRACUDA_WRITE
}

// Of the calling thread.
class StoreBuffer {
 public:
  __device__ __forceinline__ StoreBuffer() {
    if (__barracuda_block.descriptor == 0) {
      return;
    }
    const StoreDelays& delays =
        reinterpret_cast<const LaunchDescriptor*>(__barracuda_block.descriptor)->store_delays;
    const std::uint32_t block = linear_cta();
    if (delays.arena == 0 || block >= delays.blocks) {
      return;
    }
    delays_ = &delays;
    thread_ = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const std::uint64_t slot =
        std::uint64_t{block} * (blockDim.x * blockDim.y * blockDim.z) + thread_;
    header_ = reinterpret_cast<StoreBufferHeader*>(delays.arena +
                                                   slot * store_buffer_bytes(delays.capacity));
    entries_ = reinterpret_cast<StoreBufferEntry*>(header_ + 1);
  }

  __device__ __forceinline__ bool is_there() const { return header_ != nullptr; }

  __device__ __forceinline__ bool may_hold(std::uint64_t address, std::uint32_t bytes) const {
    return header_->count != 0 && (header_->bloom & bloom_of(address, bytes)) != 0;
  }

  // Draws whether a store is delayed.
  __device__ __forceinline__ bool draw(std::uint64_t address) {
    if (header_->launch != delays_->launch) {
      header_->launch = delays_->launch;
      header_->serial = 0;
      header_->lingers = 0;
    }
    const std::uint64_t number = ++header_->serial;
    if ((delays_->spaces & (is_shared(address) ? kDelaysShared : kDelaysGlobal)) == 0) {
      return false;
    }
    std::uint64_t value = mix(delays_->seed);
    value = mix(value ^ mix(delays_->launch));
    value = mix(value ^ mix(linear_cta()));
    value = mix(value ^ mix(thread_));
    return (mix(value + number) & 0xffffffffU) < delays_->threshold;
  }

  __device__ __forceinline__ void append(const StoreBufferEntry& entry) {
    if (header_->count == delays_->capacity) {
      drop_holes();
    }
    if (header_->count == delays_->capacity) {
      leave(0);
      drop_holes();
    }
    entries_[header_->count++] = entry;
    header_->bloom |= bloom_of(entry.address, entry.bytes);
  }

  // Writes what waits for these bytes, and what must go before that.
  __device__ __forceinline__ void settle(std::uint64_t address, std::uint32_t bytes) {
    if (!may_hold(address, bytes)) {
      return;
    }
    const std::uint32_t count = header_->count;
    for (std::uint32_t i = count; i-- > 0;) {
      bool leaves = overlaps(i, address, bytes);
      for (std::uint32_t younger = i + 1; !leaves && younger < count; ++younger) {
        leaves = (entries_[younger].flags & kLeaves) != 0 && overlap(i, younger);
      }
      if (leaves) {
        entries_[i].flags |= kLeaves;
      }
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if ((entries_[i].flags & kLeaves) != 0) {
        leave(i);
      }
    }
    drop_holes();
  }

  // An access that others may see is about to pass what waits.
  __device__ __forceinline__ void pass() {
    if (header_->count != 0) {
      header_->is_passed = 1;
    }
  }

  // Lets others look at memory in which an access is that has passed what waits.
  __device__ __forceinline__ void linger() {
    if (header_->count == 0 || header_->is_passed == 0) {
      return;
    }
    header_->is_passed = 0;
    const std::uint64_t random = mix(draw_of_drain() ^ mix(header_->lingers));
    if ((random & 0xffffffffU) * (kDrainsAtFirst + header_->lingers) < kLingersAtFirst << 32) {
      ++header_->lingers;
      for (std::uint32_t naps = 1U << ((random >> 32) % kNapLengths); naps > 0; --naps) {
        __nanosleep(kNapNanoseconds);
      }
    }
  }

  // Different bytes in random order. There are no holes but those that it makes.
  __device__ __forceinline__ void drain() {
    const std::uint32_t count = header_->count;
    if (count == 0) {
      return;
    }
    std::uint64_t random = draw_of_drain();
    for (std::uint32_t left = count; left > 0; --left) {
      random = mix(random);
      auto i = static_cast<std::uint32_t>(random % count);
      while (entries_[i].bytes == 0) {
        i = i + 1 == count ? 0 : i + 1;
      }
      for (std::uint32_t older = 0; older < i;) {
        if (overlap(older, i)) {
          i = older;
          older = 0;
        } else {
          ++older;
        }
      }
      leave(i);
    }
    header_->count = 0;
    header_->bloom = 0;
    header_->is_passed = 0;
  }

  // What the thread reads: the bytes of memory under those that wait, the oldest first.
  __device__ __forceinline__ void overlay(std::uint64_t address, std::uint32_t bytes,
                                          std::uint64_t& low, std::uint64_t& high) const {
    Word value = join(low, high);
    for (std::uint32_t i = 0; i < header_->count; ++i) {
      if (overlaps(i, address, bytes)) {
        const StoreBufferEntry& entry = entries_[i];
        Word stored = join(entry.low, entry.high), mask = mask_of(entry.bytes);
        if (entry.address >= address) {
          const auto shift = static_cast<std::uint32_t>(entry.address - address) * 8;
          stored <<= shift;
          mask <<= shift;
        } else {
          const auto shift = static_cast<std::uint32_t>(address - entry.address) * 8;
          stored >>= shift;
          mask >>= shift;
        }
        value = (value & ~mask) | (stored & mask);
      }
    }
    low = static_cast<std::uint64_t>(value);
    high = static_cast<std::uint64_t>(value >> 64);
  }

 private:
  using Word = unsigned __int128;

  __device__ __forceinline__ static Word join(std::uint64_t low, std::uint64_t high) {
    return static_cast<Word>(high) << 64 | low;
  }

  __device__ __forceinline__ static Word mask_of(std::uint32_t bytes) {
    return bytes == 16 ? ~Word{0} : (Word{1} << (8 * bytes)) - 1;
  }

  __device__ __forceinline__ static std::uint64_t bloom_of(std::uint64_t address,
                                                           std::uint32_t bytes) {
    std::uint64_t bits = 0;
    for (std::uint64_t granule = address >> 3; granule <= (address + bytes - 1) >> 3; ++granule) {
      bits |= std::uint64_t{1} << (mix(granule) & 63);
    }
    return bits;
  }

  __device__ __forceinline__ bool overlaps(std::uint32_t i, std::uint64_t address,
                                           std::uint32_t bytes) const {
    const StoreBufferEntry& entry = entries_[i];
    return entry.bytes != 0 && entry.address < address + bytes &&
           address < entry.address + entry.bytes;
  }

  __device__ __forceinline__ bool overlap(std::uint32_t i, std::uint32_t other) const {
    return overlaps(i, entries_[other].address, entries_[other].bytes);
  }

  __device__ __forceinline__ void leave(std::uint32_t i) {
    if (entries_[i].bytes != 0) {
      write(entries_[i]);
      entries_[i].bytes = 0;
      entries_[i].flags = 0;
    }
  }

  __device__ __forceinline__ void drop_holes() {
    std::uint32_t kept = 0;
    std::uint64_t bloom = 0;
    for (std::uint32_t i = 0; i < header_->count; ++i) {
      if (entries_[i].bytes != 0) {
        bloom |= bloom_of(entries_[i].address, entries_[i].bytes);
        entries_[kept++] = entries_[i];
      }
    }
    header_->count = kept;
    header_->bloom = bloom;
  }

  __device__ __forceinline__ std::uint64_t draw_of_drain() const {
    const std::uint64_t slot = std::uint64_t{linear_cta()} << 32 | thread_;
    return mix(delays_->seed ^ mix(header_->serial) ^ mix(slot));
  }

  const StoreDelays* delays_ = nullptr;
  StoreBufferHeader* header_ = nullptr;
  StoreBufferEntry* entries_ = nullptr;
  std::uint32_t thread_ = 0;
};

struct LoadedBytes {
  std::uint64_t low, high;
};

}  // namespace barracuda::wire

#define BARRACUDA_HOOK extern "C" __device__ __noinline__

#include "device_logger/stressed_blocks.cuh"

// 1: the store waits, and must not be executed. 0: what was older on its bytes is written.
BARRACUDA_HOOK std::uint32_t __barracuda_delay(std::uint64_t address, std::uint64_t low,
                                               std::uint64_t high, std::uint32_t bytes_and_flags) {
  using namespace barracuda::wire;
  const std::uint32_t together = __activemask();
  const std::uint32_t bytes = bytes_and_flags & ((1U << kStrongStoreShift) - 1);
  std::uint32_t waits = 0;
  StoreBuffer buffer;
  if (buffer.is_there() && !is_local(address)) {
    if (buffer.draw(address)) {
      buffer.append({address, low, high, bytes, bytes_and_flags >> kStrongStoreShift});
      waits = 1;
    } else {
      buffer.settle(address, bytes);
      buffer.pass();
    }
  }
  converge_lanes(together);
  return waits;
}

// What a load of so many bytes reads, of what it found in memory.
BARRACUDA_HOOK barracuda::wire::LoadedBytes __barracuda_overlay(std::uint64_t address,
                                                                std::uint64_t low,
                                                                std::uint64_t high,
                                                                std::uint32_t bytes) {
  using namespace barracuda::wire;
  const std::uint32_t together = __activemask();
  const StoreBuffer buffer;
  LoadedBytes loaded{low, high};
  if (buffer.is_there() && buffer.may_hold(address, bytes)) {
    buffer.overlay(address, bytes, loaded.low, loaded.high);
  }
  converge_lanes(together);
  return loaded;
}

// Before an access of these bytes that finds them in memory.
BARRACUDA_HOOK void __barracuda_settle(std::uint64_t address, std::uint32_t bytes) {
  using namespace barracuda::wire;
  const std::uint32_t together = __activemask();
  StoreBuffer buffer;
  if (buffer.is_there()) {
    buffer.settle(address, bytes);
    buffer.pass();
  }
  converge_lanes(together);
}

BARRACUDA_HOOK void __barracuda_drain(std::uint32_t how) {
  using namespace barracuda::wire;
  const std::uint32_t together = __activemask();
  StoreBuffer buffer;
  if (buffer.is_there()) {
    if (how == kDrainLingers) {
      buffer.linger();
    }
    buffer.drain();
  }
  converge_lanes(together);
}
