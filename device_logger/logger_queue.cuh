// The device's end of a queue: slots are claimed by one atomic of one lane, every 16-byte half is
// one store, and a full queue makes the claiming lane wait. Everything here runs in hooks, so it
// must not touch the program's memory.
#pragma once

#include <cstdint>

#include "device_logger/block_events.h"
#include "device_logger/block_memory.cuh"
#include "device_logger/half_store.cuh"
#include "device_logger/launch_descriptor.h"
#include "device_logger/order_number.h"
#include "device_logger/record.h"
#include "device_logger/warp_mask.cuh"
#include "device_logger/write_record.h"

// Module scope, so that a .func finds what its .entry stored (symbols.h: kBlockWords).
extern "C" {
__shared__ __align__(16) barracuda::wire::BlockWords __barracuda_block;
}

namespace barracuda::wire {

__device__ __forceinline__ std::uint32_t lane_id() {
  std::uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

// The lanes that execute a hook together, from one site. Each has a value of its own
// (write_record.h).
//
// The hardware may run lanes that called from different places through one hook as one, so the
// answers here are cut to the mask, and come from ask_lanes(). (Letting one site wait for the other
// is no way out: it does not end where lanes come together behind __activemask().)
struct Lanes {
  using Words = std::uint64_t;
  using Flags = bool;

  std::uint32_t mask;
  std::uint32_t lane;
  std::uint32_t leader;

  __device__ __forceinline__ explicit Lanes(std::uint32_t active)
      : mask(active),
        lane(lane_id()),
        leader(static_cast<std::uint32_t>(__ffs(static_cast<int>(active))) - 1) {}

  __device__ __forceinline__ static Lanes at_site(std::uint32_t site) {
    return Lanes(__match_any_sync(__activemask(), site));
  }

  // Of the lanes of a mask those that have this lane's value.
  template <class Value>
  __device__ __forceinline__ static std::uint32_t like(std::uint32_t lanes, Value value) {
    return ask_lanes(lanes, [value](std::uint32_t here) { return __match_any_sync(here, value); }) &
           lanes;
  }

  __device__ __forceinline__ std::uint32_t those(bool are) const {
    return ask_lanes(mask, [are](std::uint32_t here) { return __ballot_sync(here, are); }) & mask;
  }

  __device__ __forceinline__ bool leads() const { return lane == leader; }

  __device__ __forceinline__ std::uint32_t count() const {
    return static_cast<std::uint32_t>(__popc(mask));
  }

  __device__ __forceinline__ std::uint32_t rank() const {
    return static_cast<std::uint32_t>(__popc(mask & ((1U << lane) - 1)));
  }

  template <class Value>
  __device__ __forceinline__ Value value_at(Value value, std::uint32_t other) const {
    return ask_lanes(mask, [value, other](std::uint32_t here) {
      return __shfl_sync(here, value, static_cast<int>(other));
    });
  }

  __device__ __forceinline__ Words common(Words words) const { return words; }

  __device__ __forceinline__ std::uint64_t broadcast(std::uint64_t value) const {
    return value_at(value, leader);
  }

  template <class Predicate>
  __device__ __forceinline__ std::uint32_t which(Words words, const Predicate& is) const {
    return those(is(lane, words));
  }

  template <class Predicate>
  __device__ __forceinline__ bool none(Words words, const Predicate& is) const {
    return those(is(lane, words)) == 0;
  }

  template <class Work>
  __device__ __forceinline__ void for_each(const Work& do_it) const {
    do_it(lane, rank());
  }

  __device__ __forceinline__ Words of(Words words, std::uint32_t /*own*/) const { return words; }

  __device__ __forceinline__ bool is_set(Flags flags, std::uint32_t /*own*/) const { return flags; }

  __device__ __forceinline__ Flags everywhere() const { return true; }

  __device__ __forceinline__ bool all(Flags flags) const { return those(!flags) == 0; }

  __device__ __forceinline__ bool all_store_alike(const StoredValues<Lanes>& values) const {
    return all(stores_as(values, leader));
  }

  __device__ __forceinline__ Flags alike_where_equal(Words addresses,
                                                     const StoredValues<Lanes>& values) const {
    const std::uint32_t group = like(mask, addresses);
    const std::uint32_t differs = those(!stores_as(values, lowest_bit(group)));
    return (differs & group) == 0;
  }

  // Of the words of all lanes, each in its place. Every lane gets it.
  __device__ __forceinline__ std::uint64_t mixed(Words words) const {
    std::uint64_t all = 0;
    const std::uint64_t own = mix(words, lane);
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      all ^= value_at(own, lowest_bit(rest));
    }
    return all;
  }

  __device__ __forceinline__ void converge() const { converge_lanes(mask); }

 private:
  __device__ __forceinline__ bool stores_as(const StoredValues<Lanes>& values,
                                            std::uint32_t other) const {
    bool same = value_at(values.low, other) == values.low;
    if (values.are_wide) {
      same = value_at(values.high, other) == values.high && same;
    }
    return same;
  }
};

__device__ __forceinline__ std::uint32_t linear_cta() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

__device__ __forceinline__ std::uint32_t linear_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// %warpid may change while a kernel runs; this does not.
__device__ __forceinline__ std::uint32_t linear_warp() {
  return linear_thread() / kWarpLanes;
}

// Of the cluster, so that one queue has all records of CTAs that see each other's shared memory.
__device__ __forceinline__ std::uint32_t queue_key() {
#if __CUDA_ARCH__ >= 900
  const dim3 cluster = __clusterIdx(), clusters = __clusterGridDimInClusters();
  return cluster.x + clusters.x * (cluster.y + clusters.y * cluster.z);
#else
  return linear_cta();
#endif
}

// The descriptor does not change while the kernel runs, so its loads may be cached.
__device__ __forceinline__ uint4 load_constant(std::uint64_t address) {
  uint4 words;
  asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
      : "l"(address));
  return words;
}

