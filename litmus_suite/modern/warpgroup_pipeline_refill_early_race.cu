// The first tile is loaded anew when it has come, before anybody has said that it is read.
// expect: race intra-block shared
// variable: tiles tiles[] tiles[][]
// weak: never
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#define WAIT_FOR_ROOM(load, stage, parity) \
  MBARRIER_WAIT((load) == kStages ? &full[stage] : &empty[stage], parity)
#include "../warpgroup_pipeline.h"
