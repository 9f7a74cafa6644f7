// Two warpgroups that take turns, as FlashAttention-3 has them.
// expect: none
// expect paper: race intra-block shared
// weak: never
// result: x 8386560 out 3086336
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#include "../attention.h"
