// Four streams, each with a part of one array: copied to the device, changed by a kernel and copied
// back, again and again without waiting for each other. The argument says what else there is:
//   parts      nothing: no race
//   overlap    the kernels begin one number late, and change one of the next part: races
//   last       in the end two kernels of the first stream change all of it before anybody has
//   waited: races
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

constexpr int kStreams = 4, kRounds = 12, kThreads = 128, kBlocks = 4;
constexpr int kPart = kThreads * kBlocks;

__global__ void change(int* numbers, int first) {
  const int i = first + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  numbers[i] = 3 * numbers[i] + 1;
}

int main(int count, char** arguments) {
  const char* const how = count > 1 ? arguments[1] : "parts";
  const int shift = std::strcmp(how, "overlap") == 0 ? 1 : 0;
  int *host, *numbers;
  cudaMallocHost(&host, kStreams * kPart * sizeof(int));
  cudaMalloc(&numbers, (kStreams + 1) * kPart * sizeof(int));
  cudaStream_t streams[kStreams];
  for (cudaStream_t& stream : streams) {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  }
  for (int i = 0; i < kStreams * kPart; ++i) {
    host[i] = i % 10;
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kStreams; ++i) {
      int* const part = host + i * kPart;
      cudaMemcpyAsync(numbers + i * kPart, part, kPart * sizeof(int), cudaMemcpyHostToDevice,
                      streams[i]);
      change<<<kBlocks, kThreads, 0, streams[i]>>>(numbers, i * kPart + shift);
      cudaMemcpyAsync(part, numbers + i * kPart, kPart * sizeof(int), cudaMemcpyDeviceToHost,
                      streams[i]);
    }
  }
  if (std::strcmp(how, "last") == 0) {
    change<<<kStreams * kBlocks, kThreads, 0, streams[0]>>>(numbers, 0);
    for (int i = 0; i < kStreams; ++i) {
      change<<<kBlocks, kThreads, 0, streams[i]>>>(numbers, i * kPart);
    }
    change<<<kStreams * kBlocks, kThreads, 0, streams[0]>>>(numbers, 0);
  }
  const cudaError_t status = cudaDeviceSynchronize();
  std::puts(status == cudaSuccess ? "ok" : cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
