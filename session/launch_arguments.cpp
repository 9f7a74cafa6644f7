#include "session/launch_arguments.h"

#include <algorithm>
#include <cstring>

namespace barracuda::session {

LaunchArguments::LaunchArguments(const ptx::Kernel& kernel, void** parameters, void** extra,
                                 std::uint64_t descriptor)
    : parameters_(parameters), extra_(extra), descriptor_(descriptor) {
  if (extra != nullptr && parameters == nullptr) {
    append_bytes(kernel, extra);
  } else {
    append_pointer(kernel, parameters);
  }
}

// A null array with arguments missing is the program's error; the driver reports it as always.
void LaunchArguments::append_pointer(const ptx::Kernel& kernel, void** parameters) {
  const std::size_t count = kernel.parameters.size();
  if (count != 0 && parameters == nullptr) {
    return;
  }
  pointers_.assign(parameters, parameters + count);
  pointers_.push_back(&descriptor_);
  parameters_ = pointers_.data();
}

void LaunchArguments::append_bytes(const ptx::Kernel& kernel, void** extra) {
  const void* bytes = nullptr;
  std::size_t size = 0;
  for (void** key = extra; reinterpret_cast<std::uintptr_t>(*key) != kParameterBufferEnd;
       key += 2) {
    const auto name = reinterpret_cast<std::uintptr_t>(key[0]);
    if (name == kParameterBufferPointer) {
      bytes = key[1];
    } else if (name == kParameterBufferSize && key[1] != nullptr) {
      std::memcpy(&size, key[1], sizeof size);
    } else {
      return;  // a key that only the driver knows
    }
  }
  const std::size_t offset = kernel.hidden_parameter_offset;
  buffer_.assign(offset + sizeof descriptor_, std::byte{0});
  if (bytes != nullptr) {
    std::memcpy(buffer_.data(), bytes, std::min(size, offset));
  }
  std::memcpy(buffer_.data() + offset, &descriptor_, sizeof descriptor_);
  buffer_size_ = buffer_.size();
  // NOLINTBEGIN(performance-no-int-to-ptr): the driver's constants
  extra_keys_ = {reinterpret_cast<void*>(kParameterBufferPointer), buffer_.data(),
                 reinterpret_cast<void*>(kParameterBufferSize), &buffer_size_, nullptr};
  // NOLINTEND(performance-no-int-to-ptr)
  extra_ = extra_keys_.data();
}

}  // namespace barracuda::session
