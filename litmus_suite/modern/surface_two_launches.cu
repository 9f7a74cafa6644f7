// Blocks hand texels over through a surface, from one launch to the next.
// expect: none
// result: x 0 out 16
// device: emulated
// weak: never
#include "../image_cells.h"

__global__ void fill(cudaSurfaceObject_t surface) {
  surf2Dwrite(1.0f, surface, threadIdx.x * sizeof(float), blockIdx.x);
}

__global__ void turn(cudaSurfaceObject_t surface, int* out) {
  float value = 0;
  surf2Dread(&value, surface, threadIdx.x * sizeof(float), 1 - blockIdx.x);
  out[blockIdx.x * kImage + threadIdx.x] = static_cast<int>(value);
}

int main() {
  ImageCells cells;
  if (!make_image_cells(cells)) {
    return 1;
  }
  fill<<<2, kImage>>>(cells.surface);
  turn<<<2, kImage>>>(cells.surface, cells.out);
  return finish_image(cells);
}
