// What the hooks of a launch cost on a GPU, by what its kernel does: prints milliseconds a launch,
// between two events and of the host. Run it natively and under `barracuda run`, the latter with
// the options to be compared:
//     nvcc -cudart shared -O2 -std=c++20 -lineinfo -arch=sm_90 hook_cost.cu -o hook_cost
//     ./hook_cost; barracuda run -- ./hook_cost; barracuda run --filter off -- ./hook_cost
// Launches are waited for one by one, and there are few, so that the queues hold their records:
// what is measured is the device's part.
#include <chrono>
#include <cstdio>

#include <cuda_runtime.h>

namespace {

constexpr int kBlocks = 200, kThreads = 1024, kRuns = 50;

__global__ void nothing() {}

__global__ void store(int* to) {
  to[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void barriers(int* to, int count) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = count;
  for (int i = 0; i < count; ++i) {
    __syncthreads();
  }
  to[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x];
}

// Of memory that the launch does not write.
__global__ void reads(int* to, const int* from, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += from[blockIdx.x * blockDim.x + threadIdx.x + i * 4096];
  }
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void product(int* to, const int* left, const int* right, int tiles) {
  __shared__ int a[32][32], b[32][32];
  const int x = static_cast<int>(threadIdx.x) % 32, y = static_cast<int>(threadIdx.x) / 32;
  int sum = 0;
  for (int i = 0; i < tiles; ++i) {
    a[y][x] = left[(blockIdx.x * tiles + i) * kThreads + threadIdx.x];
    b[y][x] = right[i * kThreads + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; ++k) {
      sum += a[y][k] * b[k][x];
    }
    __syncthreads();
  }
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <typename Launch>
void measure(const char* name, const Launch& launch) {
  launch();
  cudaDeviceSynchronize();
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  const auto start = std::chrono::steady_clock::now();
  float total = 0;
  for (int run = 0; run < kRuns; ++run) {
    cudaEventRecord(begin);
    launch();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, begin, end);
    total += milliseconds;
  }
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
  std::printf("%-24s %8.3f ms, host %8.3f ms\n", name, total / kRuns, wall.count() / kRuns);
}

}  // namespace

int main() {
  constexpr std::size_t kBytes = std::size_t{1} << 24;
  int *to = nullptr, *left = nullptr, *right = nullptr;
  for (int** memory : {&to, &left, &right}) {
    if (cudaMalloc(memory, kBytes) != cudaSuccess ||
        cudaMemset(*memory, 0, kBytes) != cudaSuccess) {
      std::fputs("hook_cost: no memory\n", stderr);
      return 1;
    }
  }
  measure("nothing", [] { nothing<<<kBlocks, kThreads>>>(); });
  measure("one store", [&] { store<<<kBlocks, kThreads>>>(to); });
  measure("20 barriers", [&] { barriers<<<kBlocks, kThreads>>>(to, 20); });
  measure("100 reads", [&] { reads<<<kBlocks, kThreads>>>(to, left, 100); });
  measure("10 tiles of a product", [&] { product<<<kBlocks, kThreads>>>(to, left, right, 10); });
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
