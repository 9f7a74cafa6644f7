// The dot product of "CUDA by Example": each block sums its part in shared memory, and thread 0
// adds the block's sum to the total under a mutex of atomicCAS and atomicExch. The book has neither
// fence.
//
// expect: none
// weak: never
// variant unlock_fence: -DLOCK_FENCE=0
// expect unlock_fence: race inter-block global
// weak unlock_fence: fails
// fence unlock_fence: LOCK_FENCE, acq_rel gpu
// behind unlock_fence: while (atomicCAS(mutex
// variant lock_fence: -DUNLOCK_FENCE=0
// expect lock_fence: race inter-block global
// weak lock_fence: fails
// fence lock_fence: UNLOCK_FENCE, acq_rel gpu
// behind lock_fence: *total += cache[0]
// variant no_fence: -DLOCK_FENCE=0 -DUNLOCK_FENCE=0
// expect no_fence: race inter-block global
// weak no_fence: fails
#include "weak.h"

#ifndef LOCK_FENCE
#  define LOCK_FENCE 1
#endif
#ifndef UNLOCK_FENCE
#  define UNLOCK_FENCE 1
#endif

constexpr int kCount = 33 * 1024;
constexpr int kThreads = 256;
constexpr int kBlocks = 32;

struct Lock {
  int* mutex;

  __device__ void lock() {
    while (atomicCAS(mutex, 0, 1) != 0) {
    }
    if (LOCK_FENCE) {
      __threadfence();
    }
  }

  __device__ void unlock() {
    if (UNLOCK_FENCE) {
      __threadfence();
    }
    atomicExch(mutex, 0);
  }
};

__global__ void dot(Lock lock, const int* a, const int* b, int* total) {
  __shared__ int cache[kThreads];
  int sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < kCount; i += gridDim.x * kThreads) {
    sum += a[i] * b[i];
  }
  cache[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half != 0; half /= 2) {
    if (threadIdx.x < half) {
      cache[threadIdx.x] += cache[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    lock.lock();
    *total += cache[0];  // RACE
    lock.unlock();
  }
}

int run_round() {
  std::vector<int> a(kCount), b(kCount);
  long long expected = 0;
  for (int i = 0; i < kCount; ++i) {
    a[i] = i % 17;
    b[i] = i % 5 + 1;
    expected += a[i] * b[i];
  }
  int* const total = device_array<int>(1);
  dot<<<kBlocks, kThreads>>>(Lock{device_array<int>(1)}, to_device(a), to_device(b), total);
  finish_kernels();
  return conclude("the sum is", to_host(total, 1)[0], expected);
}
