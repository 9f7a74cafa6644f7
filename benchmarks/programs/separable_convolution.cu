// Like NVIDIA's convolutionSeparable sample: an image filtered along its rows and then along its
// columns, in shared memory with a halo on both sides, the taps in constant memory. The responses
// to a bank of filters, one after another, are added up. SIZE is the side of the image.
//
// expect: none
#include <algorithm>

#include "benchmark_program.h"

constexpr int kRadius = 8;
constexpr int kTaps = 2 * kRadius + 1;
constexpr int kFilters = 16;
constexpr int kWidth = 32;  // threads of a block
constexpr int kHeight = 8;
constexpr int kSpan = 64;  // pixels of a block in the direction of the filter

__constant__ float g_taps[kFilters][kTaps];

__global__ void filter_rows(const float* image, float* to, int size, int filter) {
  __shared__ float tile[kHeight][kSpan + 2 * kRadius];
  const int ty = threadIdx.y;
  const int x0 = static_cast<int>(blockIdx.x) * kSpan;
  const int y = blockIdx.y * kHeight + ty;
  for (int i = threadIdx.x; i < kSpan + 2 * kRadius; i += kWidth) {
    const int x = x0 - kRadius + i;
    tile[ty][i] = x >= 0 && x < size && y < size ? image[y * size + x] : 0;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kSpan; i += kWidth) {
    float sum = 0;
    for (int k = 0; k < kTaps; ++k) {
      sum += g_taps[filter][k] * tile[ty][i + k];
    }
    if (x0 + i < size && y < size) {
      to[y * size + x0 + i] = sum;
    }
  }
}

__global__ void filter_columns(const float* image, float* response, int size, int filter) {
  __shared__ float tile[kSpan + 2 * kRadius][kWidth];
  const int tx = threadIdx.x;
  const int x = blockIdx.x * kWidth + tx;
  const int y0 = static_cast<int>(blockIdx.y) * kSpan;
  for (int i = threadIdx.y; i < kSpan + 2 * kRadius; i += kHeight) {
    const int y = y0 - kRadius + i;
    tile[i][tx] = y >= 0 && y < size && x < size ? image[y * size + x] : 0;
  }
  __syncthreads();
  for (int i = threadIdx.y; i < kSpan; i += kHeight) {
    float sum = 0;
    for (int k = 0; k < kTaps; ++k) {
      sum += g_taps[filter][k] * tile[i + k][tx];
    }
    if (y0 + i < size && x < size) {
      response[(y0 + i) * size + x] += sum;
    }
  }
}

float pixel_on_host(const std::vector<float>& image, const float* taps, int size, int x, int y) {
  float sum = 0;
  for (int i = 0; i < kTaps; ++i) {
    const int row = y - kRadius + i;
    float sum_of_row = 0;
    for (int k = 0; k < kTaps && row >= 0 && row < size; ++k) {
      const int column = x - kRadius + k;
      sum_of_row += column >= 0 && column < size ? taps[k] * image[row * size + column] : 0;
    }
    sum += taps[i] * sum_of_row;
  }
  return sum;
}

int main(int argc, char** argv) {
  const int size = size_argument(argc, argv, 100);
  const int filters = 1 + size / 32;  // the larger, the more, for time on a GPU
  Random random(43);
  std::vector<float> image(static_cast<std::size_t>(size) * size);
  for (float& pixel : image) {
    pixel = static_cast<float>(random.below(16));  // sums stay exact
  }
  float taps[kFilters][kTaps];
  for (auto& filter : taps) {
    for (float& tap : filter) {
      tap = static_cast<float>(random.below(7) - 3);
    }
  }
  CUDA_CHECK(cudaMemcpyToSymbol(g_taps, taps, sizeof taps));
  const DeviceArray<float> device_image(image);
  const DeviceArray<float> by_rows(image.size());
  const DeviceArray<float> device_response(image.size());
  const int spans = (size + kSpan - 1) / kSpan;
  const dim3 threads(kWidth, kHeight);
  for (int filter = 0; filter < filters; ++filter) {
    filter_rows<<<dim3(spans, (size + kHeight - 1) / kHeight), threads>>>(
        device_image.data(), by_rows.data(), size, filter % kFilters);
    filter_columns<<<dim3((size + kWidth - 1) / kWidth, spans), threads>>>(
        by_rows.data(), device_response.data(), size, filter % kFilters);
  }
  CUDA_CHECK(cudaGetLastError());

  const std::vector<std::size_t> places = compared_places(image.size(), 10000);
  std::vector<float> expected;
  for (const std::size_t place : places) {
    float sum = 0;
    for (int filter = 0; filter < std::min(filters, kFilters); ++filter) {
      const int times = (filters - filter + kFilters - 1) / kFilters;
      sum += static_cast<float>(times) * pixel_on_host(image, taps[filter], size,
                                                       static_cast<int>(place % size),
                                                       static_cast<int>(place / size));
    }
    expected.push_back(sum);
  }
  expect_equal("response", values_at(device_response.host(), places), expected);
  return result();
}
