// The weights are not shown to the second product.
// expect: race intra-warp shared
// variable: weights weights[] stages stages[] stages[][]
// expect paper: race intra-block shared
// weak: never
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#define SHOW_WEIGHTS()
#include "../attention.h"
