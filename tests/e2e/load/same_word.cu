// Every thread writes the same word again and again, as often as the argument says in all.
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

constexpr unsigned kBlocks = 16;
constexpr unsigned kThreads = 256;

// Not a store that the compiler could take out of the loop, nor one that the tool may leave out.
__device__ void store(int* word, int value) {
  asm volatile("st.global.s32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

__global__ void write(int* word, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    store(word, static_cast<int>(threadIdx.x + round));  // RACE
    __threadfence_block();
  }
}

int main(int count, char** arguments) {
  const unsigned long long writes = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1000000;
  int* word = nullptr;
  if (cudaMalloc(&word, sizeof *word) != cudaSuccess) {
    return 1;
  }
  const auto rounds =
      static_cast<unsigned>((writes + kBlocks * kThreads - 1) / (kBlocks * kThreads));
  write<<<kBlocks, kThreads>>>(word, rounds);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    return 1;
  }
  std::printf("%llu\n", static_cast<unsigned long long>(rounds) * kBlocks * kThreads);
  return 0;
}
