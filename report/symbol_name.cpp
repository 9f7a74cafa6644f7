#include "report/symbol_name.h"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace barracuda::report {

std::string demangle(const std::string& name) {
  if (!name.starts_with("_Z")) {
    return name;
  }
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : name;
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
