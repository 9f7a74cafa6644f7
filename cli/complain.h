// What a command says when it cannot go on.
#pragma once

#include <cstdio>
#include <string>

namespace barracuda::cli {

inline void complain(const std::string& message) {
  std::fputs(("barracuda: " + message + "\n").c_str(), stderr);
}

}  // namespace barracuda::cli
