// A spin lock without fences: the critical sections of two blocks are not ordered.
// expect: race inter-block global
#include "cuda_check.h"

__device__ int lock = 0;
__device__ int counter = 0;

__global__ void count_up() {
  if (threadIdx.x == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    counter = counter + 1;  // RACE
    atomicExch(&lock, 0);
  }
}

int main() {
  constexpr int kBlocks = 8;
  count_up<<<kBlocks, 32>>>();
  int count = 0;
  CUDA_CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  finish(count == kBlocks, count);
  return 0;
}
