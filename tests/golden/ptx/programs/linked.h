// What linked_first.cu and linked_second.cu share.
#pragma once

using Operation = int (*)(int*);
extern __device__ int first_value, second_value;
__device__ int second_function(int* p);

template <typename T>
__device__ __noinline__ T shared_template(T* p) {
  return atomicAdd(p, T(1));
}
