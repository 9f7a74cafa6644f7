// Like NVIDIA's matrixMul sample: the product of two matrices, each block a tile of it, tile after
// tile of the factors in shared memory with two barriers each. SIZE is the tiles of a side.
//
// expect: none
#include "benchmark_program.h"

constexpr int kTile = 32;

__global__ void multiply(const float* left, const float* right, float* product, int side) {
  __shared__ float left_tile[kTile][kTile];
  __shared__ float right_tile[kTile][kTile];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int column = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int begin = 0; begin < side; begin += kTile) {
    left_tile[ty][tx] = left[row * side + begin + tx];
    right_tile[ty][tx] = right[(begin + ty) * side + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) {
      sum += left_tile[ty][k] * right_tile[k][tx];
    }
    __syncthreads();
  }
  product[row * side + column] = sum;
}

std::vector<float> random_matrix(std::size_t count, Random& random) {
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(random.below(16) - 8);  // sums stay exact
  }
  return values;
}

int main(int argc, char** argv) {
  const int tiles = size_argument(argc, argv, 3);
  const int side = tiles * kTile;
  const std::size_t count = static_cast<std::size_t>(side) * side;
  Random random(41);
  const std::vector<float> left = random_matrix(count, random);
  const std::vector<float> right = random_matrix(count, random);
  const DeviceArray<float> device_left(left);
  const DeviceArray<float> device_right(right);
  const DeviceArray<float> device_product(count);
  multiply<<<dim3(tiles, tiles), dim3(kTile, kTile)>>>(device_left.data(), device_right.data(),
                                                       device_product.data(), side);
  CUDA_CHECK(cudaGetLastError());

  const std::vector<std::size_t> places = compared_places(count, 9216);
  std::vector<float> expected;
  for (const std::size_t place : places) {
    const float* row = &left[place / side * side];
    const float* column = &right[place % side];
    float sum = 0;
    for (int k = 0; k < side; ++k) {
      sum += row[k] * column[static_cast<std::size_t>(k) * side];
    }
    expected.push_back(sum);
  }
  expect_equal("product", values_at(device_product.host(), places), expected);
  return result();
}
