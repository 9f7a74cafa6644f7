// A kernel without fault in programs that are hard to judge by their ends: `random` prints
// something else each time, `fails` has a bad exit status, `crashes` ends by a signal, `nothing`
// launches no kernel.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

__global__ void store(int* data) {
  data[threadIdx.x] = static_cast<int>(threadIdx.x);
}

int main(int count, char** words) {
  const char* const way = count > 1 ? words[1] : "";
  if (std::strcmp(way, "nothing") == 0) {
    std::puts("nothing");
    return 0;
  }
  int* data = nullptr;
  cudaMalloc(&data, 32 * sizeof(int));
  store<<<1, 32>>>(data);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    return 2;
  }
  if (std::strcmp(way, "random") == 0) {
    std::printf("%d\n", static_cast<int>(getpid()));
  }
  if (std::strcmp(way, "crashes") == 0) {
    std::abort();
  }
  return std::strcmp(way, "fails") == 0 ? 3 : 0;
}
