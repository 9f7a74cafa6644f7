// Two translation units, linked as device code: a function and a variable of the other one.
#include "check.h"

__device__ int triple(int value);
extern __device__ int g_shared_total;

static __device__ int offset() {
  return 1;
}

__global__ void use(int* to) {
  *to = triple(4) + offset() + g_shared_total;
}

int main() {
  int* cell;
  EXPECT(cudaMallocManaged(&cell, sizeof *cell) == cudaSuccess);
  const int total = 100;
  EXPECT(cudaMemcpyToSymbol(g_shared_total, &total, sizeof total) == cudaSuccess);
  use<<<1, 1>>>(cell);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(*cell == 12 + 2 + 1 + 100);
  std::puts("ok");
}
