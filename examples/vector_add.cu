// Every thread writes its own element: nothing to report.
// expect: none
#include "cuda_check.h"

__global__ void vector_add(const int* a, const int* b, int* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    sum[i] = a[i] + b[i];
  }
}

int main() {
  constexpr int kCount = 1000;  // the last block is partly empty
  int *a, *b, *sum;
  CUDA_CHECK(cudaMallocManaged(&a, kCount * sizeof(int)));
  CUDA_CHECK(cudaMallocManaged(&b, kCount * sizeof(int)));
  CUDA_CHECK(cudaMallocManaged(&sum, kCount * sizeof(int)));
  for (int i = 0; i < kCount; ++i) {
    a[i] = i;
    b[i] = 3 * i;
  }
  vector_add<<<(kCount + 127) / 128, 128>>>(a, b, sum, kCount);
  CUDA_CHECK(cudaDeviceSynchronize());
  long long total = 0;
  for (int i = 0; i < kCount; ++i) {
    total += sum[i];
  }
  return finish(total == 4LL * kCount * (kCount - 1) / 2, total);
}
