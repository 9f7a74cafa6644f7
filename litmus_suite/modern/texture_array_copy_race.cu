// An array is filled by a copy in another stream than that of its reader.
// expect: race kernel-copy global
// expect paper: none
// device: emulated
// flags: -g
// weak: never
#include <tuple>

#include "../image_cells.h"

__global__ void read(cudaTextureObject_t image, int* out) {
  const float x = threadIdx.x % kImage + 0.5f, y = threadIdx.x / kImage + 0.5f;
  out[threadIdx.x] = static_cast<int>(tex2D<float>(image, x, y));  // RACE
}

int main() {
  ImageCells cells;
  if (!make_image_cells(cells)) {
    return 1;
  }
  for (int i = 0; i < kImage * kImage; ++i) {
    cells.pixels[i] = 1;
  }
  constexpr std::size_t kRow = kImage * sizeof(float);
  const cudaMemcpyKind kind = cudaMemcpyHostToDevice;
  const auto [to, from, in] = std::tuple(cells.array, cells.pixels, cells.streams[0]);
  cudaMemcpy2DToArrayAsync(to, 0, 0, from, kRow, kRow, kImage, kind, in);  // RACE
  read<<<1, kImage * kImage, 0, cells.streams[1]>>>(cells.image, cells.out);
  return finish_image(cells);
}
