// A tile is called read when the product before it is.
// expect: race intra-block shared
// variable: tiles tiles[] tiles[][]
// weak: never
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#define PENDING 1
#include "../warpgroup_pipeline.h"
