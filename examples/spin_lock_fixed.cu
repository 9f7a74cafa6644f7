// A spin lock with a fence after it is taken and one before it is released.
// expect: none
#include "cuda_check.h"

__device__ int lock = 0;
__device__ int counter = 0;

__global__ void count_up() {
  if (threadIdx.x == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    counter = counter + 1;
    __threadfence();
    atomicExch(&lock, 0);
  }
}

int main() {
  constexpr int kBlocks = 8;
  count_up<<<kBlocks, 32>>>();
  int count = 0;
  CUDA_CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  return finish(count == kBlocks, count);
}
