// Two lanes write bit fields of one word: a store of a byte, and an update of the word.
// expect: race intra-warp global
// missing: as is done for bit fields: each needs a word of its own
#include "../../../litmus_suite/litmus.h"

struct Cell {
  unsigned alive : 1;
  unsigned age : 7;
  unsigned kind : 8;
};

__global__ void litmus(int* x, int* flag, int* out) {
  Cell* const cells = reinterpret_cast<Cell*>(x);
  if (threadIdx.x == 0) {
    cells[blockIdx.x].alive = 1;  // RACE
  } else if (threadIdx.x == 1) {
    cells[blockIdx.x].kind = flag[0];  // RACE
  }
}

LITMUS(1, 32)
