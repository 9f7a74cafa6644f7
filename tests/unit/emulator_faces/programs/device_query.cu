// What a program asks of the device, of a kernel, and of the driver.
#include <cstring>

#include <cuda.h>

#include "check.h"

__global__ void kernel(double first, char second, int* third) {
  __shared__ int buffer[32];
  extern __shared__ int dynamic[];
  buffer[threadIdx.x] = static_cast<int>(first) + second;
  __syncthreads();
  dynamic[threadIdx.x] = buffer[31 - threadIdx.x];
  third[threadIdx.x] = dynamic[threadIdx.x];
}

__global__ void __cluster_dims__(2, 1, 1) clustered() {}

int main() {
  int count = 0, device = -1, version = 0;
  EXPECT(cudaGetDeviceCount(&count) == cudaSuccess && count == 1);
  EXPECT(cudaGetDevice(&device) == cudaSuccess && device == 0);
  EXPECT(cudaRuntimeGetVersion(&version) == cudaSuccess && version == 13000);
  EXPECT(cudaDriverGetVersion(&version) == cudaSuccess && version == 13000);
  cudaDeviceProp properties;
  EXPECT(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  EXPECT(std::strcmp(properties.name, "BARRACUDA emulated device") == 0);
  EXPECT(properties.major == 9 && properties.warpSize == 32);
  EXPECT(properties.maxThreadsPerBlock == 1024 && properties.totalGlobalMem > 0);

  cudaFuncAttributes attributes;
  EXPECT(cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess);
  EXPECT(attributes.sharedSizeBytes == 128 && attributes.maxThreadsPerBlock == 1024);
  size_t offset = 0, size = 0;
  EXPECT(cudaFuncGetParamInfo(reinterpret_cast<const void*>(kernel), 2, &offset, &size) ==
         cudaSuccess);
  EXPECT(offset == 16 && size == 8);
  const char* name = nullptr;
  EXPECT(cudaFuncGetName(&name, reinterpret_cast<const void*>(kernel)) == cudaSuccess);
  EXPECT(std::strstr(name, "kernel") != nullptr);
  EXPECT(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000) ==
         cudaSuccess);
  int* cells;
  EXPECT(cudaMallocManaged(&cells, 32 * sizeof(int)) == cudaSuccess);
  kernel<<<1, 32, 100000>>>(40.0, 2, cells);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess && cells[31] == 42);
  int grid = 0, block = 0;
  EXPECT(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel) == cudaSuccess);
  EXPECT(grid > 0 && block > 0);
  EXPECT(cudaFuncGetAttributes(&attributes, clustered) == cudaSuccess);
  EXPECT(attributes.requiredClusterWidth == 2);
  clustered<<<3, 32>>>();
  EXPECT(cudaGetLastError() == cudaErrorInvalidClusterSize);

  // The only device is no peer of its own.
  int can_access = 1;
  EXPECT(cudaDeviceCanAccessPeer(&can_access, 0, 0) == cudaSuccess && can_access == 0);
  EXPECT(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);

  size_t limit = 0;
  EXPECT(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20) == cudaSuccess);
  EXPECT(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize) == cudaSuccess && limit == 1 << 20);
  size_t free_bytes = 0, total_bytes = 0;
  EXPECT(cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess && free_bytes <= total_bytes);

  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  EXPECT(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault,
                                          &found) == cudaSuccess);
  EXPECT(found == cudaDriverEntryPointSuccess && function != nullptr);
  CUdeviceptr address = 0;
  EXPECT(reinterpret_cast<decltype(&cuMemAlloc)>(function)(&address, 64) == CUDA_SUCCESS);
  EXPECT(cudaFree(reinterpret_cast<void*>(address)) == cudaSuccess);
  EXPECT(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 12000, cudaEnableDefault,
                                          &found) == cudaSuccess);
  EXPECT(found == cudaDriverEntryPointSymbolNotFound && function == nullptr);
  std::puts("ok");
}
