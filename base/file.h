// Whole files in and out. Every failure says which file, what was tried and why; a full disk is an
// error of the write, never a file that is silently short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/expected.h"
#include "base/kept_descriptor.h"

namespace barracuda {

Expected<std::string> read_file(const std::string& path);

// Replaces what the file held. After an error the file may hold a part of the text.
Expected<void> write_file(const std::string& path, std::string_view text);

// Of a file that was not asked for, whose path is empty, nothing is written.
inline Expected<void> write_if_named(const std::string& path, std::string_view text) {
  return path.empty() ? Expected<void>() : write_file(path, text);
}

// A file that grows while it is kept open: what was appended stays whatever happens to the process.
// Each append is one write, so that a reader sees whole pieces, and moves on if another process
// appends as well. Where the program closes the tool's file, it is opened again.
class AppendedFile {
 public:
  enum class Begin : std::uint8_t { kEmpty, kAsItIs, kNew };  // kNew: an error if it exists

  static Expected<AppendedFile> open(const std::string& path, Begin begin,
                                     unsigned permissions = 0666);

  Expected<void> append(std::string_view text);
  // In place of all that it holds.
  Expected<void> replace(std::string_view text);

 private:
  AppendedFile(std::string path, int number) noexcept : path_(std::move(path)), file_(number) {}

  Expected<void> open_again();

  std::string path_;
  KeptDescriptor file_;
};

// Whether a file of this name can grow: it is a regular one, or there is none.
bool can_grow(const std::string& path) noexcept;

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
