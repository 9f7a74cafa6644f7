#include "base/kept_descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace barracuda {
namespace {

constexpr int kOutOfTheWay = 512;

// Stays where it is if there is no such number.
int moved_up(int number, int lowest) noexcept {
  const int moved = number < 0 || number >= lowest ? -1 : fcntl(number, F_DUPFD_CLOEXEC, lowest);
  if (moved < 0) {
    return number;
  }
  close(number);
  return moved;
}

}  // namespace

int above_standard_streams(int number) noexcept {
  return moved_up(number, STDERR_FILENO + 1);
}

KeptDescriptor::KeptDescriptor(int number) noexcept
    : number_(above_standard_streams(moved_up(number, kOutOfTheWay))) {
  struct stat status{};
  if (fstat(number_, &status) == 0) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
}

KeptDescriptor::KeptDescriptor(KeptDescriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), device_(other.device_), inode_(other.inode_) {}

KeptDescriptor& KeptDescriptor::operator=(KeptDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  return *this;
}

KeptDescriptor::~KeptDescriptor() {
  if (is_still_ours()) {
    close(number_);
  }
}

bool KeptDescriptor::is_still_ours() const noexcept {
  struct stat status{};
  return number_ >= 0 && fstat(number_, &status) == 0 && status.st_dev == device_ &&
         status.st_ino == inode_;
}

}  // namespace barracuda
