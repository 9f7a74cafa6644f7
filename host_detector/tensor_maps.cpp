#include "host_detector/tensor_maps.h"

namespace barracuda::detector {
namespace {

constexpr std::uint32_t kChunk = 16;  // bytes that a swizzle leaves together
constexpr std::uint32_t kLine = 128;  // and that the widest moves within

// Rows that lie behind each other are one range.
void append(std::vector<ByteRange>& ranges, std::uint64_t address, std::uint32_t bytes) {
  if (!ranges.empty() && ranges.back().address + ranges.back().bytes == address) {
    ranges.back().bytes += bytes;
  } else {
    ranges.push_back({.address = address, .bytes = bytes});
  }
}

}  // namespace

void TensorMaps::add(std::uint64_t number, const TensorMap& map) {
  if (map.is_valid()) {
    maps_.insert_or_assign(number, map);
  }
}

const TensorMap* TensorMaps::find(std::uint64_t number) const {
  const auto found = maps_.find(number);
  return found == maps_.end() ? nullptr : &found->second;
}

TensorBox box_of(const TensorMap& map, const TensorCoordinates& at, std::uint64_t shared,
                 std::uint32_t limit) {
  TensorBox box;
  if (map.box_bytes() > limit) {
    return box;
  }
  box.bytes = static_cast<std::uint32_t>(map.box_bytes());
  for (std::uint32_t i = 0; i < map.rows(); ++i) {
    if (const TensorRow row = row_of_box(map, at, i); row.bytes != 0) {
      append(box.rows, row.address, row.bytes);
    }
  }
  // A swizzle moves chunks within lines: only those of a line that is not full may leave the box.
  const std::uint32_t full = map.swizzle == TensorSwizzle::kNone ? box.bytes : box.bytes & ~(kLine - 1);
  if (full != 0) {
    box.pieces.push_back({.address = 0, .bytes = full});
  }
  for (std::uint32_t done = full; done < box.bytes; done += kChunk) {
    append(box.pieces, swizzled(map.swizzle, shared + done) - shared, kChunk);
  }
  return box;
}

}  // namespace barracuda::detector
