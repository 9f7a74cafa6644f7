// Each thread overwrites a texel, and interpolation reads its neighbours as well.
// expect: race intra-block global
// missing: read-only path
// device: emulated
// weak: never
#include "../image_cells.h"

__global__ void blur(cudaTextureObject_t image, cudaSurfaceObject_t surface) {
  const int x = threadIdx.x % kImage, y = threadIdx.x / kImage;
  const float value = tex2D<float>(image, x + 1, y + 1);  // RACE
  surf2Dwrite(value, surface, x * sizeof(float), y);      // RACE
}

int main() {
  ImageCells cells;
  if (!make_image_cells(cells, cudaFilterModeLinear)) {
    return 1;
  }
  blur<<<1, kImage * kImage>>>(cells.image, cells.surface);
  return finish_image(cells);
}
