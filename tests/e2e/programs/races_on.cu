// Two blocks store to the same words, round after round; another kernel does so once. The argument
// is how many rounds.
#include <cstdio>
#include <cstdlib>

__global__ void races_on(int* words, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    words[(threadIdx.x + round) % blockDim.x] = blockIdx.x;
  }
}

__global__ void races_once(int* words) {
  words[threadIdx.x] = blockIdx.x;
}

int main(int argc, char** argv) {
  int* words = nullptr;
  cudaMalloc(&words, 2 * 256 * sizeof(int));
  for (int launch = 0; launch < 20; ++launch) {
    races_on<<<2, 256>>>(words, argc > 1 ? std::atoi(argv[1]) : 100);
    cudaDeviceSynchronize();
  }
  races_once<<<2, 256>>>(words + 256);
  return cudaDeviceSynchronize() == cudaSuccess && cudaFree(words) == cudaSuccess ? 0 : 1;
}
