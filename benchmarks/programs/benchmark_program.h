// What every benchmark program shares: its size argument, its input, device memory, and the
// comparison of its result with the CPU's. A program returns result().
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../examples/cuda_check.h"

// The first argument, a positive number, else the default.
inline int size_argument(int argc, char** argv, int default_size) {
  if (argc < 2) {
    return default_size;
  }
  const int size = std::atoi(argv[1]);
  if (size <= 0) {
    std::fprintf(stderr, "usage: %s [SIZE]\n", argv[0]);
    std::exit(2);
  }
  return size;
}

// The same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}

  std::uint32_t next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::uint32_t>(state_ >> 32);
  }

  int below(int bound) { return static_cast<int>(next() % static_cast<std::uint32_t>(bound)); }

  // In [0, 1).
  float unit() { return static_cast<float>(next() >> 8) / 16777216.0F; }

 private:
  std::uint64_t state_;
};

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    CUDA_CHECK(cudaMalloc(&data_, count * sizeof(T)));
    CUDA_CHECK(cudaMemset(data_, 0, count * sizeof(T)));
  }

  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) { set(values); }

  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  ~DeviceArray() { cudaFree(data_); }

  T* data() const { return data_; }

  std::size_t count() const { return count_; }

  void set(const std::vector<T>& values) {
    CUDA_CHECK(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }

  std::vector<T> host() const {
    std::vector<T> values(count_);
    CUDA_CHECK(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

namespace benchmark_program {
inline int g_differences = 0;

inline void differs(const char* what, std::size_t index, double actual, double expected) {
  if (g_differences++ < 5) {
    std::printf("%s[%zu] is %.9g, expected %.9g\n", what, index, actual, expected);
  }
}
}  // namespace benchmark_program

template <typename T>
void expect_equal(const char* what, const std::vector<T>& actual, const std::vector<T>& expected) {
  if (actual.size() != expected.size()) {
    benchmark_program::differs("size", 0, static_cast<double>(actual.size()),
                               static_cast<double>(expected.size()));
    return;
  }
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (!(actual[i] == expected[i])) {
      benchmark_program::differs(what, i, static_cast<double>(actual[i]),
                                 static_cast<double>(expected[i]));
    }
  }
}

template <typename T>
void expect_equal(const char* what, T actual, T expected) {
  expect_equal(what, std::vector<T>{actual}, std::vector<T>{expected});
}

// Beyond an edge of [0, size) the place at the edge.
__host__ __device__ inline int clamp(int i, int size) {
  return i < 0 ? 0 : i >= size ? size - 1 : i;
}

// Places of [0, count) whose results are compared: all of them, or `most` if there are more.
inline std::vector<std::size_t> compared_places(std::size_t count, std::size_t most) {
  std::vector<std::size_t> places(count < most ? count : most);
  Random random(1);
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] = count <= most ? i : random.next() % count;
  }
  return places;
}

template <typename T>
std::vector<T> values_at(const std::vector<T>& values, const std::vector<std::size_t>& places) {
  std::vector<T> chosen;
  for (const std::size_t place : places) {
    chosen.push_back(values[place]);
  }
  return chosen;
}

// Equal but for the rounding that another order of the same operations may bring.
inline void expect_close(const char* what, const std::vector<float>& actual,
                         const std::vector<float>& expected, float tolerance) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const float bound = tolerance * (1.0F + std::fabs(expected[i]));
    if (!(std::fabs(actual[i] - expected[i]) <= bound)) {
      benchmark_program::differs(what, i, actual[i], expected[i]);
    }
  }
}

// Prints the verdict and gives the exit status.
inline int result() {
  if (benchmark_program::g_differences != 0) {
    std::printf("wrong: %d differences\n", benchmark_program::g_differences);
    return 1;
  }
  std::printf("ok\n");
  return 0;
}
