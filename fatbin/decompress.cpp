#include "fatbin/decompress.h"

#include <new>

#include <climits>
#include <lz4.h>
#include <zstd.h>

#include "base/assert.h"

namespace barracuda::fatbin {
namespace {

// The most bytes that one compressed byte can stand for: LZ4 lengths grow by 255 a byte; a zstd
// block of four bytes stands for 128 KiB. A declared size beyond it is a lie that must not be
// allocated.
constexpr std::uint64_t kMostLz4Ratio = 255;
constexpr std::uint64_t kMostZstdRatio = std::uint64_t{32} * 1024;
constexpr std::uint64_t kMostPayload = std::uint64_t{4} << 30;

bool is_known(Compression compression) {
  return compression == Compression::kStored || compression == Compression::kLz4 ||
         compression == Compression::kZstd;
}

tl::unexpected<Diagnostic> damaged(Compression compression, const std::string& how) {
  return unexpected({.message = "the " + std::string(name_of(compression)) +
                                " data of a fat binary entry is damaged: " + how});
}

Expected<void> check_size(std::size_t packed, Compression compression, std::uint64_t size) {
  const std::uint64_t ratio = compression == Compression::kLz4 ? kMostLz4Ratio : kMostZstdRatio;
  if (size > kMostPayload || packed > INT_MAX || size / ratio > packed) {
    return damaged(compression, std::to_string(packed) + " bytes cannot be " +
                                    std::to_string(size) + " bytes compressed");
  }
  return {};
}

Expected<std::size_t> fill_from_lz4(std::span<const std::byte> payload, std::string& text) {
  if (text.size() > LZ4_MAX_INPUT_SIZE) {
    return damaged(Compression::kLz4, "it is too large");
  }
  const int count =
      LZ4_decompress_safe(reinterpret_cast<const char*>(payload.data()), text.data(),
                          static_cast<int>(payload.size()), static_cast<int>(text.size()));
  if (count < 0) {
    return damaged(Compression::kLz4, "it is no LZ4 block of this size");
  }
  return static_cast<std::size_t>(count);
}

Expected<std::size_t> fill_from_zstd(std::span<const std::byte> payload, std::string& text) {
  const std::size_t count =
      ZSTD_decompress(text.data(), text.size(), payload.data(), payload.size());
  if (ZSTD_isError(count) != 0) {
    return damaged(Compression::kZstd, ZSTD_getErrorName(count));
  }
  return count;
}

}  // namespace

std::string_view name_of(Compression compression) {
  switch (compression) {
    case Compression::kStored:
      return "stored";
    case Compression::kLz4:
      return "LZ4";
    case Compression::kZstd:
      return "zstd";
  }
  return "unknown";
}

Expected<std::string> decompress(std::span<const std::byte> payload, Compression compression,
                                 std::uint64_t size) {
  ASSERT(is_known(compression));
  if (compression == Compression::kStored) {
    return std::string(reinterpret_cast<const char*>(payload.data()), payload.size());
  }
  if (auto checked = check_size(payload.size(), compression, size); !checked) {
    return unexpected(std::move(checked).error());
  }
  std::string text;
  try {
    text.resize(size);
  } catch (const std::bad_alloc&) {
    return damaged(compression, "no memory for " + std::to_string(size) + " bytes");
  }
  TRY(const std::size_t count, compression == Compression::kLz4 ? fill_from_lz4(payload, text)
                                                                : fill_from_zstd(payload, text));
  if (count != size) {
    return damaged(compression, "it holds " + std::to_string(count) + " bytes instead of " +
                                    std::to_string(size));
  }
  return text;
}

Expected<std::string> compress(std::string_view payload, Compression compression) {
  ASSERT(is_known(compression));
  if (compression == Compression::kStored) {
    return std::string(payload);
  }
  if (payload.size() > LZ4_MAX_INPUT_SIZE) {
    return unexpected({.message = "a payload of " + std::to_string(payload.size()) +
                                  " bytes is too large to compress"});
  }
  std::string packed;
  if (compression == Compression::kLz4) {
    packed.resize(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(payload.size()))));
    const int count =
        LZ4_compress_default(payload.data(), packed.data(), static_cast<int>(payload.size()),
                             static_cast<int>(packed.size()));
    packed.resize(static_cast<std::size_t>(count));
    return packed;
  }
  packed.resize(ZSTD_compressBound(payload.size()));
  const std::size_t count = ZSTD_compress(packed.data(), packed.size(), payload.data(),
                                          payload.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(count) != 0) {
    return unexpected({.message = std::string("zstd: ") + ZSTD_getErrorName(count)});
  }
  packed.resize(count);
  return packed;
}

}  // namespace barracuda::fatbin
