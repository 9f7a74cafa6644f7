// The consumers do not wait for the tile.
// expect: race intra-block shared
// variable: tiles tiles[] tiles[][]
// weak: never
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#define WAIT_FOR_TILE(stage, parity)
#define WAIT_FOR_ROOM(load, stage, parity) \
  MBARRIER_WAIT(&empty[stage], parity)     \
  MBARRIER_WAIT(&full[stage], parity)
#define SAYS_READ(load) (threadIdx.x % 128 == 0 && (load) + kStages < kLoads)
#include "../warpgroup_pipeline.h"
