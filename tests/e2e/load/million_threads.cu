// One million threads (4096 x 256) with barriers and locks: each word of an array is written by a
// thread of its block and by one of another block, which nothing orders; the counters under the
// locks are right. So there is one race, and it occurs once for every word.
#include <cstdio>

#include <cuda_runtime.h>

constexpr unsigned kBlocks = 4096;
constexpr unsigned kThreads = 256;
constexpr unsigned kWords = kBlocks * kThreads;
constexpr unsigned kLocks = 64;

__device__ void add_locked(int* lock, int* counter, int value) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *counter += value;
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void load(int* words, int* locks, int* counters) {
  __shared__ int sum;
  const unsigned mine = blockIdx.x * kThreads + threadIdx.x;
  if (threadIdx.x == 0) {
    sum = 0;
  }
  __syncthreads();
  words[mine] = static_cast<int>(mine);                                    // RACE
  words[(mine + kWords / 2) % kWords] = static_cast<int>(mine % 256) + 1;  // RACE
  atomicAdd(&sum, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned lock = blockIdx.x % kLocks;
    add_locked(&locks[lock], &counters[lock], sum);
  }
}

int main() {
  int* words = nullptr;
  int* locks = nullptr;
  int* counters = nullptr;
  int totals[kLocks];
  if (cudaMalloc(&words, kWords * sizeof(int)) != cudaSuccess ||
      cudaMalloc(&locks, sizeof totals) != cudaSuccess ||
      cudaMalloc(&counters, sizeof totals) != cudaSuccess ||
      cudaMemset(locks, 0, sizeof totals) != cudaSuccess ||
      cudaMemset(counters, 0, sizeof totals) != cudaSuccess) {
    return 1;
  }
  load<<<kBlocks, kThreads>>>(words, locks, counters);
  if (cudaMemcpy(totals, counters, sizeof totals, cudaMemcpyDeviceToHost) != cudaSuccess) {
    return 1;
  }
  long long total = 0;
  for (const int each : totals) {
    total += each;
  }
  std::printf("%lld\n", total);
  return total == kWords ? 0 : 1;
}
