// NVIDIA's dxtc sample: DXT1 compression, a block of 64 threads per 4x4 tile. The colours are put
// in order along their main axis; each thread tries some of the ways to cut that order into four
// (the two ends and two mixtures of them), and a reduction takes the best. As in the sample, the
// work of one warp is ordered by nothing but its lanes running together.
//
// expect: race intra-warp shared
#include <algorithm>

#include "benchmark_program.h"

constexpr int kThreads = 64;
constexpr int kPixels = 16;

struct Colour {
  float r, g, b;
};

// Where the order of 16 colours is cut: [0, first), [first, second), [second, third), [third, 16).
struct Cut {
  int first, second, third;
};

struct Choice {
  float error;
  int cut;
};

__host__ __device__ inline Colour operator+(Colour a, Colour b) {
  return {a.r + b.r, a.g + b.g, a.b + b.b};
}

__host__ __device__ inline Colour operator-(Colour a, Colour b) {
  return {a.r - b.r, a.g - b.g, a.b - b.b};
}

__host__ __device__ inline Colour operator*(float s, Colour a) {
  return {s * a.r, s * a.g, s * a.b};
}

__host__ __device__ inline float dot(Colour a, Colour b) {
  return a.r * b.r + a.g * b.g + a.b * b.b;
}

// The squared error of the best two end colours for a cut (least squares).
__host__ __device__ inline float error_of(const Colour* colours, Cut cut) {
  float aa = 0;
  float bb = 0;
  float ab = 0;
  float total = 0;
  Colour ax{};
  Colour bx{};
  for (int i = 0; i < kPixels; ++i) {
    const int group = (i >= cut.first) + (i >= cut.second) + (i >= cut.third);
    const float b = static_cast<float>(group) / 3;
    const float a = 1 - b;
    aa += a * a;
    bb += b * b;
    ab += a * b;
    ax = ax + a * colours[i];
    bx = bx + b * colours[i];
    total += dot(colours[i], colours[i]);
  }
  const float determinant = aa * bb - ab * ab;
  if (determinant < 1e-4F) {
    const Colour mean = (1.0F / kPixels) * (ax + bx);
    return total - kPixels * dot(mean, mean);
  }
  const float scale = 1 / determinant;
  const Colour a = scale * (bb * ax - ab * bx);
  const Colour b = scale * (aa * bx - ab * ax);
  return total + aa * dot(a, a) + bb * dot(b, b) + 2 * (ab * dot(a, b) - dot(a, ax) - dot(b, bx));
}

// The direction in which the colours differ most, by power iteration. Three of a warp's sums at a
// time.
__device__ Colour main_axis(const Colour* colours, Colour* products, int lane) {
  Colour axis{1, 1, 1};
  for (int round = 0; round < 6; ++round) {
    products[lane] = dot(colours[lane], axis) * colours[lane];  // RACE
    for (int half = kPixels / 2; half > 0; half /= 2) {
      if (lane < half) {
        products[lane] = products[lane] + products[lane + half];  // RACE
      }
    }
    axis = products[0];  // RACE
    const float largest = fmaxf(fabsf(axis.r), fmaxf(fabsf(axis.g), fabsf(axis.b)));
    axis = largest > 0 ? (1 / largest) * axis : Colour{1, 1, 1};
  }
  return axis;
}

// Puts the tile's colours, less their mean, in order along their main axis.
__device__ void order_colours(const Colour* tile, Colour* ordered, int lane) {
  __shared__ Colour centred[kPixels];
  __shared__ Colour products[kPixels];
  __shared__ float position[kPixels];
  Colour mean{};
  for (int i = 0; i < kPixels; ++i) {
    mean = mean + (1.0F / kPixels) * tile[i];
  }
  centred[lane] = tile[lane] - mean;
  const Colour axis = main_axis(centred, products, lane);
  position[lane] = dot(centred[lane], axis);  // RACE
  int rank = 0;
  for (int i = 0; i < kPixels; ++i) {
    rank += position[i] < position[lane] || (position[i] == position[lane] && i < lane);  // RACE
  }
  ordered[rank] = centred[lane];  // RACE
}

