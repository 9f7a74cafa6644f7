// Texture and surface objects: made, asked about, read and written by kernels, destroyed.
#include <cmath>
#include <cstring>
#include <vector>

#include <cuda_fp16.h>

#include "check.h"

namespace {

__global__ void fetch(cudaTextureObject_t texture, float* out, int count) {
  const int i = threadIdx.x;
  if (i < count) {
    out[i] = tex1Dfetch<float>(texture, i - 1);
  }
}

__global__ void sample(cudaTextureObject_t texture, float* out, float step) {
  const int x = threadIdx.x, y = threadIdx.y;
  out[y * blockDim.x + x] = tex2D<float>(texture, x * step, y * step);
}

__global__ void sample_pixels(cudaTextureObject_t texture, float4* out) {
  out[threadIdx.x] = tex2D<float4>(texture, threadIdx.x + 0.5f, 0.5f);
}

__global__ void sample_volume(cudaTextureObject_t texture, float* out) {
  const int i = threadIdx.x;
  out[i] = tex3D<float>(texture, i % 2 + 0.5f, i / 2 % 2 + 0.5f, i / 4 + 0.5f);
}

__global__ void sample_layers(cudaTextureObject_t texture, int* out) {
  out[threadIdx.x] = tex2DLayered<short>(texture, 1.5f, 0.5f, threadIdx.x);
}

__global__ void gather(cudaTextureObject_t texture, float4* out) {
  *out = tex2Dgather<float4>(texture, 1, 1);
}

__global__ void transpose(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  float value;
  surf2Dread(&value, from, threadIdx.x * sizeof(float), threadIdx.y);
  surf2Dwrite(value + 1, to, threadIdx.y * sizeof(float), threadIdx.x);
}

__global__ void store_halves(cudaSurfaceObject_t to) {
  surf1Dwrite(__half_as_short(__float2half(threadIdx.x / 4.0f)), to, threadIdx.x * 2);
}

cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

template <typename T>
T* device_copy(const std::vector<T>& values) {
  T* device;
  EXPECT(cudaMalloc(&device, values.size() * sizeof(T)) == cudaSuccess);
  EXPECT(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) ==
         cudaSuccess);
  return device;
}

template <typename T>
std::vector<T> read(const T* device, size_t count) {
  std::vector<T> values(count);
  EXPECT(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost) ==
         cudaSuccess);
  return values;
}

void check_linear(float* out) {
  float* const memory = device_copy(std::vector<float>{1, 2, 3});
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 3 * sizeof(float);
  cudaTextureDesc sampling{};
  cudaTextureObject_t texture = 0;
  EXPECT(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr) == cudaSuccess);
  fetch<<<1, 32>>>(texture, out, 5);
  EXPECT(read(out, 5) == (std::vector<float>{0, 1, 2, 3, 0}));
  cudaResourceDesc known{};
  EXPECT(cudaGetTextureObjectResourceDesc(&known, texture) == cudaSuccess);
  EXPECT(known.resType == cudaResourceTypeLinear && known.res.linear.devPtr == memory);
  EXPECT(known.res.linear.desc.x == 32 && known.res.linear.desc.y == 0);
  EXPECT(cudaDestroyTextureObject(texture) == cudaSuccess);
  EXPECT(cudaDestroyTextureObject(texture) == cudaErrorInvalidValue);
  EXPECT(cudaGetTextureObjectResourceDesc(&known, texture) == cudaErrorInvalidValue);
  EXPECT(cudaFree(memory) == cudaSuccess);
}

