// The flag is half of the word that is polled: accesses of two sizes do not synchronise.
// expect: race inter-block global
// expect paper: none
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    x[0] = 42;  // RACE
    __threadfence();
    *reinterpret_cast<volatile unsigned short*>(flag) = 1;  // RACE
  }
  if (THREAD(1, 0)) {
    while ((*reinterpret_cast<volatile unsigned*>(flag) & 0xffff) == 0) {  // RACE
    }
    __threadfence();
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 32)
