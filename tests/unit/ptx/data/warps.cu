// Warp intrinsics, half precision, integer SIMD and matrix fragments.
#include <mma.h>

#include <cuda_fp16.h>

__global__ void warp(unsigned* data, __half* halves) {
  const unsigned lane = threadIdx.x & 31;
  unsigned value = data[threadIdx.x];
  value += __shfl_xor_sync(~0U, value, 5) + __shfl_down_sync(~0U, value, 1);
  value += __ballot_sync(~0U, value > 3) + __match_any_sync(~0U, value & 3) + __activemask();
  if (__any_sync(~0U, value == 9) && lane < 16) {
    __syncwarp(0xffff);
    value += __popc(value) + __ffs(static_cast<int>(value)) + __vadd4(value, 3U) +
             __dp4a(value, 3U, 4U) + __byte_perm(value, lane, 0x3210);
  }
#if __CUDA_ARCH__ >= 800
  value += __reduce_add_sync(~0U, value);
#endif
  halves[threadIdx.x] = __hfma(halves[threadIdx.x], __float2half(0.5F), halves[lane]);
  data[threadIdx.x] = value + __ldg(&data[lane]);
}

__global__ void fragments(const __half* a, const __half* b, float* c) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> left;
  fragment<matrix_b, 16, 16, 16, __half, col_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0F);
  load_matrix_sync(left, a, 16);
  load_matrix_sync(right, b, 16);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(c, sum, 16, mem_row_major);
}
