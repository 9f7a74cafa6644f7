// The tensor maps that the program has made, by the numbers that records give (wire::map_number),
// and the bytes that copies by them touch.
#pragma once

#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/tensor_map.h"

namespace barracuda::detector {

class TensorMaps {
 public:
  // One that no driver makes is left out.
  void add(std::uint64_t number, const TensorMap& map);
  // Null where none is known.
  [[nodiscard]] const TensorMap* find(std::uint64_t number) const;

 private:
  boost::unordered_flat_map<std::uint64_t, TensorMap> maps_;
};

struct ByteRange {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// Of one copy of a box.
struct TensorBox {
  std::vector<ByteRange> rows;    // in global memory: what of the box lies in the tensor
  std::vector<ByteRange> pieces;  // in shared memory, from the address that the copy names
  std::uint32_t bytes = 0;        // of the box, whether in the tensor or not
};

// `shared`: the address in shared memory. No pieces if it reaches over more than `limit` bytes.
TensorBox box_of(const TensorMap& map, const TensorCoordinates& at, std::uint64_t shared,
                 std::uint32_t limit, const PixelOffsets& offsets = {});

}  // namespace barracuda::detector
