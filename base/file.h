// Whole files in and out. Every failure says which file, what was tried and why; a full disk is an
// error of the write, never a file that is silently short.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/expected.h"

namespace barracuda {

Expected<std::string> read_file(const std::string& path);

// Replaces what the file held. After an error the file may hold a part of the text.
Expected<void> write_file(const std::string& path, std::string_view text);

// A regular file mapped for reading. The bytes live as long as the object.
class MappedFile {
 public:
  static Expected<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

}  // namespace barracuda
