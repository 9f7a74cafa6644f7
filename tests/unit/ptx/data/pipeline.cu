// Asynchronous copies: cuda::pipeline, cuda::barrier, memcpy_async.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

__global__ void staged(const int4* in, int4* out, int batches) {
  __shared__ int4 stages[2][64];
  auto group = cooperative_groups::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipeline = cuda::make_pipeline(group, &state);
  for (int i = 0; i < batches; ++i) {
    pipeline.producer_acquire();
    cuda::memcpy_async(group, stages[i & 1], in + i * 64, sizeof(int4) * 64, pipeline);
    pipeline.producer_commit();
    pipeline.consumer_wait();
    out[i * 64 + threadIdx.x] = stages[i & 1][threadIdx.x];
    pipeline.consumer_release();
  }
}

__global__ void with_barrier(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int data[128];
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
  }
  __syncthreads();
  cuda::memcpy_async(&data[threadIdx.x], &in[threadIdx.x], sizeof(int), barrier);
  barrier.arrive_and_wait();
  out[threadIdx.x] = data[threadIdx.x ^ 1];
}
