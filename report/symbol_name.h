// Mangled C++ names as people write them.
#pragma once

#include <string>

namespace barracuda::report {

// "_Z3addPi" → "add(int*)"; what is not a mangled name comes back as it is.
std::string demangle(const std::string& name);

// The name without its parameter list: "ns::add<int>(int*)" → "ns::add<int>".
std::string without_parameters(const std::string& name);

}  // namespace barracuda::report
