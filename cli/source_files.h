// The source files of a program that `fix` changes: as they are read, and as `--write` replaces
// them.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "weak_memory/repair.h"

namespace barracuda::cli {

// Errors: it is not the user's, cannot be read, or its last line has no end, which the change would
// have to keep.
Expected<weak_memory::SourceLines> read_source(const std::string& file);

// All files or none, each at once: who reads one meanwhile finds the old or the new text. Links are
// followed, and permissions stay. Errors: one of the files must not or cannot be replaced; none of
// them is changed then, unless the system refuses to rename what it has let us write.
Expected<void> replace_sources(const weak_memory::SourceChanges& changes);

// Those of the files that were changed after the device code in the program, or in what it is
// linked with, was built: the compiled text may be another one. None if that is not known (a
// script).
std::vector<std::string> newer_than_program(const weak_memory::SourceChanges& changes,
                                            const std::string& program);

}  // namespace barracuda::cli