__device__ __forceinline__ std::uint32_t load_constant_word(std::uint64_t address) {
  std::uint32_t word;
  asm("ld.global.nc.u32 %0, [%1];" : "=r"(word) : "l"(address));
  return word;
}

__device__ __forceinline__ std::uint32_t load_constant_half(std::uint64_t address) {
  std::uint16_t half;
  asm("ld.global.nc.u16 %0, [%1];" : "=h"(half) : "l"(address));
  return half;
}

__device__ __forceinline__ std::uint64_t join(std::uint32_t low, std::uint32_t high) {
  return static_cast<std::uint64_t>(high) << 32 | low;
}

// The host may change the table meanwhile. It is read by way of L1, which keeps what it has as long
// as the line is used, so that is emptied now and then.
__device__ __forceinline__ bool is_quiet(std::uint64_t descriptor, std::uint32_t site) {
  constexpr std::uint32_t kLooksBetween = 4096;
  const std::uint64_t table =
      join(load_constant_word(descriptor + offsetof(LaunchDescriptor, quiet_sites)),
           load_constant_word(descriptor + offsetof(LaunchDescriptor, quiet_sites) + 4));
  if (table == 0) {
    return false;
  }
  if (static_cast<std::uint32_t>(clock()) / 16 % kLooksBetween == 0) {
    __threadfence();
  }
  const auto word_at = [&](std::uint32_t i) {
    std::uint32_t word;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(word) : "l"(table + std::uint64_t{4} * i));
    return word;
  };
  return has_quiet_bit(word_at, site);
}

class Queue {
 public:
  static constexpr bool kMayRefuse = false;

  __device__ __forceinline__ explicit Queue(std::uint64_t descriptor) : descriptor_(descriptor) {
    const uint4 first = load_constant(descriptor);
    const uint4 second = load_constant(descriptor + 16);
    const uint4 third = load_constant(descriptor + 32);
    const uint4 fourth = load_constant(descriptor + 48);
    const std::uint32_t queue = queue_key() % first.z;
    launch_ = first.y;
    slots_log2_ = first.w;
    ring_ =
        join(second.x, second.y) + queue * (static_cast<std::uint64_t>(kSlotBytes) << slots_log2_);
    head_ = join(second.z, second.w) + static_cast<std::uint64_t>(queue) * kHeadStride;
    read_position_ =
        join(third.x, third.y) + static_cast<std::uint64_t>(queue) * kReadPositionStride;
    order_counters_ = join(third.z, third.w);
    fence_and_flag_ = fourth.x == static_cast<std::uint32_t>(CommitMode::kFenceAndFlag);
    steady_ = fourth.y != 0;
    block_order_ = {.window = static_cast<std::uint16_t>(fourth.z),
                    .factor = static_cast<std::uint16_t>(fourth.z >> 16),
                    .turn = fourth.w};
  }

  __device__ __forceinline__ bool fence_and_flag() const { return fence_and_flag_; }

  __device__ __forceinline__ std::uint32_t launch() const { return launch_; }

