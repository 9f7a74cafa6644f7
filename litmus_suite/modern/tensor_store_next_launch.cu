// What a launch stores by a tensor map, the next one in the stream reads; nobody waits.
// expect: none
// weak: never
// result: x 8340736 out 2016
// flags: -arch=sm_90
#include "../tensor.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ alignas(128) int s[64];
  if (flag == nullptr) {
    out[threadIdx.x] = x[(8 + threadIdx.x / 8) * 64 + 8 + threadIdx.x % 8];
    return;
  }
  s[threadIdx.x] = threadIdx.x;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (threadIdx.x == 0) {
    TENSOR_STORE(&map, 8, 8, s);
    BULK_COMMIT();
    BULK_WAIT_READ();
  }
}

int main() {
  Cells cells;
  CUtensorMap map;
  if (!make_tensor_cells(cells) || !encode(map, cells.x, kTiles)) {
    return 1;
  }
  tensor_litmus<<<1, 64>>>(map, cells.x, cells.flag, cells.out);
  tensor_litmus<<<1, 64>>>(map, cells.x, nullptr, cells.out);
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}
