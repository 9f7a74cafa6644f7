// A kernel of one stream stores what one of another stream reads; between them an empty kernel in
// the stream that the first argument names: "legacy" waits for both streams and they for it,
// "own" is one that does not.
#include <cstdio>
#include <cstring>

__global__ void put(int* data) {
  data[threadIdx.x] = threadIdx.x;
}

__global__ void empty() {}

__global__ void get(const int* data, int* out) {
  out[threadIdx.x] = data[threadIdx.x ^ 1];
}

int main(int argc, char** argv) {
  cudaStream_t one, two, own;
  cudaStreamCreate(&one);
  cudaStreamCreate(&two);
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  int* data = nullptr;
  cudaMalloc(&data, 2 * 64 * sizeof(int));
  const bool is_legacy = argc > 1 && std::strcmp(argv[1], "legacy") == 0;
  const cudaStream_t between = is_legacy ? cudaStreamLegacy : own;
  put<<<1, 64, 0, one>>>(data);
  empty<<<1, 1, 0, between>>>();
  get<<<1, 64, 0, two>>>(data, data + 64);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
