// A warp stores a matrix that another one reads, and no barrier stands between.
// expect: race intra-block shared
// variable: tile[]
// weak: never
// flags: -arch=sm_80
#include <mma.h>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ __align__(32) int tile[256];
  if (threadIdx.x < 32) {
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, int> sum;
    nvcuda::wmma::fill_fragment(sum, 1);
    nvcuda::wmma::store_matrix_sync(tile, sum, 16, nvcuda::wmma::mem_row_major);  // RACE
  } else {
    out[threadIdx.x] = tile[threadIdx.x];  // RACE
  }
}

LITMUS(1, 64)
