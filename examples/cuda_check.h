// Ends the program with a message when a CUDA runtime call fails.
#pragma once

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

inline void cuda_check(cudaError_t error, const char* expression, int line) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "line %d: %s: %s\n", line, expression, cudaGetErrorString(error));
    std::exit(1);
  }
}

#define CUDA_CHECK(expression) cuda_check((expression), #expression, __LINE__)

// What every example ends with: its result, for comparison with and without the tool.
inline int finish(bool right, long long result) {
  std::printf("%s result %lld\n", right ? "ok" : "wrong", result);
  return right ? 0 : 1;
}
