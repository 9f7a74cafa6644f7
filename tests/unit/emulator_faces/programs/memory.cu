// Memory of every kind, copied in every direction.
#include <numeric>
#include <vector>

#include "check.h"

__global__ void add(const int* a, const int* b, int* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    sum[i] = a[i] + b[i];
  }
}

__global__ void increment(int* cells, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    cells[i] += 1;
  }
}

__global__ void mark_rows(char* rows, size_t pitch, int width, int height) {
  const int x = threadIdx.x;
  const int y = blockIdx.x;
  if (x < width && y < height) {
    rows[y * pitch + x] = static_cast<char>(10 * y + x);
  }
}

constexpr int kCount = 1000;
constexpr size_t kBytes = kCount * sizeof(int);

void linear_memory() {
  std::vector<int> a(kCount), b(kCount), sum(kCount);
  std::iota(a.begin(), a.end(), 0);
  std::iota(b.begin(), b.end(), 100);
  int *device_a, *device_b, *device_sum;
  EXPECT(cudaMalloc(&device_a, kBytes) == cudaSuccess);
  EXPECT(cudaMalloc(&device_b, kBytes) == cudaSuccess);
  EXPECT(cudaMalloc(&device_sum, kBytes) == cudaSuccess);
  EXPECT(cudaMemcpy(device_a, a.data(), kBytes, cudaMemcpyHostToDevice) == cudaSuccess);
  EXPECT(cudaMemcpy(device_b, b.data(), kBytes, cudaMemcpyDefault) == cudaSuccess);
  EXPECT(cudaMemset(device_sum, 0xff, kBytes) == cudaSuccess);
  add<<<(kCount + 127) / 128, 128>>>(device_a, device_b, device_sum, kCount);
  EXPECT(cudaGetLastError() == cudaSuccess);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(cudaMemcpy(device_a, device_sum, kBytes, cudaMemcpyDeviceToDevice) == cudaSuccess);
  EXPECT(cudaMemcpy(sum.data(), device_a, kBytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < kCount; ++i) {
    EXPECT(sum[i] == 2 * i + 100);
  }
  cudaPointerAttributes attributes;
  EXPECT(cudaPointerGetAttributes(&attributes, device_a + 5) == cudaSuccess);
  EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == device_a + 5);
  EXPECT(cudaPointerGetAttributes(&attributes, sum.data()) == cudaSuccess);
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);
  EXPECT(cudaFree(device_a) == cudaSuccess);
  EXPECT(cudaFree(device_b) == cudaSuccess);
  EXPECT(cudaFree(device_sum) == cudaSuccess);
  EXPECT(cudaFree(nullptr) == cudaSuccess);
}

void host_memory() {
  int* pinned;
  EXPECT(cudaHostAlloc(&pinned, kBytes, cudaHostAllocMapped) == cudaSuccess);
  std::fill_n(pinned, kCount, 1);
  int* device_view;
  EXPECT(cudaHostGetDevicePointer(&device_view, pinned, 0) == cudaSuccess);
  increment<<<8, 128>>>(device_view, kCount);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(pinned[0] == 2 && pinned[kCount - 1] == 2);
  cudaPointerAttributes attributes;
  EXPECT(cudaPointerGetAttributes(&attributes, pinned) == cudaSuccess);
  EXPECT(attributes.type == cudaMemoryTypeHost);
  EXPECT(cudaFreeHost(pinned) == cudaSuccess);

  std::vector<int> registered(kCount, 4);
  EXPECT(cudaHostRegister(registered.data(), kBytes, cudaHostRegisterDefault) == cudaSuccess);
  EXPECT(cudaHostRegister(registered.data(), kBytes, cudaHostRegisterDefault) ==
         cudaErrorHostMemoryAlreadyRegistered);
  EXPECT(cudaGetLastError() == cudaErrorHostMemoryAlreadyRegistered);
  increment<<<8, 128>>>(registered.data(), kCount);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(registered[7] == 5);
  EXPECT(cudaHostUnregister(registered.data()) == cudaSuccess);

  int* managed;
  EXPECT(cudaMallocManaged(&managed, kBytes) == cudaSuccess);
  std::fill_n(managed, kCount, 7);
  increment<<<8, 128>>>(managed, kCount);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(managed[kCount / 2] == 8);
  EXPECT(cudaPointerGetAttributes(&attributes, managed) == cudaSuccess);
  EXPECT(attributes.type == cudaMemoryTypeManaged);
  EXPECT(cudaFree(managed) == cudaSuccess);
}