void check_pitched(float* out) {
  void* memory;
  size_t pitch;
  EXPECT(cudaMallocPitch(&memory, &pitch, 3 * sizeof(float), 2) == cudaSuccess);
  const float rows[2][3] = {{0, 2, 4}, {8, 10, 12}};
  EXPECT(cudaMemcpy2D(memory, pitch, rows, sizeof rows[0], sizeof rows[0], 2,
                      cudaMemcpyHostToDevice) == cudaSuccess);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = memory;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  resource.res.pitch2D.width = 3;
  resource.res.pitch2D.height = 2;
  resource.res.pitch2D.pitchInBytes = pitch;
  cudaTextureDesc sampling{};
  sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
  sampling.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture = 0;
  EXPECT(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr) == cudaSuccess);
  sample<<<1, dim3(3, 2)>>>(texture, out, 1);
  EXPECT(read(out, 6) == (std::vector<float>{0, 1, 3, 4, 5, 7}));
  cudaTextureDesc known{};
  EXPECT(cudaGetTextureObjectTextureDesc(&known, texture) == cudaSuccess);
  EXPECT(known.filterMode == cudaFilterModeLinear && known.addressMode[1] == cudaAddressModeClamp);
  EXPECT(known.readMode == cudaReadModeElementType && known.normalizedCoords == 0);
  EXPECT(cudaDestroyTextureObject(texture) == cudaSuccess);
  EXPECT(cudaFree(memory) == cudaSuccess);
}

void check_arrays(float* out) {
  const cudaChannelFormatDesc pixel = cudaCreateChannelDesc<uchar4>();
  cudaArray_t pixels;
  EXPECT(cudaMallocArray(&pixels, &pixel, 2, 1) == cudaSuccess);
  const uchar4 values[2] = {{0, 255, 51, 102}, {255, 0, 0, 204}};
  EXPECT(cudaMemcpy2DToArray(pixels, 0, 0, values, sizeof values, sizeof values, 1,
                             cudaMemcpyHostToDevice) == cudaSuccess);
  cudaResourceDesc resource = of_array(pixels);
  cudaTextureDesc sampling{};
  sampling.readMode = cudaReadModeNormalizedFloat;
  cudaTextureObject_t texture = 0;
  EXPECT(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr) == cudaSuccess);
  sample_pixels<<<1, 2>>>(texture, reinterpret_cast<float4*>(out));
  EXPECT(read(out, 8) ==
         (std::vector<float>{0, 1, 51 / 255.0f, 102 / 255.0f, 1, 0, 0, 204 / 255.0f}));
  EXPECT(cudaDestroyTextureObject(texture) == cudaSuccess);
  EXPECT(cudaFreeArray(pixels) == cudaSuccess);

  const cudaChannelFormatDesc number = cudaCreateChannelDesc<float>();
  cudaArray_t volume;
  EXPECT(cudaMalloc3DArray(&volume, &number, make_cudaExtent(2, 2, 2)) == cudaSuccess);
  std::vector<float> cells{0, 1, 2, 3, 4, 5, 6, 7};
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(cells.data(), 2 * sizeof(float), 2, 2);
  copy.dstArray = volume;
  copy.extent = make_cudaExtent(2, 2, 2);
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT(cudaMemcpy3D(&copy) == cudaSuccess);
  resource = of_array(volume);
  sampling = {};
  EXPECT(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr) == cudaSuccess);
  sample_volume<<<1, 8>>>(texture, out);
  EXPECT(read(out, 8) == cells);
  EXPECT(cudaDestroyTextureObject(texture) == cudaSuccess);
  EXPECT(cudaFreeArray(volume) == cudaSuccess);
}

void check_layers(int* out) {
  const cudaChannelFormatDesc number = cudaCreateChannelDesc<short>();
  cudaArray_t layers;
  EXPECT(cudaMalloc3DArray(&layers, &number, make_cudaExtent(2, 1, 3), cudaArrayLayered) ==
         cudaSuccess);
  std::vector<short> cells{1, -1, 2, -2, 3, -3};
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(cells.data(), 2 * sizeof(short), 2, 1);
  copy.dstArray = layers;
  copy.extent = make_cudaExtent(2, 1, 3);
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT(cudaMemcpy3D(&copy) == cudaSuccess);
  const cudaResourceDesc resource = of_array(layers);
  cudaTextureDesc sampling{};
  cudaTextureObject_t texture = 0;
  EXPECT(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr) == cudaSuccess);
  sample_layers<<<1, 3>>>(texture, out);
  EXPECT(read(out, 3) == (std::vector<int>{-1, -2, -3}));
  EXPECT(cudaDestroyTextureObject(texture) == cudaSuccess);
  EXPECT(cudaFreeArray(layers) == cudaSuccess);
}

