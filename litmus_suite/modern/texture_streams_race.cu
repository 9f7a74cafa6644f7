// A kernel of another stream reads by a texture what a kernel writes.
// expect: race inter-kernel global
// device: emulated
// weak: never
#include "../image_cells.h"

__global__ void fill(int* x) {
  x[threadIdx.x] = threadIdx.x;  // RACE
}

__global__ void turn(cudaTextureObject_t texture, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x);  // RACE
}

int main() {
  ImageCells cells;
  if (!make_image_cells(cells)) {
    return 1;
  }
  fill<<<1, 64, 0, cells.streams[0]>>>(cells.x);
  turn<<<1, 64, 0, cells.streams[1]>>>(cells.linear, cells.out);
  return finish_image(cells);
}
