// How much memory the device takes for a program: device_memory CASE prints, as JSON, the bytes
// that the case allocates on the device, those of the registers of its resident threads, and by how
// much the process has grown at most. The process before, with the runtime and the kernel loaded
// and a small launch behind it, does not count: it is printed apart.
#include <cstdint>
#include <cstring>

#include <cooperative_groups.h>

#include "../programs/benchmark_program.h"

namespace {

constexpr int kThreads = 256;
constexpr std::size_t kCells = std::size_t{16} << 20;  // of 4 bytes
constexpr int kRegisters = 48;

__global__ void fill(float* cells, std::size_t count, float value) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += stride) {
    cells[i] = value + static_cast<float>(i % 7);
  }
}

__global__ void add(const float* a, const float* b, float* sum, std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += stride) {
    sum[i] = a[i] + b[i];
  }
}

// All blocks are resident and each thread keeps its values over the grid's barrier.
__global__ void keep_registers(const float* numbers, float* sums) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  float values[kRegisters];
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) {
    values[i] = numbers[(thread + static_cast<unsigned>(i) * 31) % 4096];
  }
  cooperative_groups::this_grid().sync();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) {
    sum += values[i] * values[(i + 7) % kRegisters];
  }
  sums[thread] = sum;
}

// A field of /proc/self/status in bytes.
std::size_t status_bytes(const char* field) {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  char line[256];
  std::size_t kilobytes = 0;
  while (file != nullptr && std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::strncmp(line, field, std::strlen(field)) == 0) {
      kilobytes = std::strtoul(line + std::strlen(field) + 1, nullptr, 10);
    }
  }
  if (file != nullptr) {
    std::fclose(file);
  }
  return kilobytes * 1024;
}

void report(const char* name, std::size_t before, std::size_t allocated, std::size_t registers) {
  std::printf(
      "{\"case\": \"%s\", \"process\": %zu, \"allocated\": %zu, \"registers\": %zu, \"grown\": "
      "%zu}\n",
      name, before, allocated, registers, status_bytes("VmHWM:") - before);
}

void run_arrays(const char* name, int blocks) {
  constexpr std::size_t kBytes = kCells * sizeof(float);
  DeviceArray<float> small(kThreads);
  fill<<<1, kThreads>>>(small.data(), kThreads, 0);
  add<<<1, kThreads>>>(small.data(), small.data(), small.data(), kThreads);
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::size_t before = status_bytes("VmRSS:");
  float* arrays[3] = {};
  for (float*& array : arrays) {
    CUDA_CHECK(cudaMalloc(&array, kBytes));
    fill<<<blocks, kThreads>>>(array, kCells, 1);
  }
  add<<<blocks, kThreads>>>(arrays[0], arrays[1], arrays[2], kCells);
  CUDA_CHECK(cudaDeviceSynchronize());
  report(name, before, 3 * kBytes, 0);
  for (float* array : arrays) {
    CUDA_CHECK(cudaFree(array));
  }
}

// As many blocks as the device holds at once.
void run_registers(const char* name, int threads) {
  cudaDeviceProp device{};
  int blocks = 0;
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, keep_registers, threads, 0));
  blocks *= device.multiProcessorCount;
  const DeviceArray<float> numbers(4096), sums(static_cast<std::size_t>(blocks * threads));
  const float* in = numbers.data();
  float* out = sums.data();
  void* arguments[] = {&in, &out};
  CUDA_CHECK(cudaMemset(out, 0, static_cast<std::size_t>(blocks * threads) * sizeof(float)));
  const auto launch = [&](int count, int width) {
    CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(keep_registers), dim3(count),
                                           dim3(width), arguments, 0, nullptr));
    CUDA_CHECK(cudaDeviceSynchronize());
  };
  launch(1, 32);
  const std::size_t before = status_bytes("VmRSS:");
  launch(blocks, threads);
  cudaFuncAttributes attributes{};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, keep_registers));
  const auto registers =
      static_cast<std::size_t>(attributes.numRegs) * 4 * static_cast<std::size_t>(blocks * threads);
  report(name, before, 0, registers);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const name = argc == 2 ? argv[1] : "";
  if (std::strcmp(name, "arrays") == 0) {
    run_arrays(name, 128);
  } else if (std::strcmp(name, "arrays, many blocks") == 0) {
    run_arrays(name, 4096);
  } else if (std::strcmp(name, "registers") == 0) {
    run_registers(name, 256);
  } else if (std::strcmp(name, "registers, small blocks") == 0) {
    run_registers(name, 32);
  } else {
    std::fprintf(stderr,
                 "usage: %s arrays|\"arrays, many blocks\"|registers|\"registers, small "
                 "blocks\"\n",
                 argv[0]);
    return 2;
  }
  return 0;
}
