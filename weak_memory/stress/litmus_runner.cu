// The kernel that runs a litmus test many times: its threads meet, wait a moment, and each does its
// part; the blocks that the test does not need disturb memory meanwhile (Sorensen, Donaldson). What
// a thread does is another module's, made of the test (litmus_kernel.h) and linked with this one.
#include "device_logger/disturbance.cuh"
#include "weak_memory/stress/litmus_launch.h"

namespace barracuda::stress {

// The part of one thread: `memory` is that of this iteration, its locations `stride` words apart.
extern "C" __device__ void barracuda_litmus_thread(std::uint32_t thread, std::uint32_t* memory,
                                                   std::uint32_t stride, std::uint32_t* registers);

__device__ __forceinline__ std::uint32_t load_relaxed(const std::uint32_t* at) {
  std::uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at));
  return value;
}

__device__ __forceinline__ void add_relaxed(std::uint32_t* at) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(at));
}

__device__ __forceinline__ void disturb(const LitmusLaunch& launch) {
  if (launch.stress.kind == StressKind::kNone || threadIdx.x >= launch.stress.threads) {
    return;
  }
  const auto* const done = reinterpret_cast<const std::uint32_t*>(launch.done);
  Disturbance disturbance(launch.stress, launch.scratch, launch.seed,
                          blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
  while (load_relaxed(done) < launch.threads) {
    disturbance.run();
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
