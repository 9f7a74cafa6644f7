// Thesis 5.1, after MAGMA's zgemvt_kernel_fermi: the lanes of a warp leave sums in shared memory
// and lane 0 adds them, in the belief that they are visible at once. The thesis orders them by a
// fence of the block, which orders no lanes by PTX: that takes __syncwarp().
//
// expect: none
// weak: never
// variant fence: -DORDER=1
// expect fence: race intra-warp shared
// weak fence: never
// variant no_fence: -DORDER=0
// expect no_fence: race intra-warp shared
// weak no_fence: fails
// fence no_fence: __syncwarp, acq_rel cta
// behind no_fence: sums[i] += sums[i + 32]
#include "weak.h"

#ifndef ORDER
#  define ORDER 2
#endif

constexpr int kThreads = 64;

__global__ void sum(const int* values, int* total) {
  __shared__ int sums[kThreads];
  const int i = threadIdx.x;
  sums[i] = values[i];
  __syncthreads();
  if (i < 32) {
    sums[i] += sums[i + 32];  // RACE
  }
  if (ORDER == 1) {
    __threadfence_block();
  } else if (ORDER == 2) {
    __syncwarp();
  }
  if (i == 0) {
    int all = sums[0];
    for (int lane = 1; lane < 32; ++lane) {
      all += sums[lane];  // RACE
    }
    *total = all;
  }
}

int run_round() {
  std::vector<int> values(kThreads);
  long long expected = 0;
  for (int i = 0; i < kThreads; ++i) {
    values[i] = i * i + 1;
    expected += values[i];
  }
  int* const total = device_array<int>(1);
  sum<<<1, kThreads>>>(to_device(values), total);
  finish_kernels();
  return conclude("the sum is", to_host(total, 1)[0], expected);
}
