// Memory of the device's heap that one thread has freed comes back to another, which nothing else
// orders after it: malloc gives new memory, whoever used the bytes before.
// expect: none
// weak: never
// result: x 0 out 1
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  for (int round = 0; round < 2; ++round) {
    int* const own = static_cast<int*>(malloc(2 * sizeof(int)));
    if (own == nullptr) {
      return;
    }
    own[0] = threadIdx.x;
    own[1] = round;
    if (THREAD(1, 0)) {
      out[0] = own[1];
    }
    free(own);
  }
}

LITMUS(2, 64)
