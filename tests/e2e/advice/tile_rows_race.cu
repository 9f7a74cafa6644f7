// A product of two tiles without the barrier between filling and reading them: the rows of the left
// one lie within warps, the columns of the right one do not.
// expect: race - shared
// missing: ^__syncthreads\(\) is missing between the two accesses
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int left[8][8];
  __shared__ int right[8][8];
  const int row = threadIdx.x / 8, column = threadIdx.x % 8;
  left[row][column] = x[threadIdx.x];   // RACE
  right[row][column] = x[threadIdx.x];  // RACE
  int sum = 0;
  for (int k = 0; k < 8; ++k) {
    sum += left[row][k] * right[k][column];  // RACE
  }
  x[threadIdx.x] = sum;
}

LITMUS(1, 64)
