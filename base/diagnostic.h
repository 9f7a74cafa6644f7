// What went wrong with an input, and where: a message for people, with file, line and column where
// they are known (0 and empty where not). Diagnostics are data; who receives one decides what to
// do.
#pragma once

#include <cstdint>
#include <string>

namespace barracuda {

struct Diagnostic {
  std::string message;
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  // "file:line:column: message", without the parts that are not known.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

}  // namespace barracuda
