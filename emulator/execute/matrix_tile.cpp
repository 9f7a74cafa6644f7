#include "emulator/execute/matrix_tile.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/execute/matrix.h"
#include "emulator/execute/range.h"
#include "emulator/execute/weak_order.h"

namespace barracuda::emulator {
namespace {

// A unit at a time where not all of it is the program's: compilers round sizes up, and behind them
// lies what %reserved_smem_offset names.
const std::byte* resolve_stretch(Context& c, const Instruction& in, int lane, std::uint32_t address,
                                 std::uint32_t bytes) {
  if (address + bytes <= c.shared_bytes) {
    return c.shared + address;
  }
  for (std::uint32_t at = address; at < address + bytes; at += wire::kUnitBytes) {
    if (resolve_range(c, in, at, {.bytes = wire::kUnitBytes}, lane) == nullptr) {
      return nullptr;
    }
  }
  return c.shared + address;
}

}  // namespace

bool is_there(Context& c, const Instruction& in, std::uint32_t mask, const MatrixTile& tile) {
  const int lane = std::countr_zero(mask);
  bool is_good = true;
  const auto look_at = [&](std::uint32_t address, std::uint32_t bytes) {
    const std::byte* const host = is_good ? resolve_stretch(c, in, lane, address, bytes) : nullptr;
    is_good = host != nullptr;
    const std::uint32_t storing = is_good && c.weak != nullptr ? mask : 0;
    for (std::uint32_t rest = storing; rest != 0; rest &= rest - 1) {
      settle_for_copy(c, std::countr_zero(rest), host, bytes);
    }
  };
  wire::for_each_stretch(tile.matrix, tile.major, tile.rows, look_at);
  return is_good;
}

void read_tile(const Context& c, const MatrixTile& tile, bool negates, double* to) {
  const std::uint32_t bits_each = element_bits(tile.element);
  const std::uint32_t bytes = std::max(bits_each / 8, 1U), in_byte = bits_each < 8 ? 8 : 1;
  for (std::uint32_t row = tile.rows.first; row < tile.rows.first + tile.rows.count; ++row) {
    for (std::uint32_t k = 0; k < tile.depth; ++k) {
      std::uint64_t bits = 0;
      std::memcpy(
          &bits, c.shared + wire::element_address(tile.matrix, tile.major, bytes, row, k / in_byte),
          bytes);
      const double number = number_of(tile.element, bits >> (k % in_byte));
      *to++ = negates ? -number : number;
    }
  }
}

}  // namespace barracuda::emulator
