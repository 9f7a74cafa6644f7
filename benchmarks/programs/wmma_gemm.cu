// A matrix product on tensor cores (wmma, 16x16x16, half inputs, float sums): four warps a block,
// each with a tile of the result; the tiles of the inputs are staged in shared memory.
//
// expect: none
#include <mma.h>

#include <cuda_fp16.h>

#include "benchmark_program.h"

namespace wmma = nvcuda::wmma;

constexpr int kTile = 16;
constexpr int kWarps = 4;
constexpr int kPitch = kTile + 8;

// c = a * b, all row-major and square; a block computes a row of kWarps tiles.
__global__ void multiply(const half* a, const half* b, float* c, int size) {
  __shared__ half a_tile[kTile][kPitch];
  __shared__ half b_tile[kWarps][kTile][kPitch];
  const int warp = threadIdx.x / 32;
  const int row = blockIdx.y * kTile;
  const int column = (blockIdx.x * kWarps + warp) * kTile;
  wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sum;
  wmma::fill_fragment(sum, 0.0F);
  for (int k = 0; k < size; k += kTile) {
    for (int i = threadIdx.x; i < kTile * kTile; i += blockDim.x) {
      a_tile[i / kTile][i % kTile] = a[(row + i / kTile) * size + k + i % kTile];
    }
    for (int i = threadIdx.x % 32; i < kTile * kTile; i += 32) {
      b_tile[warp][i / kTile][i % kTile] = b[(k + i / kTile) * size + column + i % kTile];
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, half, wmma::row_major> right;
    wmma::load_matrix_sync(left, &a_tile[0][0], kPitch);
    wmma::load_matrix_sync(right, &b_tile[warp][0][0], kPitch);
    wmma::mma_sync(sum, left, right, sum);
    __syncthreads();
  }
  wmma::store_matrix_sync(c + row * size + column, sum, size, wmma::mem_row_major);
}

int main(int argc, char** argv) {
  const int size = size_argument(argc, argv, 1) * kWarps * kTile;
  Random random(38);
  std::vector<half> a(static_cast<std::size_t>(size) * size);
  std::vector<half> b(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = __float2half(static_cast<float>(random.below(9) - 4));
    b[i] = __float2half(static_cast<float>(random.below(9) - 4));
  }
  const DeviceArray<half> device_a(a);
  const DeviceArray<half> device_b(b);
  const DeviceArray<float> device_c(a.size());
  multiply<<<dim3(size / (kWarps * kTile), size / kTile), 32 * kWarps>>>(
      device_a.data(), device_b.data(), device_c.data(), size);
  CUDA_CHECK(cudaGetLastError());
  std::vector<float> expected(a.size());
  for (int row = 0; row < size; ++row) {
    for (int k = 0; k < size; ++k) {
      for (int column = 0; column < size; ++column) {
        expected[row * size + column] +=
            __half2float(a[row * size + k]) * __half2float(b[k * size + column]);
      }
    }
  }
  expect_equal("product", device_c.host(), expected);
  return result();
}
