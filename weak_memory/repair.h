// The face of repair/: the search for a repair, and the repair as edits of the source.
#pragma once

// IWYU pragma: begin_exports
#include "weak_memory/repair/search.h"
#include "weak_memory/repair/source_edit.h"
// IWYU pragma: end_exports
