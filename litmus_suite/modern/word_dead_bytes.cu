// Two bytes of a word are read by one load; another block writes one between them.
// expect: none
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    const unsigned word = reinterpret_cast<unsigned*>(x)[0];
    out[0] = (word & 0xFF) + (word >> 16 & 0xFF);
  }
  if (THREAD(1, 0)) {
    reinterpret_cast<char*>(x)[1] = 1;
    reinterpret_cast<char*>(x)[3] = 1;
  }
}

LITMUS(2, 32)
