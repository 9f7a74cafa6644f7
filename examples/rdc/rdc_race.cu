// Two translation units (nvcc -rdc=true): the device function of the other file adds without an
// atomic.
//
// expect: race inter-block global
#include "../cuda_check.h"

extern __device__ int total;
__device__ void add_to_total(int value);

__global__ void add_all() {
  add_to_total(blockIdx.x);
}

int main() {
  constexpr int kBlocks = 16;
  add_all<<<kBlocks, 1>>>();
  int sum = 0;
  CUDA_CHECK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
  finish(sum == kBlocks * (kBlocks - 1) / 2, sum);
  return 0;
}
