// Launches that do the same, and what makes one differ: the argument says how.
//   same     sums of tiles, eight times with the same arguments: no race
//   racing   the same without the barrier: a race in each
//   changed  the last launch has another argument, with which the barrier is gone round: a race
//   data     a number in memory says which word a thread adds to, and the last launch finds another
//            there: a race
//   beside   what the last launch reads is overwritten in a stream of its own: a race
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

constexpr int kThreads = 128, kBlocks = 4, kLaunches = 8;

__global__ void sum_tiles(const int* in, int* out, int meets) {
  __shared__ int tile[kThreads];
  const int i = static_cast<int>(threadIdx.x);
  tile[i] = in[blockIdx.x * kThreads + i];
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (meets) {
      __syncthreads();
    }
    if (i < half) {
      tile[i] += tile[i + half];
    }
  }
  if (i == 0) {
    atomicAdd(out, tile[0]);
  }
}

__global__ void move_by(const int* in, int* out) {
  __shared__ int tile[kThreads];
  const int i = static_cast<int>(threadIdx.x);
  tile[(i + in[0]) % kThreads] = i;
  tile[i] += in[0];
  __syncthreads();
  atomicAdd(out, tile[i]);
}

int main(int count, char** arguments) {
  const char* const how = count > 1 ? arguments[1] : "same";
  const auto is = [&](const char* other) { return std::strcmp(how, other) == 0; };
  int *in, *out;
  cudaMalloc(&in, kBlocks * kThreads * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(in, 0, kBlocks * kThreads * sizeof(int));
  cudaMemset(out, 0, sizeof(int));
  cudaDeviceSynchronize();
  for (int launch = 1; launch <= kLaunches; ++launch) {
    const bool is_last = launch == kLaunches;
    if (is("data")) {
      if (is_last) {
        const int one = 1;
        cudaMemcpy(in, &one, sizeof one, cudaMemcpyHostToDevice);
      }
      move_by<<<kBlocks, kThreads>>>(in, out);
    } else {
      sum_tiles<<<kBlocks, kThreads>>>(in, out, !is("racing") && !(is("changed") && is_last));
    }
  }
  if (is("beside")) {
    cudaStream_t beside;
    cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking);
    cudaMemsetAsync(in, 1, kBlocks * kThreads * sizeof(int), beside);
  }
  const cudaError_t status = cudaDeviceSynchronize();
  std::puts(status == cudaSuccess ? "ok" : cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
