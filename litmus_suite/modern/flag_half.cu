// The flag is half of a word, and polled as such.
// expect: none
// result: x 42 out 42
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    x[0] = 42;
    __threadfence();
    *reinterpret_cast<volatile unsigned short*>(flag) = 1;
  }
  if (THREAD(1, 0)) {
    while (*reinterpret_cast<volatile unsigned short*>(flag) == 0) {
    }
    __threadfence();
    out[0] = x[0];
  }
}

LITMUS(2, 32)
