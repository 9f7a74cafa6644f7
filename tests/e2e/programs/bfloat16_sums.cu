// Atomic sums of bfloat16 numbers. Before compute capability 9.0 the header makes a loop of
// compare-and-swap of each, before which it looks by a plain read: its own, and left out. The
// program's own plain read beside them (`read`) is not, nor are two sizes of atomics in one word
// (`sizes`).
//
// expect sums: none
// expect shown: race inter-block global
// expect read: race inter-block global
// expect sizes: race inter-block global
#include <cstring>

#include <cuda_bf16.h>

#include "../../../examples/cuda_check.h"

__global__ void sum(__nv_bfloat162* pair, __nv_bfloat16* single) {
  atomicAdd(pair, __nv_bfloat162(1.0F, 2.0F));  // RACE
  atomicAdd(single, __nv_bfloat16(1.0F));       // RACE
}

__global__ void sum_and_read(__nv_bfloat162* pair, __nv_bfloat162* seen) {
  if (blockIdx.x == 0) {
    atomicAdd(pair, __nv_bfloat162(1.0F, 2.0F));  // RACE read
  } else {
    seen[blockIdx.x] = *pair;  // RACE read
  }
}

int main(int argc, char** argv) {
  const auto is = [=](const char* mode) { return argc > 1 && std::strcmp(argv[1], mode) == 0; };
  constexpr int kBlocks = 8;
  __nv_bfloat162* sums;
  CUDA_CHECK(cudaMalloc(&sums, 2 * kBlocks * sizeof(__nv_bfloat162)));
  CUDA_CHECK(cudaMemset(sums, 0, 2 * kBlocks * sizeof(__nv_bfloat162)));
  if (is("read")) {
    sum_and_read<<<kBlocks, 1>>>(sums, sums + kBlocks);
  } else {
    sum<<<kBlocks, 1>>>(sums, reinterpret_cast<__nv_bfloat16*>(is("sizes") ? sums : sums + 1));
  }
  __nv_bfloat162 found[2];
  CUDA_CHECK(cudaMemcpy(found, sums, sizeof found, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(sums));
  const bool is_right = float(found[0].x) == kBlocks && float(found[0].y) == 2 * kBlocks &&
                        float(found[1].x) == kBlocks;
  return finish(is_right || argc > 1, int(float(found[1].x)));
}
