// Rodinia's Gaussian elimination: for each column one kernel computes the multipliers of the rows
// below, another subtracts the multiples; the host substitutes back.
//
// expect: none
#include "benchmark_program.h"

constexpr int kThreads = 64;
constexpr int kSide = 8;

__global__ void multipliers(float* m, const float* a, int size, int column) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size - 1 - column) {
    const int row = column + i + 1;
    m[row * size + column] = a[row * size + column] / a[column * size + column];
  }
}

__global__ void subtract(const float* m, float* a, float* b, int size, int column) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size - 1 - column || y >= size - column) {
    return;
  }
  const int row = x + 1 + column;
  const float multiplier = m[row * size + column];
  a[row * size + column + y] -= multiplier * a[column * size + column + y];
  if (y == 0) {
    b[row] -= multiplier * b[column];
  }
}

int main(int argc, char** argv) {
  const int size = size_argument(argc, argv, 48);
  Random random(23);
  std::vector<float> a(static_cast<std::size_t>(size) * size);
  std::vector<float> expected(static_cast<std::size_t>(size));
  std::vector<float> b(expected.size());
  for (int row = 0; row < size; ++row) {
    expected[row] = random.unit() * 4 - 2;
    for (int column = 0; column < size; ++column) {
      a[row * size + column] = random.unit() + (row == column ? static_cast<float>(size) : 0);
    }
  }
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      b[row] += a[row * size + column] * expected[column];
    }
  }
  const DeviceArray<float> device_a(a);
  const DeviceArray<float> device_b(b);
  const DeviceArray<float> m(a.size());
  const dim3 grid((size + kSide - 1) / kSide, (size + kSide - 1) / kSide);
  for (int column = 0; column < size - 1; ++column) {
    multipliers<<<(size + kThreads - 1) / kThreads, kThreads>>>(m.data(), device_a.data(), size,
                                                                column);
    subtract<<<grid, dim3(kSide, kSide)>>>(m.data(), device_a.data(), device_b.data(), size,
                                           column);
  }
  a = device_a.host();
  b = device_b.host();
  std::vector<float> solution(b.size());
  for (int row = size - 1; row >= 0; --row) {
    float rest = b[row];
    for (int column = row + 1; column < size; ++column) {
      rest -= a[row * size + column] * solution[column];
    }
    solution[row] = rest / a[row * size + row];
  }
  expect_close("x", solution, expected, 1e-4F);
  return result();
}
