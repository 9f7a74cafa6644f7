// Virtual memory management: one memory in two places, a range that grows, access taken away.
#include <cuda.h>

#include "check.h"

__global__ void add_one(int* cells, int count) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count) {
    cells[index] += 1;
  }
}

int main() {
  EXPECT(cudaFree(0) == cudaSuccess);
  int is_supported = 0;
  EXPECT(cuDeviceGetAttribute(&is_supported,
                              CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                              0) == CUDA_SUCCESS);
  EXPECT(is_supported == 1);
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t chunk = 0;
  EXPECT(cuMemGetAllocationGranularity(&chunk, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM) ==
         CUDA_SUCCESS);
  CUdeviceptr range;
  EXPECT(cuMemAddressReserve(&range, 3 * chunk, 0, 0, 0) == CUDA_SUCCESS);
  EXPECT(cuMemAddressReserve(&range, chunk + 1, 0, 0, 0) == CUDA_ERROR_INVALID_VALUE);
  CUmemGenericAllocationHandle first, second;
  EXPECT(cuMemCreate(&first, chunk, &properties, 0) == CUDA_SUCCESS);
  EXPECT(cuMemCreate(&second, chunk, &properties, 0) == CUDA_SUCCESS);
  EXPECT(cuMemMap(range, chunk, 0, first, 0) == CUDA_SUCCESS);
  EXPECT(cuMemMap(range, chunk, 0, second, 0) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemMap(range + chunk, chunk, 0, second, 0) == CUDA_SUCCESS);
  EXPECT(cuMemMap(range + 2 * chunk, chunk, 0, first, 0) == CUDA_SUCCESS);  // the first again
  EXPECT(cuMemRelease(first) == CUDA_SUCCESS);
  EXPECT(cuMemRelease(second) == CUDA_SUCCESS);
  EXPECT(cuMemsetD32(range, 0, 4) == CUDA_ERROR_INVALID_VALUE);  // no access yet
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  EXPECT(cuMemSetAccess(range, 3 * chunk, &access, 1) == CUDA_SUCCESS);
  unsigned long long flags = 0;
  EXPECT(cuMemGetAccess(&flags, &access.location, range + chunk) == CUDA_SUCCESS);
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

  // One memset, kernel and copy over both chunks.
  const int count = static_cast<int>(2 * chunk / sizeof(int));
  EXPECT(cuMemsetD32(range, 5, count) == CUDA_SUCCESS);
  int* const middle = reinterpret_cast<int*>(range + chunk) - 32;
  add_one<<<2, 32>>>(middle, 64);
  int cells[64];
  EXPECT(cudaMemcpy(cells, middle, sizeof cells, cudaMemcpyDeviceToHost) == cudaSuccess);
  EXPECT(cells[0] == 6 && cells[63] == 6);
  int shared = 0;
  EXPECT(cuMemcpyDtoH(&shared, range + 3 * chunk - sizeof(int), sizeof shared) == CUDA_SUCCESS);
  EXPECT(shared == 6);  // the end of the first chunk
  cudaPointerAttributes attributes;
  EXPECT(cudaPointerGetAttributes(&attributes, middle) == cudaSuccess);
  EXPECT(attributes.type == cudaMemoryTypeDevice);
  EXPECT(cudaFree(reinterpret_cast<void*>(range)) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT(cuMemAddressFree(range, 3 * chunk) == CUDA_ERROR_INVALID_VALUE);  // still mapped
  EXPECT(cuMemUnmap(range + chunk, 2 * chunk) == CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoH(cells, reinterpret_cast<CUdeviceptr>(middle), sizeof cells) ==
         CUDA_ERROR_INVALID_VALUE);
  add_one<<<1, 64>>>(middle, 64);
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  return 0;
}