void check_surfaces(float* out) {
  const cudaChannelFormatDesc number = cudaCreateChannelDesc<float>();
  cudaArray_t from, to, plain;
  EXPECT(cudaMallocArray(&from, &number, 2, 2, cudaArraySurfaceLoadStore) == cudaSuccess);
  EXPECT(cudaMallocArray(&to, &number, 2, 2, cudaArraySurfaceLoadStore) == cudaSuccess);
  EXPECT(cudaMallocArray(&plain, &number, 2, 2) == cudaSuccess);
  const float cells[4] = {1, 2, 3, 4};
  EXPECT(cudaMemcpy2DToArray(from, 0, 0, cells, 8, 8, 2, cudaMemcpyHostToDevice) == cudaSuccess);
  cudaResourceDesc resource = of_array(from);
  cudaSurfaceObject_t surface = 0, result = 0, refused = 0;
  EXPECT(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
  resource = of_array(plain);
  EXPECT(cudaCreateSurfaceObject(&refused, &resource) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  resource = of_array(to);
  EXPECT(cudaCreateSurfaceObject(&result, &resource) == cudaSuccess);
  transpose<<<1, dim3(2, 2)>>>(surface, result);
  float back[4];
  EXPECT(cudaMemcpy2DFromArray(back, 8, to, 0, 0, 8, 2, cudaMemcpyDeviceToHost) == cudaSuccess);
  const float expected[4] = {2, 4, 3, 5};
  EXPECT(std::memcmp(back, expected, sizeof back) == 0);
  cudaResourceDesc known{};
  EXPECT(cudaGetSurfaceObjectResourceDesc(&known, result) == cudaSuccess);
  EXPECT(known.resType == cudaResourceTypeArray && known.res.array.array == to);
  cudaTextureDesc sampling{};
  sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture = 0;
  EXPECT(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr) == cudaSuccess);
  gather<<<1, 1>>>(texture, reinterpret_cast<float4*>(out));
  EXPECT(read(out, 4) == (std::vector<float>{3, 5, 4, 2}));
  EXPECT(cudaDestroySurfaceObject(texture) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT(cudaDestroyTextureObject(texture) == cudaSuccess);
  EXPECT(cudaDestroySurfaceObject(surface) == cudaSuccess);
  EXPECT(cudaDestroySurfaceObject(result) == cudaSuccess);
}

void check_halves() {
  const cudaChannelFormatDesc half = cudaCreateChannelDescHalf();
  cudaArray_t row;
  EXPECT(cudaMallocArray(&row, &half, 8, 0, cudaArraySurfaceLoadStore) == cudaSuccess);
  cudaResourceDesc resource = of_array(row);
  cudaSurfaceObject_t surface = 0;
  EXPECT(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
  store_halves<<<1, 8>>>(surface);
  __half back[8];
  EXPECT(cudaMemcpy2DFromArray(back, 16, row, 0, 0, 16, 1, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < 8; ++i) {
    EXPECT(__half2float(back[i]) == i / 4.0f);
  }
}

void check_refusals() {
  cudaResourceDesc resource{};
  cudaTextureDesc sampling{};
  cudaTextureObject_t texture = 0;
  resource.resType = cudaResourceTypeMipmappedArray;
  EXPECT(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr) == cudaErrorNotSupported);
  const cudaChannelFormatDesc number = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  EXPECT(cudaMallocArray(&array, &number, 4, 4) == cudaSuccess);
  resource = of_array(array);
  sampling.filterMode = cudaFilterModeLinear;
  EXPECT(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr) ==
         cudaErrorInvalidFilterSetting);
  sampling.filterMode = cudaFilterModePoint;
  sampling.readMode = cudaReadModeNormalizedFloat;
  EXPECT(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr) ==
         cudaErrorInvalidNormSetting);
  sampling.readMode = cudaReadModeElementType;
  sampling.sRGB = 1;
  EXPECT(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr) == cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaErrorNotSupported);
}

}  // namespace

int main() {
  float* out;
  EXPECT(cudaMalloc(&out, 1024) == cudaSuccess);
  check_linear(out);
  check_pitched(out);
  check_arrays(out);
  check_layers(reinterpret_cast<int*>(out));
  check_surfaces(out);
  check_halves();
  check_refusals();
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
}
