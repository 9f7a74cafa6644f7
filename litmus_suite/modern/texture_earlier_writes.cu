// A texture of memory that an earlier launch has written.
// expect: none
// result: x 2016 out 2016
// device: emulated
// weak: never
#include "../image_cells.h"

__global__ void fill(int* x) {
  x[threadIdx.x] = threadIdx.x;
}

__global__ void turn(cudaTextureObject_t texture, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x ^ 32);
}

int main() {
  ImageCells cells;
  if (!make_image_cells(cells)) {
    return 1;
  }
  fill<<<1, 64>>>(cells.x);
  turn<<<1, 64>>>(cells.linear, cells.out);
  return finish_image(cells);
}
