// Rodinia's two-dimensional wavelet transform: the reversible 5/3 lifting of JPEG 2000, a tile at a
// time in shared memory with a border of its neighbours, low and high bands written apart; two
// levels.
//
// expect: none
#include "benchmark_program.h"

constexpr int kTile = 16;
constexpr int kBorder = 4;
constexpr int kSpan = kTile + 2 * kBorder;

// Mirrors an index at both ends of [0, size).
__host__ __device__ inline int mirror(int i, int size) {
  i = i < 0 ? -i : i;
  return i >= size ? 2 * (size - 1) - i : i;
}

// Lifts kSpan samples that lie `stride` apart: odd ones become details, even ones averages.
// `origin` is the position of the first; it is even. The outermost samples are left as they are.
__device__ void lift(int* samples, int stride, int lane) {
  for (int i = 1 + 2 * lane; i + 1 < kSpan; i += 2 * kTile) {
    samples[i * stride] -= (samples[(i - 1) * stride] + samples[(i + 1) * stride]) >> 1;
  }
  __syncthreads();
  for (int i = 2 + 2 * lane; i + 1 < kSpan; i += 2 * kTile) {
    samples[i * stride] += (samples[(i - 1) * stride] + samples[(i + 1) * stride] + 2) >> 2;
  }
  __syncthreads();
}

__global__ void transform(const int* image, int* bands, int size, int pitch) {
  __shared__ int tile[kSpan][kSpan + 1];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int x0 = blockIdx.x * kTile - kBorder;
  const int y0 = blockIdx.y * kTile - kBorder;
  for (int y = ty; y < kSpan; y += kTile) {
    for (int x = tx; x < kSpan; x += kTile) {
      const int from_x = mirror(x0 + x, size);
      const int from_y = mirror(y0 + y, size);
      const bool inside = from_x >= 0 && from_y >= 0;
      tile[y][x] = inside ? image[from_y * pitch + from_x] : 0;
    }
  }
  __syncthreads();
  // Every round lifts kTile rows or columns, all threads take part in the barriers.
  for (int round = 0; round < kSpan; round += kTile) {
    const int column = min(round + ty, kSpan - 1);
    lift(&tile[0][column], kSpan + 1, round + ty < kSpan ? tx : kSpan);
  }
  for (int round = 0; round < kSpan; round += kTile) {
    const int row = min(round + ty, kSpan - 1);
    lift(&tile[row][0], 1, round + ty < kSpan ? tx : kSpan);
  }
  const int x = blockIdx.x * kTile + tx;
  const int y = blockIdx.y * kTile + ty;
  if (x < size && y < size) {
    const int to_x = x / 2 + (x % 2) * (size / 2);
    const int to_y = y / 2 + (y % 2) * (size / 2);
    bands[to_y * pitch + to_x] = tile[ty + kBorder][tx + kBorder];
  }
}

void lift_line(std::vector<int>& line) {
  const int size = static_cast<int>(line.size());
  for (int i = 1; i < size; i += 2) {
    line[i] -= (line[mirror(i - 1, size)] + line[mirror(i + 1, size)]) >> 1;
  }
  for (int i = 0; i < size; i += 2) {
    line[i] += (line[mirror(i - 1, size)] + line[mirror(i + 1, size)] + 2) >> 2;
  }
}

// One level on the upper left `size` squared of an image, columns first.
void transform_on_host(std::vector<int>& image, int size, int pitch) {
  std::vector<int> line(static_cast<std::size_t>(size));
  for (const int direction : {0, 1}) {
    for (int k = 0; k < size; ++k) {
      const auto at = [&](int i) -> int& {
        return direction == 0 ? image[i * pitch + k] : image[k * pitch + i];
      };
      for (int i = 0; i < size; ++i) {
        line[i] = at(i);
      }
      lift_line(line);
      for (int i = 0; i < size; ++i) {
        at(i / 2 + (i % 2) * (size / 2)) = line[i];
      }
    }
  }
}

int main(int argc, char** argv) {
  const int tiles = size_argument(argc, argv, 6);
  const int size = 2 * tiles * kTile;
  Random random(22);
  std::vector<int> image(static_cast<std::size_t>(size) * size);
  for (int& pixel : image) {
    pixel = random.below(256);
  }
  const DeviceArray<int> source(image);
  const DeviceArray<int> bands(image);
  for (const int level : {size, size / 2}) {
    const dim3 grid(level / kTile, level / kTile);
    transform<<<grid, dim3(kTile, kTile)>>>(source.data(), bands.data(), level, size);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(source.data(), bands.data(), image.size() * sizeof(int),
                          cudaMemcpyDeviceToDevice));
    transform_on_host(image, level, size);
  }
  expect_equal("coefficient", bands.host(), image);
  return result();
}
