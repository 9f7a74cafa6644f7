// The file that a trace is written to. Blocks are appended whole: after an error, what was there
// before is as it was. Several processes may append to one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/expected.h"

namespace barracuda::trace {

enum class Ownership : std::uint8_t {
  kAlone,   // the file begins anew; a second process that wants it meanwhile gets an error
  kShared,  // of a file that already begins as a trace, or is empty
};

class TraceFile {
 public:
  static Expected<TraceFile> open(const std::string& path, Ownership ownership);
  ~TraceFile();
  TraceFile(TraceFile&& other) noexcept;
  TraceFile& operator=(TraceFile&&) = delete;
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  Expected<void> append(std::span<const std::byte> block);

 private:
  TraceFile(std::string path, int number, Ownership ownership);

  [[nodiscard]] bool is_still_ours() const;

  std::string path_;
  int number_ = -1;
  Ownership ownership_;
  std::uint64_t device_ = 0, inode_ = 0;
};

}  // namespace barracuda::trace