  __device__ __forceinline__ std::uint32_t warp() const { return linear_warp(); }

  // The number by which the program knows a CTA.
  __device__ __forceinline__ std::uint32_t program_cta_of(std::uint32_t cta) const {
    return program_block(block_order_, cta, gridDim.x * gridDim.y * gridDim.z);
  }

  __device__ __forceinline__ std::uint32_t program_cta() const {
    return program_cta_of(linear_cta());
  }

  __device__ __forceinline__ std::uint64_t order_counter(std::uint64_t address) const {
    return order_counters_ + std::uint64_t{4} * order_counter_of(address);
  }

  // By one lane; returns the first slot once all `slots` are free.
  __device__ __forceinline__ std::uint64_t claim(std::uint32_t slots) const {
    tell_block();
    return claim_untold(slots);
  }

  // Of what the word of the block says itself.
  __device__ __forceinline__ std::uint64_t claim_untold(std::uint32_t slots) const {
    std::uint64_t slot;
    asm volatile("atom.global.add.u64 %0, [%1], %2;"
                 : "=l"(slot)
                 : "l"(head_), "l"(static_cast<std::uint64_t>(slots))
                 : "memory");
    wait_until_free(slot + slots);
    return slot;
  }

  // What follows in program order happens after the claim.
  __device__ __forceinline__ std::uint64_t claim_and_acquire(std::uint32_t slots) const {
    tell_block();
    std::uint64_t slot;
    asm volatile("atom.acquire.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(slot)
                 : "l"(head_), "l"(static_cast<std::uint64_t>(slots))
                 : "memory");
    wait_until_free(slot + slots);
    return slot;
  }

  // Half 0 or 1 of `slot`; its first word is the tag with `high16` above it.
  __device__ __forceinline__ void write_half(std::uint64_t slot, std::uint32_t half,
                                             std::uint32_t high16, std::uint32_t second,
                                             std::uint32_t third, std::uint32_t fourth) const {
    const std::uint64_t index = slot & ((std::uint64_t{1} << slots_log2_) - 1);
    const std::uint32_t first = lap_tag(slot, slots_log2_) | high16 << 16;
    store_half(ring_ + index * kSlotBytes + half * kHalfBytes, first, second, third, fourth);
  }

  // With the fallback, what was written before becomes visible before what is written after.
  __device__ __forceinline__ void order_commit() const {
    if (fence_and_flag_) {
      __threadfence_system();
    }
  }

 private:
  // Not looked at first: L1 may hold what a barrier has cleared since.
  __device__ __forceinline__ void tell_block() const {
    const BlockPlace header = __barracuda_block.header;
    if (header != 0) {
      set_block_bits(header + kLoggedOfBlock, kLoggedSinceBarrier | kLoggedEver);
    }
  }

  // The host writes the read position into host memory; the copy behind the claim counter saves
  // most reads over the bus. The copy may lag or, when two lanes race, go back: it only ever
  // understates. What it holds depends on how fast the host reads, and with it which instructions
  // run here; a steady claim does without it.
  __device__ __forceinline__ void wait_until_free(std::uint64_t end) const {
    const std::uint64_t capacity = std::uint64_t{1} << slots_log2_;
    if (end <= capacity) {
      return;
    }
    std::uint64_t position;
    if (!steady_) {
      asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(position) : "l"(head_ + 8) : "memory");
      if (end <= position + capacity) {
        return;
      }
    }
    for (;;) {
      asm volatile("ld.volatile.global.u64 %0, [%1];"
                   : "=l"(position)
                   : "l"(read_position_)
                   : "memory");
      if (end <= position + capacity) {
        break;
      }
      __nanosleep(500);
    }
    if (!steady_) {
      asm volatile("st.volatile.global.u64 [%0], %1;" ::"l"(head_ + 8), "l"(position) : "memory");
    }
  }

  std::uint64_t descriptor_, ring_, head_, read_position_, order_counters_;
  std::uint32_t launch_, slots_log2_;
  BlockOrder block_order_;
  bool fence_and_flag_, steady_;
};

// For the events that a block counts.
struct EventQueue : Queue {
  using Queue::Queue;

  __device__ __forceinline__ std::uint64_t claim(std::uint32_t slots) const {
    return claim_untold(slots);
  }
};

struct Log {
  std::uint64_t descriptor;

  __device__ __forceinline__ Queue open() const { return Queue(descriptor); }
};

}  // namespace barracuda::wire
