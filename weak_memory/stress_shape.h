// The face of stress/litmus_launch.h: what disturbs memory while a test runs.
#pragma once

#include "weak_memory/stress/litmus_launch.h"  // IWYU pragma: export
