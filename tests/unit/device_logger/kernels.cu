// What the tests of the logger run, instrumented, on the emulated device.
#include <cstdint>

// Every warp reads base + offsets[thread] with the lanes of its mask.
extern "C" __global__ void read_pattern(char* base, const std::int64_t* offsets,
                                        const unsigned* masks, int* sink) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::int64_t offset = offsets[thread];
  if ((masks[thread / 32] >> (thread % 32) & 1) != 0) {
    sink[thread] = *reinterpret_cast<volatile int*>(base + offset);
  }
}

// Stores values[thread] at base + offsets[thread].
extern "C" __global__ void write_pattern(char* base, const std::int64_t* offsets,
                                         const int* values) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::int64_t offset = offsets[thread];
  const int value = values[thread];
  *reinterpret_cast<int*>(base + offset) = value;
}

// The same with values of 8 bytes, and behind them of 16.
extern "C" __global__ void write_wide(char* base, const std::int64_t* offsets, const int* values) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::int64_t offset = offsets[thread] * 4;
  const int value = values[thread];
  *reinterpret_cast<long long*>(base + offset) = static_cast<long long>(value) << 32 | 9;
  *reinterpret_cast<int4*>(base + offset) = make_int4(value, 1, 2, value + 3);
}

extern "C" __global__ void use_shared(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x) * 3;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void use_two_arrays(int* out) {
  __shared__ int tile[64];
  __shared__ short halves[64];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  halves[threadIdx.x] = static_cast<short>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x] + halves[63 - threadIdx.x];
}

// The first without the barrier.
extern "C" __global__ void use_shared_unordered(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x) * 3;
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      static_cast<volatile int*>(out)[0] + tile[63 - threadIdx.x];
}

// Each warp stores the same, all words or every second one.
extern "C" __global__ void store_replicas(int* out) {
  __shared__ int tile[32];
  const unsigned int lane = threadIdx.x % 32;
  tile[lane] = static_cast<int>(lane) * 3;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = tile[31 - lane];
}

extern "C" __global__ void store_half_replicas(int* out) {
  __shared__ int tile[32];
  const unsigned int lane = threadIdx.x % 32;
  tile[lane] = static_cast<int>(lane % 2 == 0 ? lane : threadIdx.x);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = tile[31 - lane];
}

// Something is logged before the first barrier, nothing between it and the second.
extern "C" __global__ void store_and_wait(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = 1;
  __syncthreads();
  const int other = tile[63 - threadIdx.x];
  __syncthreads();
  out[64 + threadIdx.x] = other;
}

// More barriers than intervals have numbers. A word is written twice, so many rounds apart, by two
// threads; in one round by both.
extern "C" __global__ void use_shared_for_long(int* out, int apart, int both) {
  __shared__ int tile[64];
  __shared__ int word;
  for (int round = 0; round < 9000; ++round) {
    tile[threadIdx.x] = round;
    if ((threadIdx.x == 0 && (round == 5 || round == both)) ||
        (threadIdx.x == 40 && (round == 5 + apart || round == both))) {
      word = static_cast<int>(threadIdx.x);
    }
    __syncthreads();
  }
  out[threadIdx.x] = tile[63 - threadIdx.x] + word;
}

extern "C" __global__ void reduce_shared(int* out) {
  __shared__ int sums[128];
  sums[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  for (unsigned half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    out[blockIdx.x] = sums[0];
  }
}

// The second warp leaves, and the first reads what it wrote.
// Atomics whose results nobody reads, between barriers.
extern "C" __global__ void count_shared(int* out) {
  __shared__ int counts[4];
  if (threadIdx.x < 4) {
    counts[threadIdx.x] = 0;
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x % 4], 1);
  __syncthreads();
  out[threadIdx.x] = counts[threadIdx.x % 4];
}

