// expect: barrier-divergence

// Every other lane comes to the barrier, the others leave the kernel: PTX wants all lanes of a warp
// to come to an aligned barrier, or none. It opens, for who has left is not waited for.
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  if (threadIdx.x % 2 == 0) {
    __syncthreads();  // DIVERGENCE
  }
}  // DIVERGENCE

LITMUS(2, 64)
