// Programs that order all that they share, so that they end well however stores are delayed.
#include <cstdint>

extern "C" {

// A lock with fences. Each thread adds to both counters, which only plain accesses touch.
__global__ void lock_counter(int* lock, volatile int* first, int* second) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *first = *first + 1;
      second[0] = second[0] + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// Lanes of one warp, and blocks, wait in loops for a flag that another lane stores without a fence
// behind it.
__global__ void spin(int* data, volatile int* flag, int* out) {
  if (threadIdx.x == 5 && blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = *data;
}

// The same where nothing but a barrier stands before and behind it, and a strong store that nobody
// polls for, behind that.
__global__ void spin_between_barriers(int* data, volatile int* flag, volatile int* out) {
  __shared__ int values[128];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (threadIdx.x % 32 == 5) {
    flag[threadIdx.x / 32] = values[127 - threadIdx.x];
  } else {
    while (flag[threadIdx.x / 32] == 0) {
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = flag[threadIdx.x / 32];
}

__global__ void reduce(const int* in, int* out) {
  __shared__ int parts[128];
  parts[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      parts[threadIdx.x] += parts[threadIdx.x + half];
    }
  }
  if (threadIdx.x == 0) {
    out[blockIdx.x] = parts[0];
  }
}

// Without a loop between stores and barriers: halves of warps diverge before the barrier.
__global__ void exchange(int* in, int* out) {
  __shared__ int values[128];
  const unsigned i = threadIdx.x, at = blockIdx.x * blockDim.x + i;
  if (i % 2 == 0) {
    values[i] = in[at] + 1;
  } else {
    values[i] = in[at] + 2;
    in[at] = -1;
  }
  __syncthreads();
  out[at] = values[blockDim.x - 1 - i] + (i % 3 == 0 ? in[at ^ 1] : 0);
  __syncwarp();
  values[i] = out[at ^ 1];
  __syncwarp();
  out[at] = __shfl_xor_sync(0xffffffffU, values[i ^ 1], 4);
}

__device__ __noinline__ void put(int* where, int value) {
  *where = value;
}

// Stores in a function that is called, and the last block takes what the others left.
__global__ void last_block(int* parts, unsigned* arrived, int* sum) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    put(parts + blockIdx.x, static_cast<int>(blockIdx.x) + 1);
    __threadfence();
    is_last = atomicAdd(arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    __threadfence();
    int total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) {
      total += *reinterpret_cast<volatile int*>(parts + i);
    }
    put(sum, total);
  }
}
}
