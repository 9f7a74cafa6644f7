// printf, assert, device malloc, and strings in global memory.
#include <cassert>
#include <cstdio>

const __device__ char* const g_names[3] = {"one", "two \"quoted\" // not a comment", "three { \\"};
__device__ int g_table[4][3] = {{1, 2}, {3}, {4, 5, 6}};
__constant__ float c_weights[4] = {0.25F, 1e-20F, -3.0F, 7.0F};
__managed__ int g_managed = 5;

__global__ void report(int n) {
  printf("%s %d %f\n", g_names[n % 3], g_table[n % 4][1] + g_managed, c_weights[n & 3]);
  assert(n < 100);
  int* list = static_cast<int*>(malloc(n * sizeof(int)));
  if (list == nullptr) {
    __trap();
  }
  list[threadIdx.x] = n;
  free(list);
}
