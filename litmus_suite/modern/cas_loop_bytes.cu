// A maximum of a byte by a compare-and-swap loop on its word, written by hand; the byte beside it
// is the first block's.
//
// expect: none
// weak: never
// expect paper: race inter-block global
// result: x 520093696 out 5
#include "../litmus.h"

__device__ void maximum(unsigned char* byte, unsigned value) {
  const size_t address = reinterpret_cast<size_t>(byte);
  unsigned* const word = reinterpret_cast<unsigned*>(address & ~size_t{3});
  const unsigned shift = (address & 3) * 8;
  unsigned seen = *const_cast<volatile unsigned*>(word), expected = 0;  // RACE
  do {
    expected = seen;
    const unsigned old = expected >> shift & 0xFFU;
    const unsigned next = old > value ? old : value;
    seen = atomicCAS(word, expected, (expected & ~(0xFFU << shift)) | next << shift);  // RACE
  } while (seen != expected);
}

__global__ void litmus(int* x, int* flag, int* out) {
  unsigned char* const bytes = reinterpret_cast<unsigned char*>(x);
  if (THREAD(0, 0)) {
    bytes[0] = 5;  // RACE
    out[0] = bytes[0];
    bytes[0] = 0;  // RACE
  }
  maximum(bytes + 3, threadIdx.x);
}

LITMUS(2, 32)
