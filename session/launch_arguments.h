// A launch's arguments with the hidden one behind the program's own, in whichever
// of the driver's two forms the program used. The program's arrays are only read. The object must
// outlive the driver's launch call, which copies the arguments; it is neither copied nor moved.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device_logger/unlogged_memory.h"
#include "ptx/instrument.h"
#include "session/affine_address.h"

namespace barracuda::session {

// The driver's CU_LAUNCH_PARAM_… keys of `extra`.
inline constexpr std::uintptr_t kParameterBufferEnd = 0;
inline constexpr std::uintptr_t kParameterBufferPointer = 1;
inline constexpr std::uintptr_t kParameterBufferSize = 2;

// The program's own arguments in parameter-buffer layout; empty if it did not give them.
[[nodiscard]] std::vector<std::byte> packed_arguments(const ptx::Kernel& kernel, void** parameters,
                                                      void** extra);

// A launch whose arguments are known.
struct KnownLaunch {
  const ptx::Kernel& kernel;
  std::span<const std::byte> arguments;  // packed
  ThreadExtents extents{};
};

// 8 bytes of packed arguments; 0 where they end before.
[[nodiscard]] std::uint64_t word_at(std::span<const std::byte> arguments, std::uint64_t offset);
[[nodiscard]] std::uint64_t argument_word(const ptx::Kernel& kernel,
                                          std::span<const std::byte> arguments,
                                          const ptx::ArgumentWord& word);

// Whether a word that leads to no allocation is null or a number, and so leads nowhere. Sizes and
// indices are added to pointers to bytes as they are, and none of CUDA's unified addresses is below
// 4 GiB, or negative. What stands beside a word from memory may be the index of that one.
[[nodiscard]] inline bool leads_nowhere(const ptx::GlobalWrites& leads, std::uint64_t word) {
  const bool is_number = word >> 32 == 0 || word >> 63 != 0;
  return is_number && !leads.has_loaded_index;
}

class LaunchArguments {
 public:
  // Unchanged arguments.
  LaunchArguments(void** parameters, void** extra) : parameters_(parameters), extra_(extra) {}

  // With `hidden` appended for `kernel`.
  LaunchArguments(const ptx::Kernel& kernel, void** parameters, void** extra,
                  const wire::HiddenArgument& hidden);
  ~LaunchArguments() = default;
  LaunchArguments(const LaunchArguments&) = delete;
  LaunchArguments& operator=(const LaunchArguments&) = delete;

  void** parameters() { return parameters_; }

  void** extra() { return extra_; }

  // The program's own arguments in parameter-buffer layout; null where they came as pointers.
  [[nodiscard]] const std::byte* packed() const {
    return buffer_.empty() ? nullptr : buffer_.data();
  }

 private:
  void append_pointer(const ptx::Kernel& kernel, void** parameters);
  void append_bytes(const ptx::Kernel& kernel, void** extra);

  void** parameters_ = nullptr;
  void** extra_ = nullptr;
  wire::HiddenArgument hidden_;
  std::vector<void*> pointers_;
  std::vector<std::byte> buffer_;
  std::size_t buffer_size_ = 0;
  std::array<void*, 5> extra_keys_{};
};

}  // namespace barracuda::session
