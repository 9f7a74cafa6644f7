// Rodinia's Needleman-Wunsch: the score matrix of two sequences, a diagonal of tiles per launch, in
// a tile a diagonal of cells per barrier.
//
// expect: none
#include <algorithm>

#include "benchmark_program.h"

constexpr int kSide = 16;
constexpr int kPenalty = 10;

// Fills the tile (column, row) of `scores`, of which row 0 and column 0 are given.
__device__ void fill_tile(const int* similarity, int* scores, int pitch, int column, int row) {
  __shared__ int tile[kSide + 1][kSide + 1];
  __shared__ int match[kSide][kSide];
  const int tx = threadIdx.x;
  const int corner = row * kSide * pitch + column * kSide;
  if (tx == 0) {
    tile[0][0] = scores[corner];
  }
  for (int y = 0; y < kSide; ++y) {
    match[y][tx] = similarity[corner + (y + 1) * pitch + tx + 1];
  }
  tile[tx + 1][0] = scores[corner + (tx + 1) * pitch];
  tile[0][tx + 1] = scores[corner + tx + 1];
  __syncthreads();
  for (int diagonal = 0; diagonal < 2 * kSide - 1; ++diagonal) {
    const int x = tx + 1;
    const int y = diagonal - tx + 1;
    if (y >= 1 && y <= kSide) {
      tile[y][x] = max(tile[y - 1][x - 1] + match[y - 1][x - 1],
                       max(tile[y][x - 1], tile[y - 1][x]) - kPenalty);
    }
    __syncthreads();
  }
  for (int y = 0; y < kSide; ++y) {
    scores[corner + (y + 1) * pitch + tx + 1] = tile[y + 1][tx + 1];
  }
}

__global__ void upper_left(const int* similarity, int* scores, int pitch, int diagonal) {
  fill_tile(similarity, scores, pitch, blockIdx.x, diagonal - 1 - blockIdx.x);
}

__global__ void lower_right(const int* similarity, int* scores, int pitch, int diagonal,
                            int tiles) {
  const int column = blockIdx.x + tiles - diagonal;
  fill_tile(similarity, scores, pitch, column, 2 * tiles - 1 - diagonal - column);
}

int main(int argc, char** argv) {
  const int tiles = size_argument(argc, argv, 8);
  const int pitch = tiles * kSide + 1;
  Random random(27);
  std::vector<int> similarity(static_cast<std::size_t>(pitch) * pitch);
  std::vector<int> scores(similarity.size());
  for (int& value : similarity) {
    value = random.below(24) - 8;
  }
  for (int i = 0; i < pitch; ++i) {
    scores[i] = -i * kPenalty;
    scores[i * pitch] = -i * kPenalty;
  }
  const DeviceArray<int> device_similarity(similarity);
  const DeviceArray<int> device_scores(scores);
  for (int diagonal = 1; diagonal <= tiles; ++diagonal) {
    upper_left<<<diagonal, kSide>>>(device_similarity.data(), device_scores.data(), pitch,
                                    diagonal);
  }
  for (int diagonal = tiles - 1; diagonal >= 1; --diagonal) {
    lower_right<<<diagonal, kSide>>>(device_similarity.data(), device_scores.data(), pitch,
                                     diagonal, tiles);
  }
  CUDA_CHECK(cudaGetLastError());
  for (int y = 1; y < pitch; ++y) {
    for (int x = 1; x < pitch; ++x) {
      const int at = y * pitch + x;
      scores[at] = std::max(scores[at - pitch - 1] + similarity[at],
                            std::max(scores[at - 1], scores[at - pitch]) - kPenalty);
    }
  }
  expect_equal("score", device_scores.host(), scores);
  return result();
}
