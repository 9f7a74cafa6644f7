// The unit of a trace file: some events of one stream (one process, or `barracuda run` itself),
// compressed, with checksums. A file is blocks one after another, those of several processes in any
// mixture. A header says all that is needed to skip its block; what it says is believed only once
// its own checksum holds.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/expected.h"

namespace barracuda::trace {

static_assert(std::endian::native == std::endian::little, "traces are little-endian");

inline constexpr std::uint32_t kMagic = 0x54444342;  // "BCDT"
inline constexpr std::uint32_t kFormatVersion = 15;
inline constexpr std::size_t kMaximumBlockBytes = std::size_t{64} << 20;

struct BlockHeader {
  std::uint32_t magic = kMagic;  // this and the next stay where they are in every version
  std::uint32_t format = kFormatVersion;
  std::uint64_t stream = 0;
  std::uint32_t number = 0;  // in its stream, from 0
  std::uint32_t raw_bytes = 0;
  std::uint32_t stored_bytes = 0;  // of the compressed events behind the header
  std::uint32_t reserved = 0;
  std::uint64_t stored_hash = 0;
  std::uint64_t header_hash = 0;  // of everything before it
};

static_assert(offsetof(BlockHeader, magic) == 0 && offsetof(BlockHeader, format) == 4,
              "where every version has them");
static_assert(offsetof(BlockHeader, stream) == 8 && offsetof(BlockHeader, number) == 16 &&
              offsetof(BlockHeader, raw_bytes) == 20 && offsetof(BlockHeader, stored_bytes) == 24 &&
              offsetof(BlockHeader, reserved) == 28 && offsetof(BlockHeader, stored_hash) == 32 &&
              offsetof(BlockHeader, header_hash) == 40);
static_assert(sizeof(BlockHeader) == 48, "nothing behind the hash, nothing between the fields");
static_assert(kMaximumBlockBytes <= ~std::uint32_t{0} / 2, "the sizes of a block are 32 bits");

// A whole block. At most kMaximumBlockBytes of events.
std::vector<std::byte> make_block(std::uint64_t stream, std::uint32_t number,
                                  std::span<const std::byte> events);

// The header at the beginning of `bytes`, if it is one of this version and undamaged.
std::optional<BlockHeader> read_header(std::span<const std::byte> bytes);

// The events of a block. Errors: a checksum or the compression is wrong.
Expected<std::vector<std::byte>> read_events(const BlockHeader& header,
                                             std::span<const std::byte> stored);

}  // namespace barracuda::trace
