// A kernel of another stream reads by a texture what a kernel writes, after an event.
// expect: none
// result: x 2016 out 2016
// device: emulated
// weak: never
#include "../image_cells.h"

__global__ void fill(int* x) {
  x[threadIdx.x] = threadIdx.x;
}

__global__ void turn(cudaTextureObject_t texture, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x);
}

int main() {
  ImageCells cells;
  if (!make_image_cells(cells)) {
    return 1;
  }
  fill<<<1, 64, 0, cells.streams[0]>>>(cells.x);
  cudaEventRecord(cells.done, cells.streams[0]);
  cudaStreamWaitEvent(cells.streams[1], cells.done, 0);
  turn<<<1, 64, 0, cells.streams[1]>>>(cells.linear, cells.out);
  return finish_image(cells);
}
