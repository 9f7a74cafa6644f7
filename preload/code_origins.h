// What the machine code that this process made was made of: a compiler's or linker's result, known
// again by its bytes when the program loads it. Thread-safe, and never destroyed.
#pragma once

#include <string_view>

#include "session/program_image.h"

namespace barracuda::preload {

void remember_origin(std::string_view code, session::CodeOrigin origin);

// Null for an image that was not remembered. Reads no more of the image than its ELF header tells
// of, and its sections where they are those of one that was.
const session::CodeOrigin* find_origin(const void* cubin);

}  // namespace barracuda::preload
