// A stage is called read when its keys are; its values are multiplied later.
// expect: race intra-block shared
// variable: stages stages[] stages[][]
// weak: fails
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#define FREES_EARLY true
#include "../attention.h"
