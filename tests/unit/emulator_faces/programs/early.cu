// CUDA before main and after it, and from a thread of its own.
#include <thread>

#include "check.h"

__global__ void store(int* to, int value) {
  *to = value;
}

struct Early {
  int* cell = nullptr;

  Early() {
    EXPECT(cudaMallocManaged(&cell, sizeof *cell) == cudaSuccess);
    store<<<1, 1>>>(cell, 3);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  }

  ~Early() { EXPECT(cudaFree(cell) == cudaSuccess); }
};

Early g_early;

int main() {
  EXPECT(*g_early.cell == 3);
  std::thread([] {
    store<<<1, 1>>>(g_early.cell, 4);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  }).join();
  EXPECT(*g_early.cell == 4);
  std::puts("ok");
}
