// Rodinia's hybrid sort: a histogram of the values, kept by each warp with tagged words instead of
// atomics, gives the bounds of equally filled buckets; a bucket sort with atomics; then a merge
// sort in each bucket, a thread per pair of runs. The tagged histogram relies on lanes that lose a
// store seeing it at once.
//
// expect: race intra-warp shared
#include <algorithm>

#include "benchmark_program.h"

constexpr int kThreads = 64;
constexpr int kWarps = kThreads / 32;
constexpr int kBins = 128;
constexpr int kBuckets = 16;
constexpr unsigned int kCountMask = 0x07FFFFFF;

__device__ inline int bin_of(float value) {
  return min(kBins - 1, static_cast<int>(value * kBins));
}

// A word holds a count and, above it, the lane that wrote it last: a lane that does not read its
// own tag back lost against another, and tries again.
__global__ void histogram(const float* values, int count, unsigned int* bins) {
  volatile __shared__ unsigned int tagged[kWarps][kBins];
  const int warp = threadIdx.x / 32;
  const unsigned int tag = threadIdx.x << 27;
  for (int bin = threadIdx.x % 32; bin < kBins; bin += 32) {
    tagged[warp][bin] = 0;
  }
  __syncthreads();
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) {
    const int bin = bin_of(values[i]);
    unsigned int mine;
    do {
      mine = (tagged[warp][bin] & kCountMask) + 1;  // RACE
      mine |= tag;
      tagged[warp][bin] = mine;  // RACE
    } while (tagged[warp][bin] != mine);  // RACE
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += kThreads) {
    unsigned int sum = 0;
    for (int w = 0; w < kWarps; ++w) {
      sum += tagged[w][bin] & kCountMask;
    }
    atomicAdd(&bins[bin], sum);
  }
}

__global__ void count_buckets(const float* values, int count, const float* bounds, int* bucket_of,
                              int* place, int* sizes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) {
    return;
  }
  int low = 0;
  int high = kBuckets - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (values[i] < bounds[middle]) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  bucket_of[i] = low;
  place[i] = atomicAdd(&sizes[low], 1);
}

__global__ void scatter(const float* values, int count, const int* bucket_of, const int* place,
                        const int* starts, float* buckets) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    buckets[starts[bucket_of[i]] + place[i]] = values[i];
  }
}

// A block per bucket; every round halves the number of runs and of working threads.
__global__ void merge_sort(float* buckets, float* scratch, const int* starts) {
  const int begin = starts[blockIdx.x];
  const int size = starts[blockIdx.x + 1] - begin;
  float* from = buckets + begin;
  float* to = scratch + begin;
  for (int run = 1; run < size; run *= 2) {
    for (int left = 2 * run * threadIdx.x; left < size; left += 2 * run * blockDim.x) {
      const int middle = min(left + run, size);
      const int end = min(left + 2 * run, size);
      int a = left;
      int b = middle;
      for (int out = left; out < end; ++out) {
        const bool take_left = b >= end || (a < middle && from[a] <= from[b]);
        to[out] = take_left ? from[a++] : from[b++];
      }
    }
    __syncthreads();
    float* const swapped = from;
    from = to;
    to = swapped;
  }
  if (from != buckets + begin) {
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
      to[i] = from[i];
    }
  }
}

// Where a bucket ends, so that each holds about as many values.
std::vector<float> bounds_of(const std::vector<unsigned int>& bins, int count) {
  std::vector<float> bounds;
  unsigned int seen = 0;
  for (int bin = 0; bin < kBins; ++bin) {
    seen += bins[bin];
    while (bounds.size() < kBuckets - 1 &&
           seen >= (bounds.size() + 1) * static_cast<std::size_t>(count) / kBuckets) {
      bounds.push_back(static_cast<float>(bin + 1) / kBins);
    }
  }
  bounds.resize(kBuckets - 1, 1.0F);
  return bounds;
}

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 2048);
  Random random(33);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    value = random.unit() * random.unit();
  }
  const int blocks = (count + kThreads - 1) / kThreads;
  const DeviceArray<float> device_values(values);
  const DeviceArray<unsigned int> bins(kBins);
  histogram<<<2, kThreads>>>(device_values.data(), count, bins.data());
  CUDA_CHECK(cudaGetLastError());
  const DeviceArray<float> bounds(bounds_of(bins.host(), count));
  const DeviceArray<int> bucket_of(values.size());
  const DeviceArray<int> place(values.size());
  const DeviceArray<int> sizes(kBuckets);
  count_buckets<<<blocks, kThreads>>>(device_values.data(), count, bounds.data(), bucket_of.data(),
                                      place.data(), sizes.data());
  CUDA_CHECK(cudaGetLastError());
  std::vector<int> starts{0};
  for (const int size : sizes.host()) {
    starts.push_back(starts.back() + size);
  }
  const DeviceArray<int> device_starts(starts);
  const DeviceArray<float> buckets(values.size());
  const DeviceArray<float> scratch(values.size());
  scatter<<<blocks, kThreads>>>(device_values.data(), count, bucket_of.data(), place.data(),
                                device_starts.data(), buckets.data());
  merge_sort<<<kBuckets, kThreads>>>(buckets.data(), scratch.data(), device_starts.data());
  CUDA_CHECK(cudaGetLastError());
  std::sort(values.begin(), values.end());
  expect_equal("sorted", buckets.host(), values);
  return result();
}
