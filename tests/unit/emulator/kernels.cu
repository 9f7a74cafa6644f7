// Kernels as nvcc writes them, for compiled_test.cpp.
#include <cassert>
#include <cstdio>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>

namespace cg = cooperative_groups;

struct Item {
  int number;
  double weight;
  char tag[20];
};

__device__ __noinline__ int doubled(int x) {
  return 2 * x;
}

__device__ __noinline__ int squared(int x) {
  return x * x;
}

__device__ int (*g_table[2])(int) = {doubled, squared};
__constant__ float c_factors[4] = {1.0F, 2.0F, 4.0F, 8.0F};
__device__ __managed__ int g_total;

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ Item tagged(Item item, int i) {
  item.tag[i % 20] = static_cast<char>(i);
  item.number += i;
  return item;
}

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) {
    c[i] = a[i] + b[i] * c_factors[i % 4];
  }
}

extern "C" __global__ void block_sum(const int* in, int* out, int n) {
  extern __shared__ int partial[];
  int sum = 0;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    sum += in[i];
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) {
      partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    atomicAdd(out, partial[0]);
    atomicAdd(&g_total, 1);
  }
}

extern "C" __global__ void functions(int* out, Item item, int n) {
  const int i = static_cast<int>(threadIdx.x);
  const Item result = tagged(item, i);
  int local[16];
  for (int k = 0; k < 16; ++k) {
    local[k] = k * n;
  }
  out[i] = g_table[i & 1](i) + fibonacci(i % 10) + result.number + result.tag[i % 20] +
           local[(i * 7) % 16] + static_cast<int>(result.weight * 2);
}

extern "C" __global__ void grid_phases(int* data, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  const auto i = static_cast<int>(grid.thread_rank());
  const auto n = static_cast<int>(grid.size());
  for (int round = 0; round < rounds; ++round) {
    const int value = data[(i + n / 2 + 1) % n];
    grid.sync();
    data[i] = value + 1;
    grid.sync();
  }
}

extern "C" __global__ void tiles(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const int sum = cg::reduce(tile, static_cast<int>(threadIdx.x), cg::plus<int>());
  const auto odd = cg::binary_partition(cg::tiled_partition<32>(block), (threadIdx.x & 1) != 0);
  int most = cg::reduce(odd, static_cast<int>(threadIdx.x), cg::greater<int>());
  if (threadIdx.x % 3 == 0) {
    const auto active = cg::coalesced_threads();
    most += static_cast<int>(active.size());
  }
  out[threadIdx.x] = sum * 100 + most;
}

extern "C" __global__ void hand_over(int* data, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 1) {
    *data = 42;
    ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    *out = *data;
  }
}

extern "C" __global__ void spin_lock(int* lock, int* counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *counter = *counter + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

extern "C" __global__ void talk(int n) {
  if (static_cast<int>(threadIdx.x) < n) {
    printf("thread %d of %s: %5.2f %c %llu %%\n", static_cast<int>(threadIdx.x), "talk",
           threadIdx.x * 0.5, 'a' + static_cast<int>(threadIdx.x), 1ULL << (40 + threadIdx.x));
  }
}

extern "C" __global__ void asserting(int n) {
  assert(static_cast<int>(threadIdx.x) < n);
}

extern "C" __global__ void heap(int* out) {
  int* values = static_cast<int*>(malloc(4 * sizeof(int)));
  for (int i = 0; i < 4; ++i) {
    values[i] = static_cast<int>(threadIdx.x) + i;
  }
  out[threadIdx.x] = values[0] + values[3];
  free(values);
}

extern "C" __global__ void mathematics(const double* in, double* out, float* single) {
  const double x = in[threadIdx.x];
  out[threadIdx.x] = sin(x) + exp(-x) * sqrt(x) + log(x + 1) + pow(x, 1.5) + atan2(x, 2.0);
  const auto y = static_cast<float>(x);
  single[threadIdx.x] = sinf(y) + expf(-y) * sqrtf(y) + logf(y + 1) + powf(y, 1.5F) + tanhf(y);
}
