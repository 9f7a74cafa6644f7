// What the programs of this folder share. Each is a program of the literature in which a fence
// matters. Every fence is a macro of its own, 1 where the program is right and 0 where `-DNAME=0`
// takes it out; the lines `// variant NAME: FLAGS` at the head are the builds without some of them.
// A program checks its own result, prints `ok` or what is wrong, and ends with status 0 or 1; no
// schedule changes what a right build prints. Nothing waits for ever: without its fences a program
// ends too. `PROGRAM ROUNDS` does all of it so many times, for who measures its kernels.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

inline void require(cudaError_t status) {
  if (status != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(status));
    std::exit(2);
  }
}

// What device_array() has given.
inline std::vector<void*> g_arrays;

// Device memory of `count` values, every byte of which is `fill`.
template <typename T>
T* device_array(size_t count, int fill = 0) {
  T* array = nullptr;
  require(cudaMalloc(&array, count * sizeof(T)));
  require(cudaMemset(array, fill, count * sizeof(T)));
  g_arrays.push_back(array);
  return array;
}

template <typename T>
T* to_device(const std::vector<T>& values) {
  T* array = device_array<T>(values.size());
  require(cudaMemcpy(array, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return array;
}

template <typename T>
std::vector<T> to_host(const T* array, size_t count) {
  std::vector<T> values(count);
  require(cudaMemcpy(values.data(), array, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

// How often a thread looks before it gives up, which only a broken build makes it do. Between two
// looks a GPU's other threads do little, and a store that is delayed may be some milliseconds late.
inline int polls(int on_emulated_device) {
  cudaDeviceProp device;
  require(cudaGetDeviceProperties(&device, 0));
  return std::strstr(device.name, "emulated") != nullptr ? on_emulated_device
                                                         : on_emulated_device * 16;
}

// What the kernels launched so far leave: an error ends the program.
inline void finish_kernels() {
  require(cudaGetLastError());
  require(cudaDeviceSynchronize());
}

// Prints the verdict; the exit status of the program.
inline int conclude(const char* what, long long seen, long long expected) {
  if (seen == expected) {
    std::printf("ok\n");
    return 0;
  }
  std::printf("wrong: %s %lld, not %lld\n", what, seen, expected);
  return 1;
}

// Of each program: its kernels once, and the verdict on what they left; the exit status.
int run_round();

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  int status = 0;
  for (int round = 0; round < rounds; ++round) {
    if (round != 0) {
      for (void* const array : g_arrays) {
        require(cudaFree(array));
      }
      g_arrays.clear();
    }
    status = run_round() != 0 ? 1 : status;
  }
  return status;
}
