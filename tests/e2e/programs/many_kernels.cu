// 300 kernels of one template, as in NVIDIA's reduction sample, of which three are launched.
// All share the variables of their module. With an argument none has a race.
// expect: race - global
// expect fixed: none
// result: sum 8390656, calls 6, least 1, label ok
#include <cstdio>
#include <utility>

#include <cuda_runtime.h>

__device__ unsigned long long g_sum;  // the host reads it
static __device__ int g_calls = 3;    // no other unit sees it
__device__ int g_least[2] = {1 << 30, 1 << 30};
__constant__ int g_offset[2] = {0, 1};  // a kernel that reads it stays with its module
__managed__ int g_managed = 0;

__device__ __noinline__ int rotate(int value, int by) {
  return (value << by) | (value >> (31 - by));
}

// kBlock threads fold in shared memory; kFlavour makes kernels that differ.
template <int kBlock, int kFlavour>
__global__ void fold(const int* input, int count, int barriers) {
  __shared__ int sums[kBlock];
  int sum = 0;
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < count; i += gridDim.x * kBlock) {
    sum += kFlavour % 3 == 0   ? input[i]
           : kFlavour % 3 == 1 ? input[i] + kFlavour - kFlavour
                               : rotate(input[i], 0);
  }
  sums[threadIdx.x] = sum;
  for (int step = kBlock / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) {
      sums[threadIdx.x] += sums[threadIdx.x + step];
    }
  }
  if (threadIdx.x == 0) {
    atomicAdd(&g_sum, static_cast<unsigned long long>(sums[0]));
    atomicMin(&g_least[kFlavour % 2], input[0]);
    if (blockIdx.x == 0) {
      g_calls = g_calls + 1;
      g_managed = g_calls;
    }
  }
  if (barriers == 0 && threadIdx.x % 32 == 0) {
    g_least[1] = static_cast<int>(threadIdx.x);  // RACE
  }
}

__global__ void move_by_constant(int* output) {
  output[threadIdx.x] = g_offset[threadIdx.x % 2];
}

using Kernel = void (*)(const int*, int, int);

constexpr int kFlavours = 60;

template <int kBlock, int... kFlavour>
Kernel pick(int flavour, std::integer_sequence<int, kFlavour...>) {
  static const Kernel kernels[] = {fold<kBlock, kFlavour>...};
  return kernels[flavour];
}

Kernel kernel_of(int block, int flavour) {
  constexpr auto kAll = std::make_integer_sequence<int, kFlavours>{};
  switch (block) {
    case 32:
      return pick<32>(flavour, kAll);
    case 64:
      return pick<64>(flavour, kAll);
    case 128:
      return pick<128>(flavour, kAll);
    case 256:
      return pick<256>(flavour, kAll);
    default:
      return pick<512>(flavour, kAll);
  }
}

int main(int count_of_arguments, char**) {
  constexpr int kCount = 4096;
  const int barriers = count_of_arguments == 1 ? 0 : 1;
  int* input = nullptr;
  cudaMallocManaged(&input, kCount * sizeof(int));
  for (int i = 0; i < kCount; ++i) {
    input[i] = i + 1;
  }
  kernel_of(64, 7)<<<4, 64>>>(input, kCount, 1);
  kernel_of(256, 8)<<<2, 256>>>(input, kCount, barriers);
  cudaDeviceSynchronize();
  unsigned long long sum = 0;
  cudaMemcpyFromSymbol(&sum, g_sum, sizeof sum);
  if (sum != 2ULL * kCount * (kCount + 1) / 2) {
    std::printf("wrong sum %llu\n", sum);
  }
  sum /= 2;
  cudaMemcpyToSymbol(g_sum, &sum, sizeof sum);  // what the next kernel adds to
  kernel_of(128, 9)<<<4, 128>>>(input, kCount, 1);
  int* moved = nullptr;
  cudaMallocManaged(&moved, 32 * sizeof(int));
  move_by_constant<<<1, 32>>>(moved);
  cudaDeviceSynchronize();
  int least[2] = {};
  int calls = 0;
  cudaMemcpyFromSymbol(&sum, g_sum, sizeof sum);
  cudaMemcpyFromSymbol(least, g_least, sizeof least);
  cudaMemcpyFromSymbol(&calls, g_calls, sizeof calls);
  std::printf(
      "sum %llu, calls %d, least %d, label %s\n", sum / 2, calls, least[0],
      g_managed == calls && moved[31] == 1 && cudaGetLastError() == cudaSuccess ? "ok" : "wrong");
  return 0;
}
