// A kernel of a stream that nothing waits for, and a copy of what it stores: of the host's, or of a
// stream that is created behind the launch, as the first argument says.
#include <cstdio>
#include <cstring>

__global__ void fill(int* values) {
  values[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}

int main(int argc, char** argv) {
  int *values = nullptr, *host = nullptr;
  cudaStream_t stream, later;
  cudaMallocHost(&host, 256 * sizeof(int));
  cudaMalloc(&values, 256 * sizeof(int));
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  fill<<<4, 64, 0, stream>>>(values);
  const char* how = argc > 1 ? argv[1] : "host";
  if (std::strcmp(how, "waits") == 0) {
    cudaStreamSynchronize(stream);
  }
  if (std::strcmp(how, "later") == 0) {
    cudaStreamCreateWithFlags(&later, cudaStreamNonBlocking);
    cudaMemcpyAsync(host, values, 256 * sizeof(int), cudaMemcpyDeviceToHost, later);
  } else {
    cudaMemcpy(host, values, 256 * sizeof(int), cudaMemcpyDeviceToHost);
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
