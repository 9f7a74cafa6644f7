#include "trace/block.h"

#include <cstring>

#include <zstd.h>

#include "base/assert.h"
#include "base/hash.h"

namespace barracuda::trace {
namespace {

// Records compress well; the thread that does it is the detector's.
constexpr int kCompression = 1;

std::uint64_t hash_of(const void* bytes, std::size_t count) {
  return hash128({static_cast<const char*>(bytes), count}).low;
}

std::uint64_t hash_of(const BlockHeader& header) {
  return hash_of(&header, offsetof(BlockHeader, header_hash));
}

}  // namespace

std::vector<std::byte> make_block(std::uint64_t stream, std::uint32_t number,
                                  std::span<const std::byte> events) {
  ASSERT(events.size() <= kMaximumBlockBytes);
  std::vector<std::byte> block(sizeof(BlockHeader) + ZSTD_compressBound(events.size()));
  std::byte* const stored = block.data() + sizeof(BlockHeader);
  const std::size_t bytes = ZSTD_compress(stored, block.size() - sizeof(BlockHeader), events.data(),
                                          events.size(), kCompression);
  ASSERT(ZSTD_isError(bytes) == 0);
  block.resize(sizeof(BlockHeader) + bytes);
  BlockHeader header{.stream = stream,
                     .number = number,
                     .raw_bytes = static_cast<std::uint32_t>(events.size()),
                     .stored_bytes = static_cast<std::uint32_t>(bytes),
                     .stored_hash = hash_of(stored, bytes)};
  header.header_hash = hash_of(header);
  DEBUG_ASSERT(read_header({reinterpret_cast<const std::byte*>(&header), sizeof header}));
  std::memcpy(block.data(), &header, sizeof header);
  return block;
}

std::optional<BlockHeader> read_header(std::span<const std::byte> bytes) {
  BlockHeader header;
  if (bytes.size() < sizeof header) {
    return std::nullopt;
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  const bool is_good = header.magic == kMagic && header.format == kFormatVersion &&
                       header.header_hash == hash_of(header) &&
                       header.raw_bytes <= kMaximumBlockBytes &&
                       header.stored_bytes <= ZSTD_compressBound(kMaximumBlockBytes);
  return is_good ? std::optional(header) : std::nullopt;
}

Expected<std::vector<std::byte>> read_events(const BlockHeader& header,
                                             std::span<const std::byte> stored) {
  if (hash_of(stored.data(), stored.size()) != header.stored_hash) {
    return unexpected({.message = "its checksum is wrong"});
  }
  ASSERT(header.raw_bytes <= kMaximumBlockBytes);  // read_header() says nothing else
  std::vector<std::byte> events(header.raw_bytes);
  const std::size_t bytes =
      ZSTD_decompress(events.data(), events.size(), stored.data(), stored.size());
  if (ZSTD_isError(bytes) != 0 || bytes != events.size()) {
    return unexpected({.message = "it cannot be decompressed"});
  }
  return events;
}

}  // namespace barracuda::trace
