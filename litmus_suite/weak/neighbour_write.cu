// Thesis 5.3: each thread writes its own cell and then its neighbour's, in the belief that a warp
// does the first with all lanes before the second. Which store is last was up to the compiler. A
// fence alone leaves the two stores unordered; __syncwarp() orders them.
//
// expect: none
// weak: never
// variant fence: -DORDER=1
// expect fence: race intra-warp global
// weak fence: never
// variant no_fence: -DORDER=0
// expect no_fence: race intra-warp global
// weak no_fence: fails
// fence no_fence: __syncwarp, acq_rel cta
// behind no_fence: y[i] = x[i] + y[i]
#include "weak.h"

#ifndef ORDER
#  define ORDER 2
#endif

constexpr int kThreads = 64;
constexpr int kMark = 1111;

__global__ void write(const int* x, int* y) {
  const int i = threadIdx.x;
  y[i] = x[i] + y[i];  // RACE
  if (ORDER == 1) {
    __threadfence_block();
  } else if (ORDER == 2) {
    __syncwarp();
  }
  if (i != 63 && i != 31) {
    y[i + 1] = kMark;  // RACE
  }
}

int run_round() {
  std::vector<int> values(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    values[i] = i + 1;
  }
  int* const y = to_device(values);
  write<<<1, kThreads>>>(to_device(values), y);
  finish_kernels();
  const std::vector<int> result = to_host(y, kThreads);
  long long right = 0;
  for (int i = 0; i < kThreads; ++i) {
    right += result[i] == (i % 32 == 0 ? 2 * values[i] : kMark);
  }
  return conclude("cells that are right:", right, kThreads);
}
