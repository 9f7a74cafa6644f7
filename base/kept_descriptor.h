// The number of a file that the tool keeps open in the program's process. It is out of the way of
// programs that count on small numbers. A program that closes every number it has, as daemons do,
// gets this one for a file of its own: nothing may be written there then.
#pragma once

#include <cstdint>

namespace barracuda {

class KeptDescriptor {
 public:
  // Takes `number` over, which moves.
  explicit KeptDescriptor(int number) noexcept;
  ~KeptDescriptor();
  KeptDescriptor(KeptDescriptor&& other) noexcept;
  KeptDescriptor& operator=(KeptDescriptor&& other) noexcept;
  KeptDescriptor(const KeptDescriptor&) = delete;
  KeptDescriptor& operator=(const KeptDescriptor&) = delete;

  [[nodiscard]] int number() const noexcept { return number_; }

  // False of one that was moved from, or that the program has closed.
  [[nodiscard]] bool is_still_ours() const noexcept;

  [[nodiscard]] bool has_same_file(const KeptDescriptor& other) const noexcept {
    return inode_ != 0 && device_ == other.device_ && inode_ == other.inode_;
  }

 private:
  int number_ = -1;
  std::uint64_t device_ = 0, inode_ = 0;
};

// The number that a file gets which is open for a moment: none of the standard streams', which the
// program may have closed and goes on writing to.
int above_standard_streams(int number) noexcept;

}  // namespace barracuda
