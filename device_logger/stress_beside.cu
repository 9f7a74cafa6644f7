// The kernel of stress_beside.h.
#include "device_logger/disturbance.cuh"
#include "device_logger/stress_beside.h"

extern "C" __global__ void __barracuda_stress_beside(const barracuda::wire::StressBeside launch) {
  using namespace barracuda::stress;
  const auto nanoseconds_now = [] {
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
  };
  const std::uint64_t begin = nanoseconds_now();
  std::uint32_t multiprocessor;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  // The other half stays free for the program.
  if (launch.stress.kind == StressKind::kNone ||
      (mix(launch.seed ^ mix(multiprocessor)) & 1) != 0) {
    return;
  }
  Disturbance disturbance(launch.stress, launch.scratch, launch.seed,
                          blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
  const auto* const stop = reinterpret_cast<const volatile std::uint32_t*>(launch.stop);
  while (*stop < launch.number && nanoseconds_now() - begin < launch.nanoseconds) {
    disturbance.run();
  }
}
