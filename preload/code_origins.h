// What machine code was made of: the result of a compiler or linker, in this process or in another
// (assembler_child.h), known again by a digest of its bytes when the program loads it, also in a
// later run (origin_files.h). Thread-safe, and never destroyed.
#pragma once

#include <optional>
#include <string_view>

#include "base/hash.h"
#include "session/program_image.h"

namespace barracuda::preload {

// Also on disk.
void remember_origin(std::string_view code, session::CodeOrigin origin);

// Null for an image that was not remembered. The image is as long as its ELF header says; where
// that much memory cannot be read, the result is null as well.
const session::CodeOrigin* find_origin(const void* cubin);

// Of an ELF file, up to the end of its tables and sections; nothing if the bytes are not one.
std::optional<Hash128> digest_of_code(std::string_view code);

}  // namespace barracuda::preload
