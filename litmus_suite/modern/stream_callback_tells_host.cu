// A stream callback, of which the same holds as of a function of the host.
// expect: none
// weak: never
// result: x 560 out 0
#include <thread>

#include "../callback_cells.h"

__global__ void write(int* x, int value) {
  x[threadIdx.x] = value + threadIdx.x;
}

int main() {
  CallbackCells cells;
  if (!make_callback_cells(cells)) {
    return 1;
  }
  std::thread other([&] {
    cells.signal.wait();
    write<<<1, 32, 0, cells.streams[1]>>>(cells.x, 2);
  });
  write<<<1, 32, 0, cells.streams[0]>>>(cells.x, 1);
  if (!succeeded(cudaStreamAddCallback(cells.streams[0], &set_signal, &cells.signal, 0))) {
    return 1;
  }
  other.join();
  return finish_callbacks(cells);
}
