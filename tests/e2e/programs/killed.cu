// A kernel that dies or does not end, and what the program does then: killed
// trap|far|shared|hang|quiet|poll. far, shared: accesses far out of bounds, in global and in shared
// memory.
// trap: resets the device and runs a racy kernel. quiet: ends after three seconds without an
// access. poll: the same, behind a kernel that makes accesses for three seconds.
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

constexpr int kBlocks = 16;
constexpr int kThreads = 64;

// All blocks log all the time; one of them dies in the middle of it.
__global__ void dies(int* cells) {
  for (int round = 0; round < 1000; ++round) {
    cells[blockIdx.x * blockDim.x + threadIdx.x] += round;
    __syncthreads();
    if (blockIdx.x == 3 && round == 20) {
      __trap();
    }
  }
}

__global__ void goes_astray(int* cells, long long far) {
  cells[threadIdx.x] = 1;
  if (threadIdx.x == 7) {
    cells[far] = 1;
  }
}

__global__ void goes_astray_in_shared(int* cells, int far) {
  __shared__ int words[kThreads];
  words[threadIdx.x] = 1;
  if (threadIdx.x == 7) {
    words[far] = 1;
  }
  cells[threadIdx.x] = words[threadIdx.x];
}

__global__ void spins(volatile int* flag) {
  while (*flag == 0) {
  }
}

__global__ void computes(int* cells) {
  unsigned long long begin = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  while (now < begin + 3000000000ULL) {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  }
  cells[threadIdx.x] = 1;
}

__global__ void polls(volatile int* flag) {
  unsigned long long begin = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  while (now < begin + 3000000000ULL && *flag == 0) {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  }
}

__global__ void races(int* cells) {
  cells[threadIdx.x] += blockIdx.x;
}

static int* make_cells() {
  int* cells = nullptr;
  const size_t bytes = kBlocks * kThreads * sizeof(int);
  return cudaMalloc(&cells, bytes) == cudaSuccess && cudaMemset(cells, 0, bytes) == cudaSuccess
             ? cells
             : nullptr;
}

static int run_trap() {
  dies<<<kBlocks, kThreads>>>(make_cells());
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  races<<<2, kThreads>>>(nullptr);  // the context is dead
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  if (cudaDeviceReset() != cudaSuccess) {
    return 1;
  }
  int* const cells = make_cells();
  races<<<2, kThreads>>>(cells);
  const bool works = cudaDeviceSynchronize() == cudaSuccess && cudaFree(cells) == cudaSuccess;
  std::printf("%s after the reset\n", works ? "works" : "does not work");
  return works ? 0 : 1;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "trap") == 0) {
    return run_trap();
  }
  int* const cells = make_cells();
  if (std::strcmp(what, "far") == 0 || std::strcmp(what, "shared") == 0) {
    if (std::strcmp(what, "far") == 0) {
      goes_astray<<<1, kThreads>>>(cells, 1LL << 60);
    } else {
      goes_astray_in_shared<<<1, kThreads>>>(cells, 1 << 25);
    }
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
  if (std::strcmp(what, "quiet") == 0) {
    computes<<<1, 1>>>(cells);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
  if (std::strcmp(what, "poll") == 0) {
    polls<<<1, 1>>>(cells);
    computes<<<1, 1>>>(cells);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
  races<<<2, kThreads>>>(cells);
  spins<<<1, 1>>>(cells + kThreads);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
