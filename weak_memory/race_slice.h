// The face of slice/, which is a library of its own: races of a recorded run as litmus tests.
#pragma once

// IWYU pragma: begin_exports
#include "weak_memory/slice/race_slice.h"
// IWYU pragma: end_exports
