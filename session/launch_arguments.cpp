#include "session/launch_arguments.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace barracuda::session {
namespace {

struct ParameterBuffer {
  const void* bytes = nullptr;
  std::size_t size = 0;
};

// Nothing if there is a key that only the driver knows.
std::optional<ParameterBuffer> read_keys(void** extra) {
  ParameterBuffer buffer;
  for (void** key = extra; reinterpret_cast<std::uintptr_t>(*key) != kParameterBufferEnd;
       key += 2) {
    const auto name = reinterpret_cast<std::uintptr_t>(key[0]);
    if (name == kParameterBufferPointer) {
      buffer.bytes = key[1];
    } else if (name == kParameterBufferSize && key[1] != nullptr) {
      std::memcpy(&buffer.size, key[1], sizeof buffer.size);
    } else {
      return std::nullopt;
    }
  }
  return buffer;
}

}  // namespace

std::vector<std::byte> packed_arguments(const ptx::Kernel& kernel, void** parameters,
                                        void** extra) {
  std::vector<std::byte> packed;
  if (parameters != nullptr) {
    packed.resize(kernel.hidden_parameter_offset);
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const ptx::ParameterPlace& place = kernel.parameters[i];
      if (parameters[i] == nullptr || place.offset + place.size > packed.size()) {
        return {};
      }
      std::memcpy(packed.data() + place.offset, parameters[i], place.size);
    }
  } else if (extra != nullptr) {
    const auto buffer = read_keys(extra);
    if (buffer && buffer->bytes != nullptr) {
      packed.resize(kernel.hidden_parameter_offset);
      std::memcpy(packed.data(), buffer->bytes, std::min(buffer->size, packed.size()));
    }
  }
  return packed;
}

std::uint64_t word_at(std::span<const std::byte> arguments, std::uint64_t offset) {
  std::uint64_t word = 0;
  if (offset + sizeof word <= arguments.size()) {
    std::memcpy(&word, arguments.data() + offset, sizeof word);
  }
  return word;
}

std::uint64_t argument_word(const ptx::Kernel& kernel, std::span<const std::byte> arguments,
                            const ptx::ArgumentWord& word) {
  return word_at(arguments, kernel.parameters[word.parameter].offset + word.offset);
}

LaunchArguments::LaunchArguments(const ptx::Kernel& kernel, void** parameters, void** extra,
                                 const wire::HiddenArgument& hidden)
    : parameters_(parameters), extra_(extra), hidden_(hidden) {
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
  pointers_.push_back(&hidden_);
  parameters_ = pointers_.data();
}

void LaunchArguments::append_bytes(const ptx::Kernel& kernel, void** extra) {
  const auto given = read_keys(extra);
  if (!given) {
    return;
  }
  const std::size_t offset = kernel.hidden_parameter_offset;
  const std::size_t bytes = kernel.hidden_parameter_bytes();
  buffer_.assign(offset + bytes, std::byte{0});
  if (given->bytes != nullptr) {
    std::memcpy(buffer_.data(), given->bytes, std::min(given->size, offset));
  }
  std::memcpy(buffer_.data() + offset, &hidden_, bytes);
  buffer_size_ = buffer_.size();
  // NOLINTBEGIN(performance-no-int-to-ptr): the driver's constants
  extra_keys_ = {reinterpret_cast<void*>(kParameterBufferPointer), buffer_.data(),
                 reinterpret_cast<void*>(kParameterBufferSize), &buffer_size_, nullptr};
  // NOLINTEND(performance-no-int-to-ptr)
  extra_ = extra_keys_.data();
}

}  // namespace barracuda::session
