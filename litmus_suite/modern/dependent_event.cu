// A kernel of another stream that waited for an event, which the first kernel records when its
// dependents may begin, waits for the rest of it as well.
// expect: none
// weak: never
// result: x 2016 out 2016
// flags: -arch=sm_90
#include "../dependents.h"

__global__ void first(Cells cells) {
  cudaTriggerProgrammaticLaunchCompletion();
  cells.x[threadIdx.x] = threadIdx.x;
}

__global__ void second(Cells cells) {
  cudaGridDependencySynchronize();
  cells.out[threadIdx.x] = cells.x[threadIdx.x ^ 32];
}

int main() {
  Cells cells;
  cudaStream_t streams[2];
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticEvent;
  if (!make_cells(cells) ||
      !succeeded(cudaStreamCreateWithFlags(&streams[0], cudaStreamNonBlocking)) ||
      !succeeded(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking)) ||
      !succeeded(cudaEventCreateWithFlags(&attribute.val.programmaticEvent.event,
                                          cudaEventDisableTiming))) {
    return 1;
  }
  if (!launch_with(attribute, first, cells, streams[0]) ||
      !succeeded(cudaStreamWaitEvent(streams[1], attribute.val.programmaticEvent.event))) {
    return 1;
  }
  second<<<1, 64, 0, streams[1]>>>(cells);
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}
