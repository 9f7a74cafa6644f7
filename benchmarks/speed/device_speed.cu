// How fast the device executes one kernel: device_speed KERNEL LAUNCHES prints, as JSON, wall and
// processor seconds of that many launches until their memory is free again, when a tool has
// checked them all. A launch before them, which loads the module, does not count. On the emulated
// device without the tool (plain_device.cpp) it prints the warp instructions too.
//
// The kernels are those of benchmarks/oclgrind/kernels.cl, but for `arithmetic`.
#include <cstdint>
#include <cstring>
#include <ctime>
#include <dlfcn.h>

#include "../programs/benchmark_program.h"

namespace {

constexpr int kThreads = 256;
constexpr int kNumbers = 1 << 18;
constexpr int kBins = 256;
constexpr int kMatrix = 128;
constexpr int kTile = 16;
constexpr int kSide = 512;
constexpr int kRounds = 200;

__global__ void arithmetic(const std::uint32_t* numbers, std::uint32_t* results) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  std::uint32_t x = numbers[i], y = i;
  for (int round = 0; round < kRounds; ++round) {
    x = (x ^ (y >> 3)) * 2654435761U + y;
    y = (y + (x << 5)) ^ (x >> 7);
  }
  results[i] = x + y;
}

__global__ void reduction(const std::uint32_t* numbers, std::uint32_t* sums) {
  __shared__ std::uint32_t partial[kThreads];
  const unsigned thread = threadIdx.x;
  partial[thread] = numbers[blockIdx.x * blockDim.x + thread];
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (thread < stride) {
      partial[thread] += partial[thread + stride];
    }
    __syncthreads();
  }
  if (thread == 0) {
    sums[blockIdx.x] = partial[0];
  }
}

__global__ void matrix_product(const float* a, const float* b, float* product) {
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < kMatrix; ++k) {
    sum += a[row * kMatrix + k] * b[k * kMatrix + column];
  }
  product[row * kMatrix + column] = sum;
}

__global__ void histogram(const std::uint32_t* numbers, std::uint32_t* bins) {
  __shared__ std::uint32_t counts[kBins];
  const unsigned thread = threadIdx.x;
  counts[thread] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + thread; i < kNumbers; i += gridDim.x * blockDim.x) {
    atomicAdd(&counts[numbers[i] % kBins], 1U);
  }
  __syncthreads();
  atomicAdd(&bins[thread], counts[thread]);
}

__global__ void stencil(const float* before, float* after) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x == kSide - 1 || y == kSide - 1) {
    return;
  }
  const unsigned i = y * kSide + x;
  after[i] = 0.5F * before[i] +
             0.125F * (before[i - 1] + before[i + 1] + before[i - kSide] + before[i + kSide]);
}

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Of the emulated device without the tool; 0 elsewhere.
unsigned long long warp_instructions() {
  using Count = unsigned long long();
  auto* const count =
      reinterpret_cast<Count*>(dlsym(RTLD_DEFAULT, "barracuda_plain_warp_instructions"));
  return count == nullptr ? 0 : count();
}

template <typename Launch>
void measure(const char* name, int launches, Launch launch) {
  // Freeing memory waits until all that was launched has ended and was checked.
  void* marker = nullptr;
  CUDA_CHECK(cudaMalloc(&marker, 16));
  launch();
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(marker));
  CUDA_CHECK(cudaMalloc(&marker, 16));
  const unsigned long long instructions = warp_instructions();
  const double wall = seconds_of(CLOCK_MONOTONIC), processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < launches; ++i) {
    launch();
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(marker));
  std::printf(
      "{\"kernel\": \"%s\", \"launches\": %d, \"seconds\": %.6f, \"processor_seconds\": %.6f, "
      "\"warp_instructions\": %llu}\n",
      name, launches, seconds_of(CLOCK_MONOTONIC) - wall,
      seconds_of(CLOCK_PROCESS_CPUTIME_ID) - processor, warp_instructions() - instructions);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s KERNEL LAUNCHES\n", argv[0]);
    return 2;
  }
  const char* const name = argv[1];
  const int launches = std::atoi(argv[2]);
  Random random(1);
  std::vector<std::uint32_t> numbers(kNumbers);
  std::vector<float> cells(kSide * kSide);
  for (auto& number : numbers) {
    number = random.next();
  }
  for (auto& cell : cells) {
    cell = random.unit();
  }
  const DeviceArray<std::uint32_t> input(numbers), output(kNumbers);
  const DeviceArray<float> left(cells), right(cells), result_cells(kSide * kSide);
  const dim3 tile(kTile, kTile);
  if (std::strcmp(name, "arithmetic") == 0) {
    measure(name, launches,
            [&] { arithmetic<<<kNumbers / kThreads, kThreads>>>(input.data(), output.data()); });
  } else if (std::strcmp(name, "reduction") == 0) {
    measure(name, launches,
            [&] { reduction<<<kNumbers / kThreads, kThreads>>>(input.data(), output.data()); });
  } else if (std::strcmp(name, "matrix") == 0) {
    measure(name, launches, [&] {
      matrix_product<<<dim3(kMatrix / kTile, kMatrix / kTile), tile>>>(left.data(), right.data(),
                                                                       result_cells.data());
    });
  } else if (std::strcmp(name, "histogram") == 0) {
    measure(name, launches, [&] { histogram<<<64, kBins>>>(input.data(), output.data()); });
  } else if (std::strcmp(name, "stencil") == 0) {
    measure(name, launches, [&] {
      stencil<<<dim3(kSide / kTile, kSide / kTile), tile>>>(left.data(), result_cells.data());
    });
  } else {
    std::fprintf(stderr, "no kernel %s\n", name);
    return 2;
  }
  return 0;
}
