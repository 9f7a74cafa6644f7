// A product as CUTLASS makes it: one thread loads tiles, two warpgroups multiply them.
// expect: none
// expect paper: race intra-block shared
// weak: never
// result: x 17906176 out 2437120
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#include "../warpgroup_pipeline.h"
