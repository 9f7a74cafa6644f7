// Names of kernels that numba has compiled from Python, as Python has them.
#pragma once

#include <string>
#include <string_view>

namespace barracuda::report {

// Whether a demangled name is numba's: it has a module of Python that no C++ name has, a function
// within a function, or one of numba's arrays among its parameters. A kernel of an imported module
// that takes numbers alone looks like one of C++, and is taken for one.
bool is_numba_name(std::string_view name);

// "__main__::main::_3clocals_3e::add(Array<int, 1, C, mutable, aligned>)" →
// "main.<locals>.add", which is its __qualname__; an imported module's name stays before it.
std::string python_name(const std::string& name);

}  // namespace barracuda::report
