// Each thread overwrites the texel that it has read, and nobody else reads it.
// expect: none
// result: x 0 out 0
// device: emulated
// weak: never
#include "../image_cells.h"

__global__ void blur(cudaTextureObject_t image, cudaSurfaceObject_t surface) {
  const int x = threadIdx.x % kImage, y = threadIdx.x / kImage;
  const float value = tex2D<float>(image, x + 0.5f, y + 0.5f);
  surf2Dwrite(value, surface, x * sizeof(float), y);
}

int main() {
  ImageCells cells;
  if (!make_image_cells(cells, cudaFilterModePoint)) {
    return 1;
  }
  blur<<<1, kImage * kImage>>>(cells.image, cells.surface);
  return finish_image(cells);
}
