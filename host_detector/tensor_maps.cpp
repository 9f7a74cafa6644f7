#include "host_detector/tensor_maps.h"

namespace barracuda::detector {
namespace {

constexpr std::uint32_t kChunk = 16;  // bytes that a swizzle leaves together

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
                 std::uint32_t limit, const PixelOffsets& offsets) {
  TensorBox box;
  if (map.reach() > limit) {
    return box;
  }
  box.bytes = static_cast<std::uint32_t>(map.box_bytes());
  for (std::uint32_t i = 0; i < map.rows(); ++i) {
    if (const TensorRow row = row_of_box(map, at, i, offsets); row.bytes != 0) {
      append(box.rows, row.address, row.bytes);
    }
  }
  if (map.row_bytes() == map.row_pitch()) {  // a swizzle moves nothing out of full lines
    box.pieces.push_back({.address = 0, .bytes = box.bytes});
    return box;
  }
  for (std::uint32_t i = 0; i < map.rows(); ++i) {
    for (std::uint32_t done = 0; done < map.row_bytes(); done += kChunk) {
      const std::uint64_t place = shared + i * std::uint64_t{map.row_pitch()} + done;
      append(box.pieces, swizzled(map.swizzle, place) - shared, kChunk);
    }
  }
  return box;
}

}  // namespace barracuda::detector
