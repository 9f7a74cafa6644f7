// The 128 bytes of a CUtensorMap as the emulated device has them; NVIDIA does not say what its own
// devices have there. Written by cuTensorMapEncodeTiled and its kin, read by the copies that name a
// map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/tensor_map.h"

namespace barracuda::emulator {

inline constexpr std::size_t kTensorMapBytes = 128;
// Of a map that a copy may name (PTX ISA, tensor-map).
inline constexpr std::uint32_t kTensorMapAlignment = 64;
// Of what a copy moves in shared memory.
inline constexpr std::uint32_t kTensorBoxAlignment = 128;

struct TensorMapImage {
  static constexpr std::uint64_t kMagic = 0x70616D726F736E74;  // "tnsormap"

  std::uint64_t magic = kMagic;
  TensorMap map;
  std::uint64_t reserved[3] = {};  // zero

  // False if it is no image of a map, as in memory that the program has written: then a copy must
  // not use it.
  [[nodiscard]] bool is_valid() const { return magic == kMagic && map.is_valid(); }
};

static_assert(offsetof(TensorMapImage, magic) == 0 && offsetof(TensorMapImage, map) == 8 &&
              offsetof(TensorMapImage, reserved) == 104 &&
              sizeof(TensorMapImage) == kTensorMapBytes);
static_assert(std::is_trivially_copyable_v<TensorMapImage>);

// What lies there, whatever it is.
inline TensorMapImage read_tensor_map(const void* from) {
  TensorMapImage image;
  std::memcpy(static_cast<void*>(&image), from, sizeof image);
  return image;
}

}  // namespace barracuda::emulator
