// Where a Python program is while it is in a call of CUDA. Python is found in the process, if it is
// there: nothing is linked with it.
#pragma once

#include <cstdint>

namespace barracuda::session {

// Remembers for this thread the innermost line of Python of the program's own files
// (report/python_file.h), or that it runs no Python. Takes Python's lock, so no lock of ours may be
// held.
void note_python_place();

// What was noted last, as report/script_frame.h's address; 0 for none.
std::uint64_t noted_python_place();

}  // namespace barracuda::session
