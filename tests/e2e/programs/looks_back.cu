// Blocks that hand a sum on by volatile words, as a one-sweep sort does: no fence reaches further
// than a block. Within each block another word hands data on, in order. The argument is how many
// launches.
#include <cstdio>
#include <cstdlib>

__global__ void looks_back(volatile int* sums, volatile int* flags, int* data, int launch) {
  const int word = (launch * gridDim.x + blockIdx.x) * 32 + threadIdx.x % 32;
  if (threadIdx.x < 32) {
    data[word] = launch;
    int before = 1;
    while (blockIdx.x != 0) {
      __threadfence_block();
      before = sums[word - 32];
      if (before != 0) {
        break;
      }
    }
    sums[word] = before + 1;
    __threadfence_block();
    flags[word] = 1;
  } else {
    while (flags[word] == 0) {
    }
    __threadfence_block();
    data[word] += 1;
  }
}

int main(int argc, char** argv) {
  const int launches = argc > 1 ? std::atoi(argv[1]) : 20;
  const std::size_t bytes = std::size_t(launches) * 8 * 32 * sizeof(int);
  int *sums = nullptr, *flags = nullptr, *data = nullptr;
  for (int** words : {&sums, &flags, &data}) {
    cudaMalloc(words, bytes);
    cudaMemset(*words, 0, bytes);
  }
  for (int launch = 0; launch < launches; ++launch) {
    looks_back<<<8, 64>>>(sums, flags, data, launch);
  }
  int last[2] = {};
  cudaMemcpy(&last[0], sums + launches * 8 * 32 - 1, sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(&last[1], data + launches * 8 * 32 - 1, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", last[0], last[1] - launches);
  return cudaGetLastError() == cudaSuccess && last[0] == 9 && last[1] == launches ? 0 : 1;
}
