// A column of shared memory is added up by a loop that is unrolled: its loads have one hook for
// every 16. In the race a warp changes the last row while others read it. Argument: race or fixed.
// expect race: race intra-block shared
// expect fixed: none
// flags: -lineinfo
#include <cstring>

#include "../../../examples/cuda_check.h"

constexpr int kRows = 290, kLanes = 32, kWarps = 4;

template <bool kChanges>
__global__ void add_up(int* sums) {
  __shared__ int tile[kRows][kLanes];
  for (int row = threadIdx.y; row < kRows; row += kWarps) {
    tile[row][threadIdx.x] = row;
  }
  __syncthreads();
  if (kChanges && threadIdx.y == 1) {
    tile[kRows - 1][threadIdx.x] = 0;  // RACE race
  }
  int sum = 0;
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    sum += tile[row][threadIdx.x];  // RACE race
  }
  sums[threadIdx.y * kLanes + threadIdx.x] = sum;
}

int main(int argc, char** argv) {
  const bool changes = argc > 1 && std::strcmp(argv[1], "race") == 0;
  int* sums = nullptr;
  CUDA_CHECK(cudaMalloc(&sums, kWarps * kLanes * sizeof(int)));
  (changes ? add_up<true> : add_up<false>)<<<1, dim3(kLanes, kWarps)>>>(sums);
  CUDA_CHECK(cudaGetLastError());
  int sum = 0;
  CUDA_CHECK(cudaMemcpy(&sum, sums, sizeof sum, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(sums));
  const int whole = kRows * (kRows - 1) / 2;
  return sum == whole || sum == whole - (changes ? kRows - 1 : 0) ? 0 : 1;
}
