// Inside ptxas: compilers of kernels (Triton, Inductor, XLA, nvcc) run it as a child, and the
// library is loaded there as well. When it has ended well, the PTX that it read is kept under the
// digest of the machine code that it wrote (origin_files.h), so that whoever loads that code finds
// its PTX. Output and exit status of the child are its own in every case.
#pragma once

namespace barracuda::preload {

// Before main. Does nothing in any other program.
void watch_assembler(int count, char** arguments);

}  // namespace barracuda::preload
