// A histogram whose bins are counted without atomics: increments of different threads are lost.
// expect: race inter-block global
#include "cuda_check.h"

constexpr int kBins = 16;

__global__ void histogram(const unsigned char* text, int count, int* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    bins[text[i] % kBins] += 1;  // RACE
  }
}

int main() {
  constexpr int kCount = 2000;
  unsigned char text[kCount];
  for (int i = 0; i < kCount; ++i) {
    text[i] = static_cast<unsigned char>(i * 7);
  }
  unsigned char* device_text;
  int* device_bins;
  CUDA_CHECK(cudaMalloc(&device_text, sizeof text));
  CUDA_CHECK(cudaMalloc(&device_bins, kBins * sizeof(int)));
  CUDA_CHECK(cudaMemcpy(device_text, text, sizeof text, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemset(device_bins, 0, kBins * sizeof(int)));
  histogram<<<(kCount + 255) / 256, 256>>>(device_text, kCount, device_bins);
  int bins[kBins];
  CUDA_CHECK(cudaMemcpy(bins, device_bins, sizeof bins, cudaMemcpyDeviceToHost));
  long long total = 0;
  for (int count : bins) {
    total += count;
  }
  finish(total == kCount, total);
  return 0;
}
