#include "base/file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/assert.h"
#include "base/size_limit_signal.h"

namespace barracuda {
namespace {

// A file descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) noexcept
      : number_(above_standard_streams(::open(path.c_str(), flags | O_CLOEXEC, 0666))) {}

  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  ~Descriptor() {
    if (is_open()) {
      ::close(number_);
    }
  }

  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }

  [[nodiscard]] int number() const noexcept { return number_; }

  // Some file systems report a full disk only here.
  [[nodiscard]] bool close() noexcept { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

tl::unexpected<Diagnostic> failure(const char* verb, const std::string& path, int error) {
  return unexpected(
      {.message = std::string("cannot ") + verb + ": " + std::strerror(error), .file = path});
}

tl::unexpected<Diagnostic> short_write(const std::string& path, int error, std::size_t written,
                                       std::size_t wanted) {
  return unexpected({.message = std::string("cannot write: ") + std::strerror(error) + " (" +
                                std::to_string(written) + " of " + std::to_string(wanted) +
                                " bytes were written; the file is incomplete)",
                     .file = path});
}

Expected<void> write_all(int file, const std::string& path, std::string_view text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(file, text.data() + written, text.size() - written);
    if (count >= 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      return short_write(path, errno, written, text.size());
    }
  }
  return {};
}

}  // namespace

Expected<AppendedFile> AppendedFile::open(const std::string& path, Begin begin,
                                          unsigned permissions) {
  const int how = begin == Begin::kEmpty ? O_TRUNC : begin == Begin::kNew ? O_EXCL : 0;
  const int number =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | how, permissions);
  if (number < 0) {
    return failure("open for writing", path, errno);
  }
  return AppendedFile(path, number);
}

Expected<void> AppendedFile::open_again() {
  if (file_.is_still_ours()) {
    return {};
  }
  KeptDescriptor again(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!again.has_same_file(file_)) {
    return unexpected({.message = "the program has closed the tool's file", .file = path_});
  }
  file_ = std::move(again);
  return {};
}

Expected<void> AppendedFile::append(std::string_view text) {
  if (auto opened = open_again(); !opened) {
    return opened;
  }
  const SizeLimitSignalBlocked blocked;
  return write_all(file_.number(), path_, text);
}

Expected<void> AppendedFile::replace(std::string_view text) {
  if (auto opened = open_again(); !opened) {
    return opened;
  }
  if (::ftruncate(file_.number(), 0) != 0) {
    return failure("truncate", path_, errno);
  }
  return append(text);
}

bool can_grow(const std::string& path) noexcept {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? S_ISREG(status.st_mode) : errno == ENOENT;
}

Expected<std::string> read_file(const std::string& path) {
  const Descriptor file(path, O_RDONLY);
  if (!file.is_open()) {
    return failure("open", path, errno);
  }
  std::string text;
  struct stat status{};
  if (::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode)) {
    text.reserve(static_cast<std::size_t>(status.st_size));
  }
  char buffer[64 * 1024];
  for (;;) {
    const ssize_t count = ::read(file.number(), buffer, sizeof buffer);
    if (count > 0) {
      text.append(buffer, static_cast<std::size_t>(count));
    } else if (count == 0) {
      return text;
    } else if (errno != EINTR) {
      return failure("read", path, errno);
    }
  }
}

Expected<void> write_file(const std::string& path, std::string_view text) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.is_open()) {
    return failure("open for writing", path, errno);
  }
  if (auto written = write_all(file.number(), path, text); !written) {
    return written;
  }
  if (!file.close()) {
    return short_write(path, errno, text.size(), text.size());
  }
  return {};
}

Expected<MappedFile> MappedFile::open(const std::string& path) {
  const Descriptor file(path, O_RDONLY);
  if (!file.is_open()) {
    return failure("open", path, errno);
  }
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) {
    return failure("read", path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return unexpected({.message = "is not a regular file", .file = path});
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    return MappedFile({});
  }
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (address == MAP_FAILED) {
    return failure("map", path, errno);
  }
  return MappedFile({static_cast<const std::byte*>(address), size});
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
}

}  // namespace barracuda
