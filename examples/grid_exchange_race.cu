// Every block reads what the next block wrote; a barrier of the block does not wait for other
// blocks.
//
// expect: race inter-block global
#include <cooperative_groups.h>

#include "cuda_check.h"

__global__ void exchange(int* mailbox, int* received) {
  const int block = blockIdx.x;
  const int blocks = gridDim.x;
  if (threadIdx.x == 0) {
    mailbox[block] = 100 + block;  // RACE
  }
  cooperative_groups::this_thread_block().sync();
  if (threadIdx.x == 0) {
    received[block] = mailbox[(block + 1) % blocks];  // RACE
  }
}

int main() {
  constexpr int kBlocks = 8;
  int *mailbox, *received;
  CUDA_CHECK(cudaMalloc(&mailbox, kBlocks * sizeof(int)));
  CUDA_CHECK(cudaMalloc(&received, kBlocks * sizeof(int)));
  void* arguments[] = {&mailbox, &received};
  CUDA_CHECK(cudaLaunchCooperativeKernel(exchange, dim3(kBlocks), dim3(64), arguments, 0, nullptr));
  int values[kBlocks];
  CUDA_CHECK(cudaMemcpy(values, received, sizeof values, cudaMemcpyDeviceToHost));
  long long total = 0;
  for (int value : values) {
    total += value;
  }
  finish(total == 100 * kBlocks + kBlocks * (kBlocks - 1) / 2, total);
  return 0;
}
