// A texture of memory that its kernel writes need not see that.
// expect: race intra-block global
// expect paper: none
// missing: read-only path
// device: emulated
// weak: never
#include "../image_cells.h"

__global__ void turn(int* x, cudaTextureObject_t texture, int* out) {
  x[threadIdx.x] = threadIdx.x;  // RACE
  __syncthreads();
  out[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x ^ 32);  // RACE
}

int main() {
  ImageCells cells;
  if (!make_image_cells(cells)) {
    return 1;
  }
  turn<<<1, 64>>>(cells.x, cells.linear, cells.out);
  return finish_image(cells);
}
