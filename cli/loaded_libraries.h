// The libraries that a program is started with, as the system's loader finds them: the program is
// not run for it. Those that it opens itself later (dlopen, Python's modules) are not among them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"

namespace barracuda::cli {

struct LoadedLibrary {
  std::string name;  // as the program asks for it: "libcudart.so.13", or a path
  std::string path;  // empty: it is not found
};

// Errors: the loader has nothing to say of it (another C library's program, say).
Expected<std::vector<LoadedLibrary>> loaded_libraries(const std::string& program);

// From what the loader prints, a line a library: "	libz.so.1 => /lib/libz.so.1 (0x…)", or
// "	/opt/libmine.so (0x…)" of what is needed by its path.
std::vector<LoadedLibrary> parse_loaded_libraries(std::string_view text);

}  // namespace barracuda::cli
