// Litmus tests for the commands: read, explored under a memory model, printed. The face of
// memory_model/, which is a library of its own.
#pragma once

// IWYU pragma: begin_exports
#include "weak_memory/memory_model/comparison.h"
#include "weak_memory/memory_model/graph_text.h"
#include "weak_memory/memory_model/kernel_reader.h"
#include "weak_memory/memory_model/litmus_reader.h"
#include "weak_memory/memory_model/litmus_text.h"
#include "weak_memory/memory_model/models.h"
#include "weak_memory/memory_model/ptx_axioms.h"
#include "weak_memory/memory_model/verdict.h"
// IWYU pragma: end_exports
