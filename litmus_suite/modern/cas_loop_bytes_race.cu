// The byte that a compare-and-swap loop of one block sets is cleared by a plain store of another.
// expect: race inter-block global
// weak: never
#include "../litmus.h"

__device__ void set(unsigned char* byte, unsigned value) {
  const size_t address = reinterpret_cast<size_t>(byte);
  unsigned* const word = reinterpret_cast<unsigned*>(address & ~size_t{3});
  const unsigned shift = (address & 3) * 8;
  unsigned seen = *const_cast<volatile unsigned*>(word), expected = 0;  // RACE
  do {
    expected = seen;
    seen = atomicCAS(word, expected, (expected & ~(0xFFU << shift)) | value << shift);  // RACE
  } while (seen != expected);
}

__global__ void litmus(int* x, int* flag, int* out) {
  unsigned char* const bytes = reinterpret_cast<unsigned char*>(x);
  if (THREAD(0, 0)) {
    set(bytes + 3, 9);
  }
  if (THREAD(1, 0)) {
    bytes[3] = 0;  // RACE
    bytes[2] = 1;
  }
}

LITMUS(2, 32)
