// Like NVIDIA's mergeSort sample: a stable sort of keys with their values. Tiles are sorted in
// shared memory, then runs are merged by twos: a block finds by bisection which parts of two runs
// make its tile, and each pair finds its rank in the part of the other run. SIZE is the keys.
//
// expect: none
#include "benchmark_program.h"

constexpr int kTile = 1024;  // keys of a tile, and threads of a block

// How many of the ascending keys stand before `key`, or with `equal_too` may not stand after it.
__device__ int rank_among(unsigned key, const unsigned* keys, int count, bool equal_too) {
  int low = 0;
  int high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (keys[middle] < key || (equal_too && keys[middle] == key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

__global__ void sort_tiles(unsigned* keys, unsigned* values, int count) {
  __shared__ unsigned tile[kTile];
  __shared__ unsigned tile_values[kTile];
  const int i = threadIdx.x;
  const int at = blockIdx.x * kTile + i;
  const int size = min(kTile, count - static_cast<int>(blockIdx.x) * kTile);
  if (i < size) {
    tile[i] = keys[at];
    tile_values[i] = values[at];
  }
  __syncthreads();
  for (int run = 1; run < kTile; run *= 2) {
    const int start = i / (2 * run) * (2 * run);
    const bool is_second = (i & run) != 0;
    const int other = is_second ? start : start + run;
    const int other_size = max(0, min(run, size - other));
    unsigned key = 0;
    unsigned value = 0;
    int place = 0;
    if (i < size) {
      key = tile[i];
      value = tile_values[i];
      place = start + i % run + rank_among(key, tile + other, other_size, is_second);
    }
    __syncthreads();
    if (i < size) {
      tile[place] = key;
      tile_values[place] = value;
    }
    __syncthreads();
  }
  if (i < size) {
    keys[at] = tile[i];
    values[at] = tile_values[i];
  }
}

// How many of the first `merged` keys of two runs come from the left one, which goes first among
// equal keys.
__device__ int taken_from_left(const unsigned* left, int left_size, const unsigned* right,
                               int right_size, int merged) {
  int low = max(0, merged - right_size);
  int high = min(merged, left_size);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (left[middle] <= right[merged - 1 - middle]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

__global__ void merge_runs(const unsigned* keys, const unsigned* values, unsigned* to_keys,
                           unsigned* to_values, int run, int count) {
  __shared__ unsigned tile[kTile];
  __shared__ int taken[2];
  const int i = threadIdx.x;
  const int base = blockIdx.x * kTile;
  const int size = min(kTile, count - base);
  const int start = base / run / 2 * 2 * run;
  const int left_size = min(run, count - start);
  const int right_start = start + left_size;
  const int right_size = min(run, count - right_start);
  if (i < 2) {
    taken[i] = taken_from_left(keys + start, left_size, keys + right_start, right_size,
                               base - start + (i == 0 ? 0 : size));
  }
  __syncthreads();
  const int left_part = taken[1] - taken[0];
  const bool is_left = i < left_part;
  const int from =
      is_left ? start + taken[0] + i : right_start + base - start - taken[0] + i - left_part;
  if (i < size) {
    tile[i] = keys[from];
  }
  __syncthreads();
  if (i < size) {
    const int rank = is_left ? i + rank_among(tile[i], tile + left_part, size - left_part, false)
                             : i - left_part + rank_among(tile[i], tile, left_part, true);
    to_keys[base + rank] = tile[i];
    to_values[base + rank] = values[from];
  }
}

int main(int argc, char** argv) {
  const int count = size_argument(argc, argv, 5000);
  Random random(42);
  std::vector<unsigned> keys(static_cast<std::size_t>(count));
  std::vector<unsigned> places(keys.size());
  for (int i = 0; i < count; ++i) {
    keys[i] = random.next() % count;  // some are equal
    places[i] = i;
  }
  DeviceArray<unsigned> arrays[] = {DeviceArray<unsigned>(keys), DeviceArray<unsigned>(places),
                                    DeviceArray<unsigned>(keys.size()),
                                    DeviceArray<unsigned>(keys.size())};
  int from = 0;
  const int tiles = (count + kTile - 1) / kTile;
  sort_tiles<<<tiles, kTile>>>(arrays[0].data(), arrays[1].data(), count);
  for (int run = kTile; run < count; run *= 2) {
    const int to = 2 - from;
    merge_runs<<<tiles, kTile>>>(arrays[from].data(), arrays[from + 1].data(), arrays[to].data(),
                                 arrays[to + 1].data(), run, count);
    from = to;
  }
  CUDA_CHECK(cudaGetLastError());

  // In a strict order of keys and places no pair can be there twice.
  const std::vector<unsigned> sorted = arrays[from].host();
  places = arrays[from + 1].host();
  int misplaced = 0;
  for (int i = 0; i < count; ++i) {
    const bool is_pair = places[i] < keys.size() && keys[places[i]] == sorted[i];
    const bool is_after = i == 0 || sorted[i - 1] < sorted[i] ||
                          (sorted[i - 1] == sorted[i] && places[i - 1] < places[i]);
    misplaced += is_pair && is_after ? 0 : 1;
  }
  expect_equal("misplaced", misplaced, 0);
  return result();
}