void pitched_memory() {
  constexpr int kWidth = 5, kHeight = 3;
  char* rows;
  size_t pitch;
  EXPECT(cudaMallocPitch(&rows, &pitch, kWidth, kHeight) == cudaSuccess);
  EXPECT(pitch >= kWidth && pitch % 32 == 0);
  EXPECT(cudaMemset2D(rows, pitch, 99, kWidth, kHeight) == cudaSuccess);
  mark_rows<<<kHeight - 1, 32>>>(rows, pitch, kWidth, kHeight);
  char host[kHeight][kWidth];
  EXPECT(cudaMemcpy2D(host, kWidth, rows, pitch, kWidth, kHeight, cudaMemcpyDeviceToHost) ==
         cudaSuccess);
  EXPECT(host[1][3] == 13 && host[2][0] == 99 && host[2][4] == 99);
  EXPECT(cudaMemcpy2D(host, kWidth - 1, rows, pitch, kWidth, kHeight, cudaMemcpyDeviceToHost) ==
         cudaErrorInvalidPitchValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidPitchValue);
  EXPECT(cudaFree(rows) == cudaSuccess);

  const cudaExtent extent = make_cudaExtent(4, 3, 2);
  cudaPitchedPtr box;
  EXPECT(cudaMalloc3D(&box, extent) == cudaSuccess);
  EXPECT(cudaMemset3D(box, 6, extent) == cudaSuccess);
  char cells[2][3][4] = {};
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = box;
  copy.dstPtr = make_cudaPitchedPtr(cells, 4, 4, 3);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  EXPECT(cudaMemcpy3D(&copy) == cudaSuccess);
  EXPECT(cells[0][0][0] == 6 && cells[1][2][3] == 6);
  EXPECT(cudaFree(box.ptr) == cudaSuccess);
}

void pool_memory() {
  cudaStream_t stream;
  EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
  int* cells;
  EXPECT(cudaMallocAsync(&cells, kBytes, stream) == cudaSuccess);
  EXPECT(cudaMemsetAsync(cells, 0, kBytes, stream) == cudaSuccess);
  increment<<<8, 128, 0, stream>>>(cells, kCount);
  int last = 0;
  EXPECT(cudaMemcpyAsync(&last, cells + kCount - 1, sizeof last, cudaMemcpyDeviceToHost, stream) ==
         cudaSuccess);
  EXPECT(cudaFreeAsync(cells, stream) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  EXPECT(last == 1);
  EXPECT(cudaStreamDestroy(stream) == cudaSuccess);
}

// A pool gives the newest of the freed blocks of a size away again: first to the stream that freed
// it, to another unless the pool forbids that.
void pool_reuse() {
  cudaMemPool_t pool;
  cudaStream_t streams[2];
  EXPECT(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
  EXPECT(cudaStreamCreate(&streams[0]) == cudaSuccess);
  EXPECT(cudaStreamCreate(&streams[1]) == cudaSuccess);
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{1} << 20}) {
    void* blocks[3];
    for (void*& block : blocks) {
      EXPECT(cudaMallocAsync(&block, bytes, streams[0]) == cudaSuccess);
    }
    EXPECT(cudaFreeAsync(blocks[0], streams[1]) == cudaSuccess);
    EXPECT(cudaFreeAsync(blocks[1], streams[0]) == cudaSuccess);
    EXPECT(cudaFreeAsync(blocks[1], streams[0]) == cudaErrorInvalidValue);
    void* again;
    EXPECT(cudaMallocAsync(&again, bytes, streams[1]) == cudaSuccess);
    EXPECT(again == blocks[0]);
    EXPECT(cudaMallocAsync(&again, bytes, streams[1]) == cudaSuccess);
    EXPECT(again == blocks[1]);
    EXPECT(cudaFreeAsync(blocks[0], streams[0]) == cudaSuccess);
    int allowed = 0;
    for (const auto attribute :
         {cudaMemPoolReuseAllowOpportunistic, cudaMemPoolReuseAllowInternalDependencies}) {
      EXPECT(cudaMemPoolSetAttribute(pool, attribute, &allowed) == cudaSuccess);
    }
    EXPECT(cudaMallocAsync(&again, bytes, streams[1]) == cudaSuccess);
    EXPECT(again != blocks[0]);
    EXPECT(cudaFree(again) == cudaSuccess);
    allowed = 1;
    for (const auto attribute :
         {cudaMemPoolReuseAllowOpportunistic, cudaMemPoolReuseAllowInternalDependencies}) {
      EXPECT(cudaMemPoolSetAttribute(pool, attribute, &allowed) == cudaSuccess);
    }
    EXPECT(cudaFree(blocks[1]) == cudaSuccess);
    EXPECT(cudaFree(blocks[2]) == cudaSuccess);
    EXPECT(cudaMemPoolTrimTo(pool, 0) == cudaSuccess);
  }
  EXPECT(cudaStreamDestroy(streams[0]) == cudaSuccess);
  EXPECT(cudaStreamDestroy(streams[1]) == cudaSuccess);
}

int main() {
  linear_memory();
  host_memory();
  pitched_memory();
  pool_memory();
  pool_reuse();
  std::puts("ok");
}
