// Which files of a Python program its author wrote, so that reports name places in these.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace barracuda::report {

// An installed package's file or that of Python's own library, compiled or not.
bool is_of_python_package(std::string_view path);

// The program's own: a file that is there, not a package's, and not in a cache of generated code
// (Inductor's, Triton's). Reads the environment: the caller holds Python's lock.
bool is_own_python_file(const std::string& path);

// The frame to name of a stack that is not empty: its files, innermost first. The program's own
// comes first; then what was typed in, or given with -c; then a file that is not there: a cell of a
// notebook's.
std::size_t own_python_frame(const std::vector<std::string>& files);

}  // namespace barracuda::report
