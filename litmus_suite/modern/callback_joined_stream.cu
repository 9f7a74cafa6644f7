// The function's stream has waited for another's event: the host learns of both.
// expect: none
// weak: never
// result: x 592 out 0
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
  cudaStream_t third;
  cudaEvent_t written;
  if (!succeeded(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking)) ||
      !succeeded(cudaEventCreate(&written))) {
    return 1;
  }
  std::thread other([&] {
    cells.signal.wait();
    write<<<1, 32, 0, cells.streams[1]>>>(cells.x, 3);
  });
  write<<<1, 32, 0, third>>>(cells.x, 1);
  if (!succeeded(cudaEventRecord(written, third)) ||
      !succeeded(cudaStreamWaitEvent(cells.streams[0], written, 0))) {
    return 1;
  }
  write<<<1, 32, 0, cells.streams[0]>>>(cells.x, 2);
  if (!succeeded(cudaLaunchHostFunc(cells.streams[0], &set_signal, &cells.signal))) {
    return 1;
  }
  other.join();
  return finish_callbacks(cells);
}
