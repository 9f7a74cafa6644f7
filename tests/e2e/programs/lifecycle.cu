// How a process ends, or goes on: lifecycle fork|abort|exit|reset|unsupported.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime.h>

__global__ void fill(int* cells) {
  cells[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}

static bool launch() {
  int* cells = nullptr;
  if (cudaMalloc(&cells, 256 * sizeof(int)) != cudaSuccess) {
    return false;
  }
  fill<<<4, 64>>>(cells);
  return cudaDeviceSynchronize() == cudaSuccess && cudaFree(cells) == cudaSuccess;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "fork") == 0) {
    const pid_t child = fork();  // before CUDA is used, as CUDA demands
    if (child == 0) {
      _exit(launch() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("child %d parent %s\n", WEXITSTATUS(status), launch() ? "ok" : "failed");
    return 0;
  }
  if (!launch()) {
    return 1;
  }
  if (std::strcmp(what, "abort") == 0) {
    std::abort();
  }
  if (std::strcmp(what, "exit") == 0) {
    std::exit(0);
  }
  if (std::strcmp(what, "reset") == 0) {
    return cudaDeviceReset() == cudaSuccess && launch() ? 0 : 1;
  }
  if (std::strcmp(what, "unsupported") == 0) {
    cudaGraphicsUnregisterResource(nullptr);
    std::printf("%s\n", cudaGetErrorName(cudaGraphicsUnregisterResource(nullptr)));
  }
  return 0;
}
