// A block hands texels over through a surface, with a barrier between.
// expect: none
// result: x 0 out 2016
// device: emulated
// weak: never
#include "../image_cells.h"

__global__ void turn(cudaSurfaceObject_t surface, int* out) {
  const int i = threadIdx.x, other = i ^ 32;
  surf2Dwrite(static_cast<float>(i), surface, i % kImage * sizeof(float), i / kImage);
  __syncthreads();
  float value = 0;
  surf2Dread(&value, surface, other % kImage * sizeof(float), other / kImage);
  out[i] = static_cast<int>(value);
}

int main() {
  ImageCells cells;
  if (!make_image_cells(cells)) {
    return 1;
  }
  turn<<<1, kImage * kImage>>>(cells.surface, cells.out);
  return finish_image(cells);
}
