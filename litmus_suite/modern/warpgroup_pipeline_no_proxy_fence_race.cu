// The sums are stored without a proxy fence.
// expect: race intra-block shared
// variable: sums[] sums tiles tiles[] tiles[][]
// weak: never
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#define SHOW_SUMS()
#include "../warpgroup_pipeline.h"
