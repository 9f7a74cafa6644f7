// __device__, __constant__ and __managed__ variables, and a reset that makes them as at the start.
#include "check.h"

__device__ int g_counter = 5;
__device__ int g_table[4];
__constant__ float g_scale = 2.5F;
__managed__ int g_managed = 11;

__global__ void use(float* result) {
  g_counter += 1;
  g_table[threadIdx.x] = static_cast<int>(threadIdx.x) * 3;
  g_managed += 1;
  *result = g_scale * 2;
}

int main() {
  EXPECT(g_managed == 11);
  float* result;
  EXPECT(cudaMalloc(&result, sizeof *result) == cudaSuccess);
  use<<<1, 1>>>(result);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  int counter = 0;
  EXPECT(cudaMemcpyFromSymbol(&counter, g_counter, sizeof counter) == cudaSuccess);
  EXPECT(counter == 6);
  EXPECT(g_managed == 12);
  cudaPointerAttributes attributes;
  EXPECT(cudaPointerGetAttributes(&attributes, &g_managed) == cudaSuccess);
  EXPECT(attributes.type == cudaMemoryTypeManaged && attributes.hostPointer == &g_managed);
  const cudaMemLocation here{cudaMemLocationTypeDevice, 0};
  int answer = 5;
  EXPECT(cudaMemRangeGetAttribute(&answer, sizeof answer, cudaMemRangeAttributeReadMostly,
                                  &g_managed, sizeof g_managed) == cudaSuccess);
  EXPECT(answer == 0);
  EXPECT(cudaMemAdvise(&g_managed, sizeof g_managed, cudaMemAdviseSetReadMostly, here) ==
         cudaSuccess);
  EXPECT(cudaMemPrefetchAsync(&g_managed, sizeof g_managed, here, 0, nullptr) == cudaSuccess);
  EXPECT(cudaMemRangeGetAttribute(&answer, sizeof answer, cudaMemRangeAttributeReadMostly,
                                  &g_managed, sizeof g_managed) == cudaSuccess);
  EXPECT(answer == 1);
  EXPECT(cudaMemRangeGetAttribute(&answer, sizeof answer, cudaMemRangeAttributeLastPrefetchLocation,
                                  &g_managed, sizeof g_managed) == cudaSuccess);
  EXPECT(answer == 0);
  void* counter_address = nullptr;
  EXPECT(cudaGetSymbolAddress(&counter_address, g_counter) == cudaSuccess);
  EXPECT(cudaPointerGetAttributes(&attributes, counter_address) == cudaSuccess);
  EXPECT(attributes.type == cudaMemoryTypeDevice);
  float value = 0;
  EXPECT(cudaMemcpy(&value, result, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
  EXPECT(value == 5.0F);
  const float scale = 4.0F;
  EXPECT(cudaMemcpyToSymbol(g_scale, &scale, sizeof scale) == cudaSuccess);
  use<<<1, 1>>>(result);
  EXPECT(cudaMemcpy(&value, result, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
  EXPECT(value == 8.0F);

  size_t bytes = 0;
  EXPECT(cudaGetSymbolSize(&bytes, g_table) == cudaSuccess && bytes == sizeof g_table);
  int* table;
  EXPECT(cudaGetSymbolAddress(reinterpret_cast<void**>(&table), g_table) == cudaSuccess);
  EXPECT(cudaMemset(table, 1, 4) == cudaSuccess);
  int first = 0;
  EXPECT(cudaMemcpyFromSymbol(&first, g_table, sizeof first) == cudaSuccess);
  EXPECT(first == 0x01010101);
  EXPECT(cudaMemcpyToSymbol(g_table, &first, sizeof first, 14) == cudaErrorInvalidValue);
  int not_a_symbol;
  EXPECT(cudaGetSymbolSize(&bytes, &not_a_symbol) == cudaErrorInvalidSymbol);
  EXPECT(cudaGetLastError() == cudaErrorInvalidSymbol);

  EXPECT(cudaDeviceReset() == cudaSuccess);
  EXPECT(cudaMemcpyFromSymbol(&counter, g_counter, sizeof counter) == cudaSuccess);
  EXPECT(counter == 5);
  EXPECT(g_managed == 11);
  EXPECT(cudaMemRangeGetAttribute(&answer, sizeof answer, cudaMemRangeAttributeReadMostly,
                                  &g_managed, sizeof g_managed) == cudaSuccess);
  EXPECT(answer == 0);
  EXPECT(cudaMalloc(&result, sizeof *result) == cudaSuccess);
  use<<<1, 1>>>(result);
  EXPECT(cudaMemcpy(&value, result, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
  EXPECT(value == 5.0F);
  std::puts("ok");
}
