// A child may use CUDA if its parent has not; else it gets CUDA's error, and the parent goes on.
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

__global__ void store(int* to) {
  *to = 5;
}

bool child_succeeds(cudaError_t expected) {
  const pid_t child = fork();
  if (child == 0) {
    int* cell = nullptr;
    const bool is_expected = cudaMallocManaged(&cell, sizeof *cell) == expected;
    if (is_expected && expected == cudaSuccess) {
      store<<<1, 1>>>(cell);
      _exit(cudaDeviceSynchronize() == cudaSuccess && *cell == 5 ? 0 : 1);
    }
    _exit(is_expected ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main() {
  EXPECT(child_succeeds(cudaSuccess));
  int* cell;
  EXPECT(cudaMallocManaged(&cell, sizeof *cell) == cudaSuccess);
  EXPECT(child_succeeds(cudaErrorInitializationError));
  store<<<1, 1>>>(cell);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess && *cell == 5);
  std::puts("ok");
}
