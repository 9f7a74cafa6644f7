// The second consumer says nothing, and nobody waits for it.
// expect: race intra-block shared
// variable: tiles tiles[] tiles[][]
// weak: never
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#define ARRIVALS 1
#define SAYS_READ(load) (threadIdx.x == 128)
#include "../warpgroup_pipeline.h"
