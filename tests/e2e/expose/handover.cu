// One block hands data over to another by a flag. The writer has its fence with WRITER_FENCE, the
// reader with READER_FENCE. What is late, or stale, without it is the data.
#include <cstdio>

__global__ void hand_over(volatile int* flag, int* data, int* result) {
  if (blockIdx.x == 0) {
    data[0] = 41;
#ifdef WRITER_FENCE
    __threadfence();
#endif
    *flag = 1;  // the flag
  } else {
    while (*flag == 0) {
    }
#ifdef READER_FENCE
    __threadfence();
#endif
    result[0] = data[0] + 1;
  }
}

int main() {
  int* memory = nullptr;
  constexpr int kApart = 64;  // no two of them in one line of a cache
  cudaMalloc(&memory, 3 * kApart * sizeof(int));
  cudaMemset(memory, 0, 3 * kApart * sizeof(int));
  hand_over<<<2, 1>>>(memory, memory + kApart, memory + 2 * kApart);
  int result = 0;
  cudaMemcpy(&result, memory + 2 * kApart, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("result %d\n", result);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 2;
}
