// The twin of word_dead_bytes: the other block writes one of the two.
// expect: race inter-block global
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    const unsigned word = reinterpret_cast<unsigned*>(x)[0];  // RACE
    out[0] = (word & 0xFF) + (word >> 16 & 0xFF);
  }
  if (THREAD(1, 0)) {
    reinterpret_cast<char*>(x)[2] = 1;  // RACE
  }
}

LITMUS(2, 32)
