#include "emulator/libcudart/memory/channel_format.h"

namespace barracuda::emulator::runtime {
namespace {

struct Format {
  CUarray_format format;
  cudaChannelFormatKind kind;
  int bits;
};

constexpr Format kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
    {CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
    {CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
    {CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
    {CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
    {CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32},
};

}  // namespace

// All channels have the same bits; those that are not there have none.
std::optional<ChannelFormat> format_of(const cudaChannelFormatDesc& channels) {
  const int bits[] = {channels.x, channels.y, channels.z, channels.w};
  unsigned count = 0;
  while (count < 4 && bits[count] != 0) {
    if (bits[count++] != channels.x) {
      return std::nullopt;
    }
  }
  for (const Format& format : kFormats) {
    if (format.kind == channels.f && format.bits == channels.x && count != 3) {
      return ChannelFormat{.format = format.format, .channels = count};
    }
  }
  return std::nullopt;
}

cudaChannelFormatDesc channels_of(const ChannelFormat& from) {
  cudaChannelFormatDesc channels{};
  for (const Format& format : kFormats) {
    if (format.format == from.format) {
      channels.f = format.kind;
      channels.x = format.bits;
      channels.y = from.channels > 1 ? format.bits : 0;
      channels.z = from.channels > 2 ? format.bits : 0;
      channels.w = channels.z;
    }
  }
  return channels;
}

}  // namespace barracuda::emulator::runtime
