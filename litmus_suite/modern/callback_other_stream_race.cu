// The function that tells the host is in another stream than the kernel.
// expect: race inter-kernel global
// weak: never
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
  write<<<1, 32, 0, cells.streams[0]>>>(cells.x, 1);
  if (!succeeded(cudaLaunchHostFunc(cells.streams[1], &set_signal, &cells.signal))) {
    return 1;
  }
  other.join();
  return finish_callbacks(cells);
}
