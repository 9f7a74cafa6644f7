// A sort of CUB's for one type: enough code for a compiler to need time.
#pragma once

#include <cub/block/block_radix_sort.cuh>

constexpr int kThreads = 128;
constexpr int kItems = 4;
constexpr int kValues = kThreads * kItems;

// Sorts kValues values of type T; the number of pairs in the wrong order.
template <typename T>
__global__ void sort_block(T* values) {
  using Sort = cub::BlockRadixSort<T, kThreads, kItems>;
  __shared__ typename Sort::TempStorage storage;
  T own[kItems];
  for (int item = 0; item < kItems; ++item) {
    own[item] = values[threadIdx.x * kItems + item];
  }
  Sort(storage).Sort(own);
  for (int item = 0; item < kItems; ++item) {
    values[threadIdx.x * kItems + item] = own[item];
  }
}

template <typename T>
int sort_and_count_wrong() {
  T values[kValues];
  for (int at = 0; at < kValues; ++at) {
    values[at] = static_cast<T>((at * 7919) % kValues);
  }
  T* device = nullptr;
  if (cudaMalloc(&device, sizeof values) != cudaSuccess) {
    return -1;
  }
  cudaMemcpy(device, values, sizeof values, cudaMemcpyHostToDevice);
  sort_block<<<1, kThreads>>>(device);
  if (cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost) != cudaSuccess) {
    return -1;
  }
  cudaFree(device);
  int wrong = 0;
  for (int at = 1; at < kValues; ++at) {
    wrong += values[at] < values[at - 1] ? 1 : 0;
  }
  return wrong;
}
