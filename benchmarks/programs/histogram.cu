// Like NVIDIA's histogram sample: 256 bins of bytes, counted by each block with atomics in shared
// memory; a second kernel merges the blocks' counts. Every round turns the bins by one more. SIZE
// is in KiB.
//
// expect: none
#include <algorithm>

#include "benchmark_program.h"

constexpr int kBins = 256;
constexpr int kThreads = kBins;
constexpr int kColumns = 32;  // bins of a block that merges
constexpr int kParts = 8;     // threads that share the work on a bin
constexpr int kKibibytesOfBlock = 16;
constexpr int kMostBlocks = 1024;

__global__ void count_bytes(const unsigned* words, unsigned* partial, int count, int turn) {
  __shared__ unsigned bins[kBins];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) {
    const unsigned word = words[i];
    for (int shift = 0; shift < 32; shift += 8) {
      atomicAdd(&bins[((word >> shift) + turn) % kBins], 1U);
    }
  }
  __syncthreads();
  partial[blockIdx.x * kBins + threadIdx.x] = bins[threadIdx.x];
}

__global__ void merge_counts(const unsigned* partial, unsigned long long* totals, int blocks) {
  __shared__ unsigned sums[kParts][kColumns];
  const int tx = threadIdx.x;
  const int bin = blockIdx.x * kColumns + tx;
  unsigned sum = 0;
  for (int block = threadIdx.y; block < blocks; block += kParts) {
    sum += partial[block * kBins + bin];
  }
  sums[threadIdx.y][tx] = sum;
  __syncthreads();
  if (threadIdx.y == 0) {
    for (int part = 1; part < kParts; ++part) {
      sum += sums[part][tx];
    }
    totals[bin] += sum;
  }
}

int main(int argc, char** argv) {
  const int size = size_argument(argc, argv, 48);
  const int rounds = 2 + size / 256;  // the larger, the more, for time on a GPU
  Random random(46);
  std::vector<unsigned> words(static_cast<std::size_t>(size) * 256);
  std::vector<unsigned long long> counts(kBins);
  for (unsigned& word : words) {
    word = random.next() & random.next();  // some bytes come often
    for (int shift = 0; shift < 32; shift += 8) {
      ++counts[(word >> shift) % kBins];
    }
  }
  const int blocks = std::min((size + kKibibytesOfBlock - 1) / kKibibytesOfBlock, kMostBlocks);
  const DeviceArray<unsigned> device_words(words);
  const DeviceArray<unsigned> partial(static_cast<std::size_t>(blocks) * kBins);
  const DeviceArray<unsigned long long> totals(kBins);
  for (int round = 0; round < rounds; ++round) {
    count_bytes<<<blocks, kThreads>>>(device_words.data(), partial.data(),
                                      static_cast<int>(words.size()), round);
    merge_counts<<<kBins / kColumns, dim3(kColumns, kParts)>>>(partial.data(), totals.data(),
                                                               blocks);
  }
  CUDA_CHECK(cudaGetLastError());

  std::vector<unsigned long long> expected(kBins);
  for (int round = 0; round < rounds; ++round) {
    for (int byte = 0; byte < kBins; ++byte) {
      expected[(byte + round) % kBins] += counts[byte];
    }
  }
  expect_equal("total", totals.host(), expected);
  return result();
}
