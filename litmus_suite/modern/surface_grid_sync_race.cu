// Blocks hand texels over through a surface, with a grid barrier between.
// expect: race inter-block global
// expect paper: none
// missing: nothing within a kernel orders the surface accesses of two blocks
// device: emulated
// weak: never
#include <cooperative_groups.h>

#include "../image_cells.h"

__global__ void turn(cudaSurfaceObject_t surface, int* out) {
  const int i = threadIdx.x;
  surf2Dwrite(1.0f, surface, i * sizeof(float), blockIdx.x);  // RACE
  cooperative_groups::this_grid().sync();
  float value = 0;
  surf2Dread(&value, surface, i * sizeof(float), 1 - blockIdx.x);  // RACE
  out[blockIdx.x * kImage + i] = static_cast<int>(value);
}

int main() {
  ImageCells cells;
  if (!make_image_cells(cells)) {
    return 1;
  }
  void* arguments[] = {&cells.surface, &cells.out};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(turn), 2, kImage, arguments, 0,
                              nullptr);
  return finish_image(cells);
}
