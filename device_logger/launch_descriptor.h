// What an instrumented kernel needs to log: the hidden last parameter of every instrumented entry
// is the address of one of these, in pinned host memory that the device reads. It lives until the
// launch is over; two launches in flight never share one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_logger/block_order.h"
#include "device_logger/quiet_sites.h"
#include "device_logger/record.h"
#include "device_logger/shared_states.h"
#include "device_logger/store_delays.h"
#include "device_logger/unlogged_memory.h"

namespace barracuda::wire {

inline constexpr std::uint32_t kHeadStride = 128;  // bytes between the claim counters of two queues
inline constexpr std::uint32_t kReadPositionStride = 128;

enum class CommitMode : std::uint32_t {
  kSelfValidating = 0,  // relies on 16-byte stores landing whole, tested at start-up
  kFenceAndFlag = 1,    // everything but HeaderHalf, a system fence, then HeaderHalf
};

struct alignas(128) LaunchDescriptor {
  std::uint32_t version = kProtocolVersion;
  std::uint32_t launch = 0;       // low 16 bits of the launch id
  std::uint32_t queue_count = 0;  // a CTA logs to queue (cluster or CTA index) % queue_count
  std::uint32_t slots_log2 = 0;   // slots of each ring
  std::uint64_t rings = 0;        // queue q at rings + q * (kSlotBytes << slots_log2), pinned host
  // u64 claimed slots of queue q at heads + q * kHeadStride, device; the u64 behind it is the
  // logger's copy of the read position. Both start zeroed, and are zeroed together with the read
  // position.
  std::uint64_t heads = 0;
  std::uint64_t read_positions = 0;  // u64 freed slots of queue q, kReadPositionStride, pinned host
  std::uint64_t order_counters = 0;  // u32[kOrderCounters], device
  CommitMode commit_mode = CommitMode::kSelfValidating;
  // Not 0: unless a queue is full, a claim executes the same instructions however far the host has
  // read, so that a seeded schedule does not depend on the host.
  std::uint32_t steady_claims = 0;
  BlockOrder block_order;
  StoreDelays store_delays;  // of code that is not made to log but to delay its stores
  UnloggedMemory unlogged;
  // A StressedLaunch, in pinned host memory, of code that reads one; 0: nothing is changed.
  std::uint64_t stressed = 0;
  std::uint64_t owners = 0;  // of the memory that is watched, device (word_owners.h)
  SharedStates states;
  OwnedSites owned_sites;
  // u32[kQuietWords], pinned host memory (quiet_sites.h); 0: all sites are logged.
  std::uint64_t quiet_sites = 0;
};

static_assert(offsetof(LaunchDescriptor, version) == 0 && offsetof(LaunchDescriptor, launch) == 4 &&
              offsetof(LaunchDescriptor, queue_count) == 8 &&
              offsetof(LaunchDescriptor, slots_log2) == 12);
static_assert(offsetof(LaunchDescriptor, rings) == 16 && offsetof(LaunchDescriptor, heads) == 24 &&
              offsetof(LaunchDescriptor, read_positions) == 32 &&
              offsetof(LaunchDescriptor, order_counters) == 40);
static_assert(offsetof(LaunchDescriptor, commit_mode) == 48 &&
              offsetof(LaunchDescriptor, steady_claims) == 52 &&
              offsetof(LaunchDescriptor, block_order) == 56 &&
              offsetof(LaunchDescriptor, store_delays) == 64 &&
              offsetof(LaunchDescriptor, unlogged) == 104);
static_assert(offsetof(BlockOrder, window) == 0 && offsetof(BlockOrder, factor) == 2 &&
              offsetof(BlockOrder, turn) == 4 && sizeof(BlockOrder) == 8);
static_assert(offsetof(LaunchDescriptor, unlogged) + offsetof(UnloggedMemory, ranges) +
                      sizeof(UnloggedRange) ==
                  128,
              "what every record needs, and the first range, are a cache line of the device; a "
              "range is one load");
static_assert(offsetof(LaunchDescriptor, stressed) == 104 + sizeof(UnloggedMemory) &&
                  offsetof(LaunchDescriptor, owners) == 376 &&
                  offsetof(LaunchDescriptor, states) == 384 &&
                  offsetof(LaunchDescriptor, owned_sites) == 416 &&
                  offsetof(LaunchDescriptor, quiet_sites) == 2432 &&
                  sizeof(LaunchDescriptor) == 2560,
              "what has an offset in the device's code");
static_assert(kHeadStride >= 2 * sizeof(std::uint64_t),
              "beside a queue's claim counter lies its copy of the read position");
static_assert(kReadPositionStride % kHeadStride == 0 && kHeadStride % 128 == 0,
              "counters of two queues share no line");

}  // namespace barracuda::wire
