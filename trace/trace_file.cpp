#include "trace/trace_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/size_limit_signal.h"

namespace barracuda::trace {
namespace {

// Out of the way of programs that count on small numbers.
constexpr int kLowestNumber = 512;

int move_up(int number) {
  const int moved = fcntl(number, F_DUPFD_CLOEXEC, kLowestNumber);
  if (moved < 0) {
    return number;
  }
  close(number);
  return moved;
}

int write_all(int number, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(number, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return errno;
    }
    bytes = bytes.subspan(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

TraceFile::TraceFile(std::string path, int number, Ownership ownership)
    : path_(std::move(path)), number_(number), ownership_(ownership) {
  struct stat status{};
  if (fstat(number, &status) == 0) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
}

TraceFile::TraceFile(TraceFile&& other) noexcept
    : path_(std::move(other.path_)),
      number_(std::exchange(other.number_, -1)),
      ownership_(other.ownership_),
      device_(other.device_),
      inode_(other.inode_) {}

TraceFile::~TraceFile() {
  if (number_ >= 0 && is_still_ours()) {
    close(number_);
  }
}

Expected<TraceFile> TraceFile::open(const std::string& path, Ownership ownership) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  const int number = ::open(path.c_str(), kFlags, 0666);
  if (number < 0) {
    return unexpected({.message = std::strerror(errno), .file = path});
  }
  TraceFile file(path, move_up(number), ownership);
  if (ownership == Ownership::kShared) {
    return file;
  }
  if (flock(file.number_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return unexpected(
        {.message = "another process writes its trace there; %p in the name gives each its own",
         .file = path});
  }
  // A pipe or device has no length.
  if (ftruncate(file.number_, 0) != 0 && errno != EINVAL) {
    return unexpected({.message = std::strerror(errno), .file = path});
  }
  return file;
}

// A program may close files that are not its own, and get the number again for another.
bool TraceFile::is_still_ours() const {
  struct stat status{};
  return fstat(number_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

Expected<void> TraceFile::append(std::span<const std::byte> block) {
  if (!is_still_ours()) {
    return unexpected({.message = "the program has closed the tool's file", .file = path_});
  }
  const SizeLimitSignalBlocked blocked;
  if (ownership_ == Ownership::kShared) {
    while (flock(number_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  const off_t end = lseek(number_, 0, SEEK_END);
  const int error = write_all(number_, block);
  if (error != 0 && end >= 0) {
    (void)!ftruncate(number_, end);  // the reader reports what is cut off all the same
  }
  if (ownership_ == Ownership::kShared) {
    (void)flock(number_, LOCK_UN);
  }
  if (error != 0) {
    return unexpected({.message = std::strerror(error), .file = path_});
  }
  return {};
}

}  // namespace barracuda::trace
