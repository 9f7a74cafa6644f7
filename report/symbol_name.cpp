#include "report/symbol_name.h"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <string_view>

namespace barracuda::report {

namespace {

// "[abi:cxx11]": of the C++ ABI, not of the program's names. Some compilers (numba) put a hash of
// their options there.
std::string without_abi_tags(std::string name) {
  constexpr std::string_view kTag = "[abi:";
  for (std::size_t begin = name.find(kTag); begin != std::string::npos;
       begin = name.find(kTag, begin)) {
    const std::size_t end = name.find(']', begin);
    name.erase(begin, end == std::string::npos ? end : end + 1 - begin);
  }
  return name;
}

}  // namespace

std::string demangle(const std::string& name) {
  if (!name.starts_with("_Z")) {
    return name;
  }
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? without_abi_tags(text.get()) : name;
}

std::string without_parameters(const std::string& name) {
  if (!name.ends_with(")")) {
    return name;
  }
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') {
      ++depth;
    } else if (name[i] == '(' && --depth == 0) {
      return i == 0 ? name : name.substr(0, i);
    }
  }
  return name;
}

}  // namespace barracuda::report
