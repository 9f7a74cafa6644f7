// Runs a shell command and keeps what it wrote and how it ended.
#pragma once

#include <string>

namespace barracuda {

struct ShellResult {
  int status = 0;
  std::string output, errors;
};

ShellResult shell(const std::string& command);

}  // namespace barracuda
