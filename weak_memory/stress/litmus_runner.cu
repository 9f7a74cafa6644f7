// The kernel that runs a litmus test many times: its threads meet, wait a moment, and each does its
// part; the blocks that the test does not need disturb memory meanwhile (Sorensen, Donaldson). What
// a thread does is another module's, made of the test (litmus_kernel.h) and linked with this one.
#include "weak_memory/stress/litmus_launch.h"

namespace barracuda::stress {

// The part of one thread: `memory` is that of this iteration, its locations `stride` words apart.
extern "C" __device__ void barracuda_litmus_thread(std::uint32_t thread, std::uint32_t* memory,
                                                   std::uint32_t stride, std::uint32_t* registers);

__device__ __forceinline__ std::uint32_t mix(std::uint32_t value) {
  value = (value ^ (value >> 16)) * 0x7feb352dU;
  value = (value ^ (value >> 15)) * 0x846ca68bU;
  return value ^ (value >> 16);
}

__device__ __forceinline__ std::uint32_t load_relaxed(const std::uint32_t* at) {
  std::uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at));
  return value;
}

__device__ __forceinline__ void add_relaxed(std::uint32_t* at) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(at));
}

__device__ __forceinline__ void access(volatile std::uint32_t* at, bool is_store,
                                       std::uint32_t value) {
  if (is_store) {
    *at = value;
  } else {
    (void)*at;
  }
}

__device__ __forceinline__ void disturb(const LitmusLaunch& launch) {
  constexpr std::uint32_t kStepsBetweenLooks = 16;
  const StressShape& shape = launch.stress;
  if (shape.kind == StressKind::kNone || threadIdx.x >= shape.threads) {
    return;
  }
  auto* const scratch = reinterpret_cast<volatile std::uint32_t*>(launch.scratch);
  const auto* const done = reinterpret_cast<const std::uint32_t*>(launch.done);
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t all = gridDim.x * blockDim.x;
  const std::uint32_t patches = shape.words / shape.patch;
  std::uint32_t random = mix(launch.seed ^ mix(thread));
  std::uint32_t streamed = thread;
  while (load_relaxed(done) < launch.threads) {
    for (std::uint32_t step = 0; step < kStepsBetweenLooks; ++step) {
      random = mix(random + 0x9e3779b9U);
      if (shape.kind == StressKind::kRandom) {
        access(scratch + (random & (shape.words - 1)), (random >> 31) != 0, random);
      } else if (shape.kind == StressKind::kCache) {
        volatile std::uint32_t* const at = scratch + (streamed & (shape.words - 1));
        *at = *at + 1;
        streamed += all;
      } else {
        // The patches are drawn for the launch, one of them for each thread.
        const std::uint32_t patch = mix(launch.seed + thread % shape.spread) % patches;
        for (std::uint32_t i = 0; i < shape.length; ++i) {
          access(scratch + patch * shape.patch, (shape.stores >> i & 1) != 0, random);
        }
      }
    }
  }
}

__device__ __forceinline__ void meet(const LitmusLaunch& launch, std::uint32_t iteration,
                                     std::uint32_t thread) {
  auto* const meeting = reinterpret_cast<std::uint32_t*>(launch.meetings) + iteration;
  add_relaxed(meeting);
  while (load_relaxed(meeting) < launch.threads) {
  }
  if (launch.longest_wait != 0) {
    const std::uint32_t turns =
        mix(launch.seed ^ mix(iteration * kMostTestThreads + thread)) % launch.longest_wait;
    for (std::uint32_t i = 0; i < turns; ++i) {
      asm volatile("");
    }
  }
}

extern "C" __global__ void barracuda_litmus(const LitmusLaunch launch) {
  const std::uint32_t role = reinterpret_cast<const std::uint32_t*>(launch.roles)[blockIdx.x];
  if (role >= launch.ctas) {
    disturb(launch);
    return;
  }
  const std::uint32_t warp = threadIdx.x / kWarp;
  if (threadIdx.x % kWarp != 0 || warp >= kMostTestThreads ||
      launch.thread_of[role][warp] == kNoThread) {
    return;
  }
  const std::uint32_t thread = launch.thread_of[role][warp];
  auto* memory = reinterpret_cast<std::uint32_t*>(launch.memory);
  auto* registers =
      reinterpret_cast<std::uint32_t*>(launch.registers) + launch.first_register[thread];
  for (std::uint32_t i = 0; i < launch.iterations; ++i) {
    meet(launch, i, thread);
    barracuda_litmus_thread(thread, memory, launch.stride, registers);
    memory += launch.locations * launch.stride;
    registers += launch.register_count;
  }
  add_relaxed(reinterpret_cast<std::uint32_t*>(launch.done));
}

}  // namespace barracuda::stress
