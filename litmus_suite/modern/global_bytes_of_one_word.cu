// Neighbouring bytes of one word belong to different threads.
// expect: none
// weak: never
// result: x 538976288 out 0
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  reinterpret_cast<char*>(x)[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

LITMUS(2, 64)