// Each thread its byte; the last reads its neighbour's without a barrier if there are 96.
extern "C" __global__ void use_shared_bytes(int* out) {
  __shared__ unsigned char tile[128];
  tile[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
  const unsigned other = blockDim.x == 96 && threadIdx.x == 95 ? 31 : threadIdx.x;
  out[threadIdx.x] = tile[other];
}

extern "C" __global__ void leave_early(int* out) {
  __shared__ int tile[64];
  if (threadIdx.x >= 32) {
    tile[threadIdx.x] = static_cast<int>(threadIdx.x);
    return;
  }
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x + 32];
}

// The same, of threads that have stored what the others read before it is known that they leave.
extern "C" __global__ void leave_behind_a_store(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (threadIdx.x >= 32) {
    return;
  }
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

// Nobody can see in the text that all threads come to the barriers.
extern "C" __global__ void wait_if_zero(int* out) {
  __shared__ int tile[64];
  const unsigned t = threadIdx.x;
  if (out[0] == 0) {
    tile[t] = static_cast<int>(t);
    __syncthreads();
    tile[63 - t] += 1;
    __syncthreads();
    out[t + 1] = tile[t];
  }
}

// The second half of the block leaves at once, or in larger grids 16 threads of it behind a
// barrier, with a store.
extern "C" __global__ void leave_at_once(int* out) {
  __shared__ int tile[64];
  const int t = static_cast<int>(threadIdx.x), late = gridDim.x > 1 ? 16 : 0;
  if (t >= 32 + late) {
    return;
  }
  tile[t] = t;
  __syncthreads();
  if (t >= 32) {
    tile[t] = t + 1;
    return;
  }
  __syncthreads();
  out[t] = tile[(t + 32) % (32 + late)];
}

// Half of the lanes write local memory through the same generic pointer.
extern "C" __global__ void use_generic(int* out, int which) {
  int local[4] = {1, 2, 3, 4};
  __shared__ int shared[64];
  int* p = threadIdx.x % 2 == 0 ? &local[which]
           : threadIdx.x < 32   ? &out[threadIdx.x]
                                : &shared[threadIdx.x];
  *p = static_cast<int>(threadIdx.x);
  out[64 + threadIdx.x] = local[which];
}

__device__ __noinline__ unsigned block_in_grid() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

// Each block writes its own word: where a function that is not inlined says, what the kernel reads.
extern "C" __global__ void name_blocks(unsigned* out) {
  out[block_in_grid()] = 1000 + blockIdx.x;
}

extern "C" __global__ void take_tickets(unsigned* counter, unsigned* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(counter, 2);
  __threadfence();
}

extern "C" __global__ void count_down(unsigned* counter) {
  __threadfence();
  if (threadIdx.x % 2 == 0) {
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], -1;" ::"l"(counter) : "memory");
  }
}

extern "C" __global__ void try_locks(int* lock, int* out) {
  out[threadIdx.x] = atomicCAS(lock, 0, static_cast<int>(threadIdx.x) + 1);
  __threadfence();
}

extern "C" __global__ void hand_over(int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    *flag = 7;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

// Nothing of it writes the flag.
extern "C" __global__ void await_flag(volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  __threadfence();
  out[threadIdx.x] = 1;
}

extern "C" __global__ void warp_barriers(int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncwarp();
  if (threadIdx.x >= 8) {
    return;
  }
  __syncwarp(0xFF);
  out[threadIdx.x] = tile[31 - threadIdx.x];
}

extern "C" __device__ __noinline__ void called(int* out, int value) {
  *out = value;
}

extern "C" __global__ void call_functions(int* out) {
  if (threadIdx.x % 2 == 0) {
    called(out + threadIdx.x, 5);
  }
}

extern "C" __global__ void count_up(volatile int* data, int rounds) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < rounds; ++i) {
    data[thread] = data[thread] + 1;
  }
}

// Each block the same words.
extern "C" __global__ void store_own(int* out) {
  out[threadIdx.x] = static_cast<int>(blockIdx.x * 100 + threadIdx.x);
}

// Each thread its word, and behind a barrier that of another.
extern "C" __global__ void update_after_barrier(int* out) {
  out[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[blockDim.x - 1 - threadIdx.x] += 1;
}
