// A stream callback that comes before the kernel in the stream.
// expect: race inter-kernel global
// weak: fails
#include <thread>

#include "../callback_cells.h"

__global__ void write(int* x, int value) {
  x[threadIdx.x] = value + threadIdx.x;  // RACE
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
  if (!succeeded(cudaStreamAddCallback(cells.streams[0], &set_signal, &cells.signal, 0))) {
    return 1;
  }
  write<<<1, 32, 0, cells.streams[0]>>>(cells.x, 1);
  other.join();
  return finish_callbacks(cells);
}
