// Starts another program, as launchers do: launcher COMMAND. It is linked with a kernel and the
// CUDA runtime, and uses neither; its own status is 5. launcher --chdir FOLDER launches a kernel
// after it has changed its folder.
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include <cuda_runtime.h>

__global__ void fill(int* cells) {
  cells[threadIdx.x] = threadIdx.x;
}

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "--chdir") == 0) {
    int* cells = nullptr;
    if (chdir(argv[2]) != 0 || cudaMalloc(&cells, 32 * sizeof(int)) != cudaSuccess) {
      return 1;
    }
    fill<<<1, 32>>>(cells);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
  }
  return argc == 2 && std::system(argv[1]) >= 0 ? 5 : 1;
}
