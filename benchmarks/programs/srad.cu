// Like Rodinia's srad_v2: speckle is diffused out of an image. Each step reduces the statistics of
// the whole image, computes a coefficient for each pixel, and lets the pixels flow to their
// neighbours, the latter two on shared tiles with an edge. SIZE is the side of the image.
//
// expect: none
#include <algorithm>

#include "benchmark_program.h"

constexpr int kSide = 16;
constexpr int kThreads = 256;
constexpr int kMostBlocks = 512;  // of the reduction
constexpr float kRate = 0.125F;

// The variation of all pixels, of which `sums` are the sum and the sum of squares.
__host__ __device__ inline float variation_of(const double* sums, int count) {
  const double mean = sums[0] / count;
  return static_cast<float>(sums[1] / count / (mean * mean) - 1);
}

// Given the slopes to the four neighbours: 1 where all may flow, 0 at an edge.
__host__ __device__ inline float coefficient_of(float pixel, const float4& slope, float variation) {
  const float squares =
      slope.x * slope.x + slope.y * slope.y + slope.z * slope.z + slope.w * slope.w;
  const float laplacian = (slope.x + slope.y + slope.z + slope.w) / pixel;
  const float scale = 1 + laplacian / 4;
  const float local = (squares / (pixel * pixel) / 2 - laplacian * laplacian / 16) / scale / scale;
  const float flow = 1 / (1 + (local - variation) / (variation * (1 + variation)));
  return flow < 0 ? 0 : flow > 1 ? 1 : flow;
}

__global__ void sum_pixels(const float* image, double* sums, int count) {
  __shared__ double values[kThreads];
  __shared__ double squares[kThreads];
  const int tx = threadIdx.x;
  values[tx] = squares[tx] = 0;
  for (int i = blockIdx.x * kThreads + tx; i < count; i += gridDim.x * kThreads) {
    values[tx] += image[i];
    squares[tx] += static_cast<double>(image[i]) * image[i];
  }
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (tx < half) {
      values[tx] += values[tx + half];
      squares[tx] += squares[tx + half];
    }
    __syncthreads();
  }
  if (tx == 0) {
    atomicAdd(&sums[0], values[0]);
    atomicAdd(&sums[1], squares[0]);
  }
}

// Fills a tile, whose first pixel is (x0, y0). Beyond the image's edge is the edge's own pixel.
template <int kSpan>
__device__ void load(float (&tile)[kSpan][kSpan], const float* image, int x0, int y0, int size) {
  for (int y = threadIdx.y; y < kSpan; y += kSide) {
    for (int x = threadIdx.x; x < kSpan; x += kSide) {
      tile[y][x] = image[clamp(y0 + y, size) * size + clamp(x0 + x, size)];
    }
  }
  __syncthreads();
}

__global__ void find_coefficients(const float* image, const double* sums, float4* slopes,
                                  float* coefficients, int size) {
  __shared__ float tile[kSide + 2][kSide + 2];
  const int x0 = static_cast<int>(blockIdx.x) * kSide - 1;
  const int y0 = static_cast<int>(blockIdx.y) * kSide - 1;
  load(tile, image, x0, y0, size);
  const int tx = threadIdx.x + 1;
  const int ty = threadIdx.y + 1;
  if (x0 + tx < size && y0 + ty < size) {
    const float pixel = tile[ty][tx];
    const float4 slope = {tile[ty - 1][tx] - pixel, tile[ty + 1][tx] - pixel,
                          tile[ty][tx - 1] - pixel, tile[ty][tx + 1] - pixel};
    const int at = (y0 + ty) * size + x0 + tx;
    slopes[at] = slope;
    coefficients[at] = coefficient_of(pixel, slope, variation_of(sums, size * size));
  }
}

// From above and from the left a pixel's own coefficient counts, else its neighbour's.
__host__ __device__ inline float flow_of(const float4& slope, float own, float below, float right) {
  return kRate * (own * (slope.x + slope.z) + below * slope.y + right * slope.w);
}

__global__ void diffuse(float* image, const float4* slopes, const float* coefficients, int size) {
  __shared__ float tile[kSide + 1][kSide + 1];
  const int x0 = static_cast<int>(blockIdx.x) * kSide;
  const int y0 = static_cast<int>(blockIdx.y) * kSide;
  load(tile, coefficients, x0, y0, size);
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  if (x0 + tx < size && y0 + ty < size) {
    const int at = (y0 + ty) * size + x0 + tx;
    image[at] += flow_of(slopes[at], tile[ty][tx], tile[ty + 1][tx], tile[ty][tx + 1]);
  }
}

// What these places of the image are after a step.
std::vector<float> step_on_host(const std::vector<float>& image,
                                const std::vector<std::size_t>& places, int size) {
  double sums[2] = {};
  for (const float pixel : image) {
    sums[0] += pixel;
    sums[1] += static_cast<double>(pixel) * pixel;
  }
  const float variation = variation_of(sums, size * size);
  const auto at = [&](int y, int x) { return image[clamp(y, size) * size + clamp(x, size)]; };
  const auto slope = [&](int y, int x) {
    const float pixel = at(y, x);
    return float4{at(y - 1, x) - pixel, at(y + 1, x) - pixel, at(y, x - 1) - pixel,
                  at(y, x + 1) - pixel};
  };
  const auto coefficient = [&](int y, int x) {
    return coefficient_of(at(y, x), slope(clamp(y, size), clamp(x, size)), variation);
  };
  std::vector<float> stepped;
  for (const std::size_t place : places) {
    const int x = static_cast<int>(place) % size;
    const int y = static_cast<int>(place) / size;
    stepped.push_back(at(y, x) + flow_of(slope(y, x), coefficient(y, x), coefficient(y + 1, x),
                                         coefficient(y, x + 1)));
  }
  return stepped;
}

int main(int argc, char** argv) {
  const int size = size_argument(argc, argv, 40);
  const int steps = 2 + size / 64;  // the larger, the more, for time on a GPU
  // The CPU repeats all steps of a small image, else the last one in some places.
  const int trusted_steps = size <= 128 ? 0 : steps - 1;
  Random random(45);
  std::vector<float> image(static_cast<std::size_t>(size) * size);
  for (float& pixel : image) {
    pixel = 1 + random.unit();
  }
  const DeviceArray<float> device_image(image);
  const DeviceArray<float4> slopes(image.size());
  const DeviceArray<float> coefficients(image.size());
  const DeviceArray<double> sums(2);
  const int count = size * size;
  const dim3 grid((size + kSide - 1) / kSide, (size + kSide - 1) / kSide);
  for (int step = 0; step < steps; ++step) {
    if (step == trusted_steps) {
      image = device_image.host();
    }
    CUDA_CHECK(cudaMemsetAsync(sums.data(), 0, 2 * sizeof(double)));
    sum_pixels<<<std::min((count + 2 * kThreads - 1) / (2 * kThreads), kMostBlocks), kThreads>>>(
        device_image.data(), sums.data(), count);
    find_coefficients<<<grid, dim3(kSide, kSide)>>>(device_image.data(), sums.data(), slopes.data(),
                                                    coefficients.data(), size);
    diffuse<<<grid, dim3(kSide, kSide)>>>(device_image.data(), slopes.data(), coefficients.data(),
                                          size);
    CUDA_CHECK(cudaGetLastError());
  }

  const std::vector<std::size_t> places = compared_places(image.size(), 20000);
  for (int step = trusted_steps; step < steps - 1; ++step) {
    image = step_on_host(image, places, size);
  }
  expect_close("pixel", values_at(device_image.host(), places), step_on_host(image, places, size),
               1e-5F);
  return result();
}
