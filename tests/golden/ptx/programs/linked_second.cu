// The second of two translation units.
#include <cstdio>

#include "linked.h"

static __device__ __noinline__ int local_helper(int* p) {
  return p[0] * 2;
}

static __device__ int local_counter = 4;

__device__ int second_value = 6;

__device__ int second_function(int* p) {
  extern __shared__ int dynamic[];
  __threadfence();
  printf("%d\n", dynamic[0]);
  return local_helper(p) + first_value + shared_template<int>(p) + local_counter;
}

__global__ void second_kernel(int* p) {
  p[0] = second_function(p);
}
