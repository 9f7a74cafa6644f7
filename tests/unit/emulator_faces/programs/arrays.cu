// CUDA arrays: rows and boxes copied in and out of them.
#include <cstring>
#include <vector>

#include "check.h"

int main() {
  constexpr size_t kWidth = 8, kHeight = 4;
  float from[kHeight][kWidth], to[kHeight][kWidth];
  for (size_t i = 0; i < kWidth * kHeight; ++i) {
    from[i / kWidth][i % kWidth] = static_cast<float>(i);
  }
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array, other;
  EXPECT(cudaMallocArray(&array, &format, kWidth, kHeight) == cudaSuccess);
  EXPECT(cudaMallocArray(&other, &format, kWidth, kHeight) == cudaSuccess);
  cudaChannelFormatDesc known;
  cudaExtent extent;
  unsigned flags = 1;
  EXPECT(cudaArrayGetInfo(&known, &extent, &flags, array) == cudaSuccess);
  EXPECT(known.x == 32 && known.y == 0 && known.f == cudaChannelFormatKindFloat && flags == 0);
  EXPECT(extent.width == kWidth && extent.height == kHeight && extent.depth == 0);
  constexpr size_t kRow = kWidth * sizeof(float);
  EXPECT(cudaMemcpy2DToArray(array, 0, 0, from, kRow, kRow, kHeight, cudaMemcpyHostToDevice) ==
         cudaSuccess);
  EXPECT(cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, kRow, kHeight) == cudaSuccess);
  std::memset(to, 0, sizeof to);
  EXPECT(cudaMemcpy2DFromArray(to, kRow, other, 0, 0, kRow, kHeight, cudaMemcpyDeviceToHost) ==
         cudaSuccess);
  EXPECT(std::memcmp(from, to, sizeof to) == 0);
  float part[2][3];
  EXPECT(cudaMemcpy2DFromArray(part, sizeof part[0], array, 2 * sizeof(float), 1, sizeof part[0], 2,
                               cudaMemcpyDeviceToHost) == cudaSuccess);
  EXPECT(part[0][0] == 10 && part[1][2] == 20);
  EXPECT(cudaMemcpy2DToArray(array, kRow, 0, from, kRow, 4, 1, cudaMemcpyHostToDevice) ==
         cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);

  // A box, to and from device memory.
  const cudaExtent box{4, 3, 2};
  cudaArray_t volume;
  const cudaChannelFormatDesc pair = cudaCreateChannelDesc<int2>();
  EXPECT(cudaMalloc3DArray(&volume, &pair, box) == cudaSuccess);
  std::vector<int2> cells(24), back(24);
  for (int i = 0; i < 24; ++i) {
    cells[i] = {i, -i};
  }
  int2* device;
  EXPECT(cudaMalloc(&device, 24 * sizeof(int2)) == cudaSuccess);
  EXPECT(cudaMemcpy(device, cells.data(), 24 * sizeof(int2), cudaMemcpyHostToDevice) ==
         cudaSuccess);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(device, 4 * sizeof(int2), 4, 3);
  copy.dstArray = volume;
  copy.extent = box;  // in elements
  copy.kind = cudaMemcpyDeviceToDevice;
  EXPECT(cudaMemcpy3D(&copy) == cudaSuccess);
  cudaMemcpy3DParms out{};
  out.srcArray = volume;
  out.srcPos = make_cudaPos(1, 1, 1);
  out.dstPtr = make_cudaPitchedPtr(back.data(), 2 * sizeof(int2), 2, 2);
  out.extent = {2, 2, 1};
  out.kind = cudaMemcpyDeviceToHost;
  EXPECT(cudaMemcpy3D(&out) == cudaSuccess);
  EXPECT(back[0].x == 17 && back[1].x == 18 && back[2].x == 21 && back[3].y == -22);

  cudaChannelFormatDesc wrong = cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindSigned);
  EXPECT(cudaMallocArray(&array, &wrong, 4, 4) == cudaErrorInvalidChannelDescriptor);
  EXPECT(cudaGetLastError() == cudaErrorInvalidChannelDescriptor);
  EXPECT(cudaFreeArray(other) == cudaSuccess);
  EXPECT(cudaFreeArray(volume) == cudaSuccess);
  EXPECT(cudaFreeArray(nullptr) == cudaSuccess);

  // Many copies in one call.
  cudaStream_t stream;
  EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
  int a = 1, b = 2, c = 0, d = 0;
  void* targets[] = {&c, &d};
  const void* sources[] = {&a, &b};
  const size_t sizes[] = {sizeof a, sizeof b};
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  size_t starts[] = {0};
  EXPECT(cudaMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, starts, 1, stream) ==
         cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess && c == 1 && d == 2);

  // Advice about managed memory is kept.
  int* managed;
  EXPECT(cudaMallocManaged(&managed, 4096) == cudaSuccess);
  const cudaMemLocation here{cudaMemLocationTypeDevice, 0};
  int answer = 5;
  EXPECT(cudaMemRangeGetAttribute(&answer, sizeof answer, cudaMemRangeAttributePreferredLocation,
                                  managed, 4096) == cudaSuccess);
  EXPECT(answer == cudaInvalidDeviceId);
  EXPECT(cudaMemAdvise(managed, 4096, cudaMemAdviseSetPreferredLocation, here) == cudaSuccess);
  EXPECT(cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, here) == cudaSuccess);
  EXPECT(cudaMemPrefetchAsync(managed, 4096, here, 0, stream) == cudaSuccess);
  EXPECT(cudaMemRangeGetAttribute(&answer, sizeof answer, cudaMemRangeAttributePreferredLocation,
                                  managed, 4096) == cudaSuccess);
  EXPECT(answer == 0);
  EXPECT(cudaMemRangeGetAttribute(&answer, sizeof answer, cudaMemRangeAttributeReadMostly, managed,
                                  4096) == cudaSuccess);
  EXPECT(answer == 1);
  EXPECT(cudaMemRangeGetAttribute(&answer, sizeof answer, cudaMemRangeAttributeLastPrefetchLocation,
                                  managed, 4096) == cudaSuccess);
  EXPECT(answer == 0);
  return 0;
}
