// First of two translation units (-rdc): uses what the other defines, and names of its own.
#include "linked.h"

static __device__ __noinline__ int local_helper(int* p) {
  return p[0] + 1;
}

static __device__ int local_counter = 3;

__device__ int first_value = 5;
__device__ Operation operation = &second_function;

__global__ void first_kernel(int* p) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = second_value;
  p[1] =
      local_helper(p) + second_function(p) + shared_template<int>(p) + local_counter + operation(p);
  p[2] = dynamic[0];
}
