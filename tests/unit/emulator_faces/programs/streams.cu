// Streams, events, host functions; built also with -default-stream per-thread.
#include <thread>

#include "check.h"

__global__ void append(int* cells, int* length, int value) {
  cells[(*length)++] = value;
}

void CUDART_CB count_call(void* calls) {
  ++*static_cast<int*>(calls);
}

void CUDART_CB count_callback(cudaStream_t, cudaError_t status, void* calls) {
  *static_cast<int*>(calls) += status == cudaSuccess ? 10 : 1000;
}

int main() {
  int *cells, *length;
  EXPECT(cudaMallocManaged(&cells, 64 * sizeof(int)) == cudaSuccess);
  EXPECT(cudaMallocManaged(&length, sizeof(int)) == cudaSuccess);
  *length = 0;
  cudaStream_t first, second;
  EXPECT(cudaStreamCreate(&first) == cudaSuccess);
  EXPECT(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking) == cudaSuccess);
  cudaEvent_t start, end;
  EXPECT(cudaEventCreate(&start) == cudaSuccess);
  EXPECT(cudaEventCreate(&end) == cudaSuccess);
  float milliseconds = -1;
  EXPECT(cudaEventElapsedTime(&milliseconds, start, end) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  EXPECT(cudaEventRecord(start, first) == cudaSuccess);
  append<<<1, 1, 0, first>>>(cells, length, 1);
  EXPECT(cudaEventRecord(end, first) == cudaSuccess);
  EXPECT(cudaStreamWaitEvent(second, end, 0) == cudaSuccess);
  append<<<1, 1, 0, second>>>(cells, length, 2);
  int calls = 0;
  EXPECT(cudaLaunchHostFunc(second, count_call, &calls) == cudaSuccess);
  EXPECT(cudaStreamAddCallback(second, count_callback, &calls, 0) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(second) == cudaSuccess);
  EXPECT(cudaStreamQuery(first) == cudaSuccess);
  EXPECT(cudaEventSynchronize(end) == cudaSuccess);
  EXPECT(cudaEventQuery(end) == cudaSuccess);
  EXPECT(cudaEventElapsedTime(&milliseconds, start, end) == cudaSuccess && milliseconds >= 0);
  EXPECT(calls == 11);
  std::thread other([&] {
    append<<<1, 1>>>(cells, length, 3);
    EXPECT(cudaStreamSynchronize(0) == cudaSuccess);
  });
  other.join();
  append<<<1, 1>>>(cells, length, 4);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(*length == 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT(cells[i] == i + 1);
  }
  int priority = 1;
  unsigned flags = 0;
  EXPECT(cudaStreamGetPriority(first, &priority) == cudaSuccess && priority == 0);
  EXPECT(cudaStreamGetFlags(second, &flags) == cudaSuccess && flags == cudaStreamNonBlocking);
  EXPECT(cudaStreamDestroy(first) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(first) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  EXPECT(cudaEventDestroy(start) == cudaSuccess);
  std::puts("ok");
}
