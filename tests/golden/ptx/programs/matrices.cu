// Every shape, type and layout of wmma, and the asynchronous copies of the library.
#include <mma.h>

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace wmma = nvcuda::wmma;

template <int M, int N, int K, class Factor, class Element, class Sum, class LayoutA, class LayoutB>
__device__ void multiply(const Element* a, const Element* b, Sum* c, unsigned pitch,
                         wmma::layout_t layout) {
  wmma::fragment<wmma::matrix_a, M, N, K, Factor, LayoutA> left;
  wmma::fragment<wmma::matrix_b, M, N, K, Factor, LayoutB> right;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
  wmma::load_matrix_sync(left, a, pitch);
  wmma::load_matrix_sync(right, b, pitch);
  wmma::load_matrix_sync(sum, c, pitch, layout);
  if constexpr (!std::is_same_v<Factor, wmma::experimental::precision::b1>) {
    wmma::mma_sync(sum, left, right, sum);
  } else {
    wmma::bmma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c, sum, pitch, layout);
}

template <int M, int N, int K, class Factor, class Element, class Sum>
__device__ void multiply_all(const void* a, const void* b, void* c, unsigned pitch) {
  const auto* left = static_cast<const Element*>(a);
  const auto* right = static_cast<const Element*>(b);
  auto* sum = static_cast<Sum*>(c);
  using Row = wmma::row_major;
  using Column = wmma::col_major;
  multiply<M, N, K, Factor, Element, Sum, Row, Row>(left, right, sum, pitch, wmma::mem_row_major);
  multiply<M, N, K, Factor, Element, Sum, Column, Row>(left, right, sum, pitch,
                                                       wmma::mem_col_major);
  multiply<M, N, K, Factor, Element, Sum, Row, Column>(left, right, sum, pitch,
                                                       wmma::mem_row_major);
}

__global__ void matrices(const void* a, const void* b, void* c, unsigned pitch) {
  multiply_all<16, 16, 16, half, half, float>(a, b, c, pitch);
  multiply_all<32, 8, 16, half, half, half>(a, b, c, pitch);
  multiply_all<8, 32, 16, half, half, float>(a, b, c, pitch);
  multiply_all<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float>(a, b, c, pitch);
  multiply_all<32, 8, 16, __nv_bfloat16, __nv_bfloat16, float>(a, b, c, pitch);
  multiply_all<8, 32, 16, signed char, signed char, int>(a, b, c, pitch);
  multiply_all<16, 16, 16, unsigned char, unsigned char, int>(a, b, c, pitch);
  multiply_all<16, 16, 8, wmma::precision::tf32, float, float>(a, b, c, pitch);
  multiply_all<8, 8, 4, double, double, double>(a, b, c, pitch);
  using Row = wmma::row_major;
  using Column = wmma::col_major;
  multiply<8, 8, 32, wmma::experimental::precision::s4, int, int, Row, Column>(
      static_cast<const int*>(a), static_cast<const int*>(b), static_cast<int*>(c), pitch,
      wmma::mem_row_major);
  multiply<8, 8, 128, wmma::experimental::precision::b1, unsigned, int, Row, Column>(
      static_cast<const unsigned*>(a), static_cast<const unsigned*>(b), static_cast<int*>(c), pitch,
      wmma::mem_col_major);
}

__global__ void copies(const int4* in, int4* out, int count) {
  __shared__ alignas(128) int4 tile[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  const auto block = cooperative_groups::this_thread_block();
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
  }
  __syncthreads();
  cooperative_groups::memcpy_async(block, tile, in, sizeof(int4) * count);
  cooperative_groups::wait_prior<1>(block);
  cooperative_groups::wait(block);
  cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof(int4) * 128), barrier);
  barrier.arrive_and_wait();
  out[threadIdx.x] = tile[threadIdx.x];
  barrier.arrive_and_drop();
}
