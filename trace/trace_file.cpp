#include "trace/trace_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

#include "base/size_limit_signal.h"

namespace barracuda::trace {
namespace {

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
    : path_(std::move(path)), file_(number), ownership_(ownership) {}

Expected<TraceFile> TraceFile::open(const std::string& path, Ownership ownership) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  const int number = ::open(path.c_str(), kFlags, 0666);
  if (number < 0) {
    return unexpected({.message = std::strerror(errno), .file = path});
  }
  TraceFile file(path, number, ownership);
  if (ownership == Ownership::kShared) {
    return file;
  }
  if (flock(file.file_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return unexpected(
        {.message = "another process writes its trace there; %p in the name gives each its own",
         .file = path});
  }
  // A pipe or device has no length.
  if (ftruncate(file.file_.number(), 0) != 0 && errno != EINVAL) {
    return unexpected({.message = std::strerror(errno), .file = path});
  }
  return file;
}

Expected<void> TraceFile::append(std::span<const std::byte> block) {
  if (!file_.is_still_ours()) {
    return unexpected({.message = "the program has closed the tool's file", .file = path_});
  }
  const int number = file_.number();
  const SizeLimitSignalBlocked blocked;
  if (ownership_ == Ownership::kShared) {
    while (flock(number, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  const off_t end = lseek(number, 0, SEEK_END);
  const int error = write_all(number, block);
  if (error != 0 && end >= 0) {
    (void)!ftruncate(number, end);  // the reader reports what is cut off all the same
  }
  if (ownership_ == Ownership::kShared) {
    (void)flock(number, LOCK_UN);
  }
  if (error != 0) {
    return unexpected({.message = std::strerror(error), .file = path_});
  }
  return {};
}

}  // namespace barracuda::trace
