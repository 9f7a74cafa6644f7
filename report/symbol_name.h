// Mangled C++ names as people write them.
#pragma once

#include <string>
#include <string_view>

namespace barracuda::report {

// "_Z3addPi" → "add(int*)"; what is not a mangled name comes back as it is.
std::string demangle(const std::string& name);

// The name without its parameter list: "ns::add<int>(int*)" → "ns::add<int>".
std::string without_parameters(const std::string& name);

// The name without what the function returns: "void ns::add<int>(int*)" → "ns::add<int>(int*)".
std::string without_return_type(const std::string& name);

// What the instances of a template have in common, and the same in every build: no arguments of
// templates, and then no parameters either, no return type, no names that a compiler makes up for
// internal linkage. "void ns::add<int>(int*)" → "ns::add"; what is no template keeps its
// parameters.
std::string template_name(const std::string& name);

// The name with the arguments of its templates cut short, if it is long: of those for which there
// is no room "…" remains, and what the standard library adds by default is left out. A name of
// numba's becomes Python's own, however long it is.
std::string simple_name(const std::string& name);

// A variable's own name, without the namespaces or the function that it is in:
// "_ZZ3addPiE4tile" → "tile".
std::string variable_name(const std::string& name);

// "_$_0" of "_ZZ3addPiE4tile_$_0": nvcc makes variables of the elements of a small array. Empty if
// there is none.
inline constexpr std::string_view kPartMark = "_$_";
std::string_view part_of_variable(std::string_view name);

// The function's own name alone: "void ns::add<int>(int*)" → "add".
std::string last_name(const std::string& name);

}  // namespace barracuda::report