__device__ void keep_better(Choice& mine, Choice other) {
  if (other.error < mine.error || (other.error == mine.error && other.cut < mine.cut)) {
    mine = other;  // RACE
  }
}

__global__ void compress(const Colour* image, const Cut* cuts, int cut_count, Colour* ordered,
                         Choice* choices) {
  __shared__ Colour tile[kPixels];
  __shared__ Colour sorted[kPixels];
  __shared__ Choice best[kThreads];
  const int lane = threadIdx.x;
  if (lane < kPixels) {
    tile[lane] = image[blockIdx.x * kPixels + lane];
  }
  __syncthreads();
  if (lane < kPixels) {
    order_colours(tile, sorted, lane);
  }
  __syncthreads();
  Choice mine{3.4e38F, -1};
  for (int cut = lane; cut < cut_count; cut += kThreads) {
    keep_better(mine, {error_of(sorted, cuts[cut]), cut});
  }
  best[lane] = mine;
  __syncthreads();
  if (lane < 32) {
    for (int half = 32; half > 0; half /= 2) {
      if (lane < half) {
        keep_better(best[lane], best[lane + half]);  // RACE
      }
    }
  }
  __syncthreads();
  if (lane < kPixels) {
    ordered[blockIdx.x * kPixels + lane] = sorted[lane];
  }
  if (lane == 0) {
    choices[blockIdx.x] = best[0];
  }
}

std::vector<Cut> all_cuts() {
  std::vector<Cut> cuts;
  for (int first = 0; first <= kPixels; ++first) {
    for (int second = first; second <= kPixels; ++second) {
      for (int third = second; third <= kPixels; ++third) {
        cuts.push_back({first, second, third});
      }
    }
  }
  return cuts;
}

// The device's order must hold the tile's colours, along an axis that explains nearly all that a
// good axis explains; its choice must be the best of all cuts of that order.
void check_tile(const Colour* tile, const Colour* ordered, const std::vector<Cut>& cuts,
                Choice choice) {
  Colour mean{};
  for (int i = 0; i < kPixels; ++i) {
    mean = mean + (1.0F / kPixels) * tile[i];
  }
  std::vector<float> reds;
  std::vector<float> ordered_reds;
  for (int i = 0; i < kPixels; ++i) {
    reds.push_back(tile[i].r - mean.r);
    ordered_reds.push_back(ordered[i].r);
  }
  std::sort(reds.begin(), reds.end());
  std::sort(ordered_reds.begin(), ordered_reds.end());
  expect_close("colour", ordered_reds, reds, 1e-4F);
  float least = 3.4e38F;
  for (const Cut& cut : cuts) {
    least = std::min(least, error_of(ordered, cut));
  }
  expect_close("error", {choice.error}, {least}, 1e-3F);
}

int main(int argc, char** argv) {
  const int tiles = size_argument(argc, argv, 8);
  Random random(35);
  std::vector<Colour> image;
  for (int tile = 0; tile < tiles; ++tile) {
    const Colour from{random.unit(), random.unit(), random.unit()};
    const Colour to{random.unit(), random.unit(), random.unit()};
    for (int i = 0; i < kPixels; ++i) {
      const Colour noise{random.unit(), random.unit(), random.unit()};
      image.push_back(from + random.unit() * (to - from) + 0.1F * noise);
    }
  }
  const std::vector<Cut> cuts = all_cuts();
  const DeviceArray<Colour> device_image(image);
  const DeviceArray<Cut> device_cuts(cuts);
  const DeviceArray<Colour> ordered(image.size());
  const DeviceArray<Choice> choices(static_cast<std::size_t>(tiles));
  compress<<<tiles, kThreads>>>(device_image.data(), device_cuts.data(),
                                static_cast<int>(cuts.size()), ordered.data(), choices.data());
  CUDA_CHECK(cudaGetLastError());
  const std::vector<Colour> device_order = ordered.host();
  const std::vector<Choice> chosen = choices.host();
  for (int tile = 0; tile < tiles; ++tile) {
    check_tile(&image[tile * kPixels], &device_order[tile * kPixels], cuts, chosen[tile]);
  }
  return result();
}
