// What an element consists of: as the runtime says it, and as the driver does.
#pragma once

#include <optional>

#include "emulator/libcudart/calls.h"

namespace barracuda::emulator::runtime {

struct ChannelFormat {
  CUarray_format format{};
  unsigned channels = 0;
};

// Nothing for what no array may have.
std::optional<ChannelFormat> format_of(const cudaChannelFormatDesc& channels);
cudaChannelFormatDesc channels_of(const ChannelFormat& format);

}  // namespace barracuda::emulator::runtime
