// The bytes of a fat binary as nvcc 13 lays them out, and the walk over one header's entries.
// Fields are little-endian and may be read from unaligned memory only through load().
#pragma once

#include <cstddef>
#include <cstring>

#include "fatbin/fatbin.h"

namespace barracuda::fatbin {

inline constexpr std::uint32_t kWrapperMagic = 0x466243b1;
inline constexpr std::uint32_t kHeaderMagic = 0xba55ed50;

// In the section .nvFatBinSegment.
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;  // 1: plain, 2: linked device code
  const void* header;
  const void* const* units;  // version 2: headers of the units before linking, then null
};

static_assert(offsetof(Wrapper, magic) == 0 && offsetof(Wrapper, version) == 4 &&
              offsetof(Wrapper, header) == 8 && offsetof(Wrapper, units) == 16 &&
              sizeof(Wrapper) == 24);

// In the section .nv_fatbin.
struct Header {
  std::uint32_t magic;
  std::uint16_t version;      // 1
  std::uint16_t header_size;  // 16
  std::uint64_t size;         // of the entries behind the header
};

static_assert(offsetof(Header, magic) == 0 && offsetof(Header, version) == 4 &&
              offsetof(Header, header_size) == 6 && offsetof(Header, size) == 8 &&
              sizeof(Header) == 16);

struct Entry {
  std::uint16_t kind;
  std::uint16_t version;          // 0x0101
  std::uint32_t header_size;      // with identifier and options, which stand behind these fields
  std::uint64_t payload_size;     // to the next entry, padding included
  std::uint32_t compressed_size;  // 0 when stored
  std::uint32_t options_offset;   // of an EntryText, from the entry's start; 0: none
  std::uint16_t ptx_minor, ptx_major;
  std::uint32_t arch;
  std::uint32_t identifier_offset;  // from the entry's start; 0: none
  std::uint32_t identifier_length;
  std::uint64_t flags;
  std::uint64_t hash;               // of LTO code
  std::uint64_t uncompressed_size;  // 0 when stored
};

static_assert(offsetof(Entry, kind) == 0 && offsetof(Entry, version) == 2 &&
              offsetof(Entry, header_size) == 4 && offsetof(Entry, payload_size) == 8 &&
              offsetof(Entry, compressed_size) == 16 && offsetof(Entry, options_offset) == 20);
static_assert(offsetof(Entry, ptx_minor) == 24 && offsetof(Entry, ptx_major) == 26 &&
              offsetof(Entry, arch) == 28 && offsetof(Entry, identifier_offset) == 32 &&
              offsetof(Entry, identifier_length) == 36 && offsetof(Entry, flags) == 40);
static_assert(offsetof(Entry, hash) == 48 && offsetof(Entry, uncompressed_size) == 56 &&
              sizeof(Entry) == 64);

struct EntryText {
  std::uint32_t offset, length;  // offset from the entry's start
};

static_assert(offsetof(EntryText, length) == 4 && sizeof(EntryText) == 8);

inline constexpr std::uint16_t kHeaderVersion = 1;
inline constexpr std::uint16_t kEntryVersion = 0x0101;

inline constexpr std::uint64_t kFlag64Bit = 0x1;
inline constexpr std::uint64_t kFlagDebug = 0x2;
inline constexpr std::uint64_t kFlagLinux = 0x10;
inline constexpr std::uint64_t kFlagLz4 = 0x2000;
inline constexpr std::uint64_t kFlagZstd = 0x8000;
inline constexpr std::uint64_t kFlagArchSpecific = 0x100000;
inline constexpr std::uint64_t kFlagFamily = 0x200000;

static_assert((kFlag64Bit | kFlagDebug | kFlagLinux | kFlagLz4 | kFlagZstd | kFlagArchSpecific |
               kFlagFamily) == kFlag64Bit + kFlagDebug + kFlagLinux + kFlagLz4 + kFlagZstd +
                                   kFlagArchSpecific + kFlagFamily,
              "each flag is a bit of its own");

template <typename T>
T load(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

// The size that a header declares for itself and its entries, once its fields have been checked.
// Needs sizeof(Header) readable bytes.
Expected<std::uint64_t> declared_size(const std::byte* header);

// All entries of a header. The bytes must hold at least what it declares.
Expected<Container> read_container(std::span<const std::byte> bytes, Payloads payloads);

}  // namespace barracuda::fatbin
