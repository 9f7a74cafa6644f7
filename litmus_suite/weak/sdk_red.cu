// NVIDIA's threadFenceReduction sample: each block writes the sum of its part, and the block that
// draws the last ticket sums these. The sample has the fence before the ticket, and none after it.
// Its last warp adds without __syncwarp(); here it has that, so that only the fences are in
// question.
//
// expect: none
// weak: never
// variant ticket_fence: -DLAST_FENCE=0
// expect ticket_fence: race inter-block global
// weak ticket_fence: never
// fence ticket_fence: LAST_FENCE, not shown
// variant last_fence: -DTICKET_FENCE=0
// expect last_fence: race inter-block global
// weak last_fence: fails
// fence last_fence: TICKET_FENCE, acq_rel gpu
// behind last_fence: sums[blockIdx.x] = sum
// variant no_fence: -DLAST_FENCE=0 -DTICKET_FENCE=0
// expect no_fence: race inter-block global
// weak no_fence: fails
#include "weak.h"

#ifndef TICKET_FENCE
#  define TICKET_FENCE 1
#endif
#ifndef LAST_FENCE
#  define LAST_FENCE 1
#endif

constexpr int kCount = 1 << 14;
constexpr int kThreads = 128;
constexpr int kBlocks = 64;

__device__ unsigned int g_tickets = 0;

__device__ int sum_of_block(int mine, volatile int* partial) {
  const int i = threadIdx.x;
  partial[i] = mine;
  __syncthreads();
  if (i < 64) {
    partial[i] = mine = mine + partial[i + 64];
  }
  __syncthreads();
  if (i < 32) {
    partial[i] = mine = mine + partial[i + 32];
    for (int half = 16; half != 0; half /= 2) {
      __syncwarp();
      const int other = partial[i + half];
      __syncwarp();
      partial[i] = mine = mine + other;
    }
  }
  return mine;
}

__global__ void reduce(const int* values, volatile int* sums, int* total) {
  __shared__ int partial[kThreads];
  __shared__ bool is_last;
  int mine = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < kCount; i += gridDim.x * kThreads) {
    mine += values[i];
  }
  const int sum = sum_of_block(mine, partial);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;  // RACE
  }
  if (TICKET_FENCE) {
    __threadfence();
  }
  if (threadIdx.x == 0) {
    is_last = atomicInc(&g_tickets, gridDim.x) == gridDim.x - 1;
    if (LAST_FENCE) {
      __threadfence();
    }
  }
  __syncthreads();
  if (is_last) {
    mine = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += kThreads) {
      mine += sums[i];  // RACE
    }
    const int all = sum_of_block(mine, partial);
    if (threadIdx.x == 0) {
      *total = all;
      g_tickets = 0;
    }
  }
}

int run_round() {
  std::vector<int> values(kCount);
  long long expected = 0;
  for (int i = 0; i < kCount; ++i) {
    values[i] = i % 29 + 1;
    expected += values[i];
  }
  int* const total = device_array<int>(1);
  reduce<<<kBlocks, kThreads>>>(to_device(values), device_array<int>(kBlocks), total);
  finish_kernels();
  return conclude("the sum is", to_host(total, 1)[0], expected);
}
