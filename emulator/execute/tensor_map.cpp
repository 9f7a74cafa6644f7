#include "emulator/execute/tensor_map.h"

#include <atomic>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "emulator/execute/lanes/addresses.h"
#include "emulator/execute/range.h"
#include "emulator/execute/weak_order.h"
#include "emulator/tensor_map_image.h"

namespace barracuda::emulator {

using baseline::source;

namespace {

std::atomic<TensorMapHandler> g_handler{nullptr};

// By the numbers of tensormap.replace, which are not those of CUtensorMapDataType.
constexpr TensorElement kElements[] = {
    TensorElement::kU8,     TensorElement::kU16, TensorElement::kU32, TensorElement::kS32,
    TensorElement::kU64,    TensorElement::kS64, TensorElement::kF16, TensorElement::kF32,
    TensorElement::kF32Ftz, TensorElement::kF64, TensorElement::kBf16};
constexpr std::uint64_t kSwizzles = 4;

// False where the device has no such map. Whether it is one of a tensor is asked when it is used,
// for fields are changed one by one.
bool change(TensorMap& map, const MapChange& wanted, std::uint64_t value) {
  const std::size_t i = wanted.dimension;
  switch (wanted.field) {
    case MapField::kAddress:
      map.address = value;
      return true;
    case MapField::kRank:  // one less
      map.rank = static_cast<std::uint8_t>(value + 1);
      return value < kMaxTensorRank;
    case MapField::kBoxDim:
      map.box.at(i) = static_cast<std::uint16_t>(value);
      return value <= 256;
    case MapField::kGlobalDim:
      map.last.at(i) = static_cast<std::uint32_t>(value - 1);
      return value != 0;
    case MapField::kGlobalStride:  // 0 is that of dimension 1
      map.strides.at(i) = value;
      return true;
    case MapField::kElementStride:
      map.steps.at(i) = static_cast<std::uint8_t>(i == 0 ? 1 : value);
      return value <= 8;
    case MapField::kElement:
      map.element = kElements[std::min<std::uint64_t>(value, std::size(kElements) - 1)];
      return value < std::size(kElements) && map.element != TensorElement::kF32Ftz;
    case MapField::kSwizzle:
      map.swizzle = static_cast<TensorSwizzle>(value);
      return value < kSwizzles;
    case MapField::kFill:
      map.fills_with_nan = value == 1;
      return value < 2;
    case MapField::kInterleave:
    case MapField::kSwizzleAtomicity:
      return value == 0;
  }
  return false;
}

// Its bytes lie there. Null: the launch has failed.
std::byte* find_map(Context& c, const Instruction& place, int lane, bool is_write) {
  std::byte* const at = resolve_range(
      c, place, address_at(c, place, lane),
      {.bytes = kTensorMapBytes, .alignment = kTensorMapAlignment, .is_write = is_write}, lane);
  if (at != nullptr) {
    settle_for_copy(c, lane, at, kTensorMapBytes);
  }
  return at;
}

}  // namespace

void set_tensor_map_handler(TensorMapHandler handler) {
  g_handler = handler;
}

Step execute_map_change(Context& c, const Instruction& in, std::uint32_t mask) {
  const auto& wanted = *static_cast<const MapChange*>(in.extra);
  for (const int lane : SetBits<int>(mask)) {
    std::byte* const at = find_map(c, wanted.map, lane, true);
    if (at == nullptr) {
      return Step::kSwitch;
    }
    TensorMapImage image = read_tensor_map(at);
    const std::uint64_t value = wanted.is_wide ? source<std::uint64_t>(c, wanted.value)[lane]
                                               : source<std::uint32_t>(c, wanted.value)[lane];
    const bool is_map = image.magic == TensorMapImage::kMagic;
    if (!is_map || !change(image.map, wanted, value)) {
      return fail(
          c, wanted.map,
          Fault{.code = DeviceErrorCode::kIllegalInstruction,
                .lane = lane,
                .what = is_map ? fmt::format("a tensor map with {} in that field, which the "
                                             "emulated device does not have",
                                             value)
                               : "a change of what is no tensor map"});
    }
    std::memcpy(at, static_cast<const void*>(&image), sizeof image);
    const TensorMapHandler handler = g_handler;
    if (handler != nullptr && image.map.is_valid()) {
      handler(at, image.map);
    }
  }
  return Step::kNext;
}

// The whole warp makes one copy.
Step execute_map_copy(Context& c, const Instruction& in, std::uint32_t mask) {
  const auto& operands = *static_cast<const CopyOperands*>(in.extra);
  const int lane = std::countr_zero(mask);
  const std::byte* const from = find_map(c, operands.from, lane, false);
  std::byte* const to = from == nullptr ? nullptr : find_map(c, operands.to, lane, true);
  if (to == nullptr) {
    return Step::kSwitch;
  }
  std::memcpy(to, from, kTensorMapBytes);
  return Step::kNext;
}

}  // namespace barracuda::emulator
