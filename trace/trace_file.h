// The file that a trace is written to. Blocks are appended whole: after an error, what was there
// before is as it was. Several processes may append to one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/expected.h"
#include "base/kept_descriptor.h"

namespace barracuda::trace {

enum class Ownership : std::uint8_t {
  kAlone,   // the file begins anew; a second process that wants it meanwhile gets an error
  kShared,  // of a file that already begins as a trace, or is empty
};

class TraceFile {
 public:
  static Expected<TraceFile> open(const std::string& path, Ownership ownership);
  Expected<void> append(std::span<const std::byte> block);

 private:
  TraceFile(std::string path, int number, Ownership ownership);

  std::string path_;
  KeptDescriptor file_;
  Ownership ownership_;
};

}  // namespace barracuda::trace
