// A thread reads back what it stored, in pieces of other sizes than it was stored in.
// expect: none
// weak: never
// result: x 9280 out 128
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  volatile int* words = x + 2 * thread;
  volatile short* halves = reinterpret_cast<volatile short*>(words);
  volatile long long* both = reinterpret_cast<volatile long long*>(words);
  words[0] = 7;
  words[1] = thread;
  const bool is_both = *both == (static_cast<long long>(thread) << 32 | 7);
  halves[1] = 0;
  halves[0] = 9;
  out[thread] = is_both && words[0] == 9 && words[1] == thread;
}

LITMUS(2, 64)
