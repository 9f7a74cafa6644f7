#include "fatbin/container.h"

#include "base/assert.h"
#include "fatbin/decompress.h"

namespace barracuda::fatbin {
namespace {

tl::unexpected<Diagnostic> damaged(std::size_t offset, const std::string& what) {
  return unexpected(
      {.message = "damaged fat binary at byte " + std::to_string(offset) + ": " + what});
}

// The text at an offset of an entry, if the entry's header reaches that far.
Expected<std::string> text_at(std::span<const std::byte> header, std::uint32_t offset,
                              std::uint32_t length) {
  if (offset > header.size() || length > header.size() - offset) {
    return unexpected({.message = "a text lies outside its header"});
  }
  std::string text(reinterpret_cast<const char*>(header.data()) + offset, length);
  while (text.ends_with('\0')) {
    text.pop_back();
  }
  return text;
}

Expected<std::string> options_of(std::span<const std::byte> header, std::uint32_t offset) {
  if (offset > header.size() || header.size() - offset < sizeof(EntryText)) {
    return unexpected({.message = "the options lie outside their header"});
  }
  const auto place = load<EntryText>(header.data() + offset);
  return text_at(header, place.offset, place.length);
}

Compression compression_of(const Entry& entry) {
  if ((entry.flags & kFlagZstd) != 0) {
    return Compression::kZstd;
  }
  return (entry.flags & kFlagLz4) != 0 ? Compression::kLz4 : Compression::kStored;
}

ArchVariant variant_of(const Entry& entry) {
  if ((entry.flags & kFlagArchSpecific) != 0) {
    return ArchVariant::kArchSpecific;
  }
  return (entry.flags & kFlagFamily) != 0 ? ArchVariant::kFamily : ArchVariant::kPlain;
}

Expected<void> fill_payload(Image& image, const Entry& entry, std::span<const std::byte> payload) {
  if (image.compression != Compression::kStored) {
    if (entry.compressed_size > payload.size()) {
      return unexpected({.message = "its compressed data is longer than the entry"});
    }
    payload = payload.first(entry.compressed_size);
  }
  TRY(image.payload, decompress(payload, image.compression, entry.uncompressed_size));
  if (image.kind == EntryKind::kPtx) {
    // PTX ends at its NUL; what follows is padding.
    const std::size_t end = image.payload.find('\0');
    if (end != image.payload.npos) {
      image.payload.resize(end);
    }
  }
  return {};
}

// The header's and the payload's size have been checked against the bytes.
Expected<Image> read_entry(std::span<const std::byte> bytes, const Entry& entry,
                           Payloads payloads) {
  ASSERT(entry.header_size >= sizeof(Entry) && entry.header_size <= bytes.size() &&
         entry.payload_size <= bytes.size() - entry.header_size);
  const auto header = bytes.first(entry.header_size);
  Image image;
  image.kind = static_cast<EntryKind>(entry.kind);
  image.arch = entry.arch;
  image.variant = variant_of(entry);
  image.ptx_major = entry.ptx_major;
  image.ptx_minor = entry.ptx_minor;
  image.has_debug = (entry.flags & kFlagDebug) != 0;
  image.compression = compression_of(entry);
  image.payload_size =
      image.compression == Compression::kStored ? entry.payload_size : entry.uncompressed_size;
  if (entry.identifier_offset != 0) {
    TRY(image.identifier, text_at(header, entry.identifier_offset, entry.identifier_length));
  }
  if (entry.options_offset != 0) {
    TRY(image.options, options_of(header, entry.options_offset));
  }
  if (payloads == Payloads::kAll || (payloads == Payloads::kPtx && image.kind == EntryKind::kPtx)) {
    const auto payload = bytes.subspan(entry.header_size, entry.payload_size);
    if (auto filled = fill_payload(image, entry, payload); !filled) {
      return unexpected(std::move(filled).error());
    }
  }
  return image;
}

}  // namespace

Expected<std::uint64_t> declared_size(const std::byte* header) {
  ASSERT(header != nullptr);
  const auto fields = load<Header>(header);
  if (fields.magic != kHeaderMagic) {
    return damaged(0, "no header stands here");
  }
  if (fields.version != kHeaderVersion || fields.header_size < sizeof(Header)) {
    return damaged(0, "its header has version " + std::to_string(fields.version) + " and size " +
                          std::to_string(fields.header_size) + ", which we do not know");
  }
  if (fields.size > SIZE_MAX / 2) {
    return damaged(0, "it declares " + std::to_string(fields.size) + " bytes");
  }
  return fields.header_size + fields.size;
}

Expected<Container> read_container(std::span<const std::byte> bytes, Payloads payloads) {
  if (bytes.size() < sizeof(Header)) {
    return damaged(0, "its header is cut off");
  }
  TRY(const std::uint64_t size, declared_size(bytes.data()));
  if (size > bytes.size()) {
    return damaged(0, "it declares " + std::to_string(size) + " bytes and has " +
                          std::to_string(bytes.size()));
  }
  bytes = bytes.first(size);
  Container container;
  std::size_t offset = load<Header>(bytes.data()).header_size;
  while (offset < bytes.size()) {
    const auto rest = bytes.subspan(offset);
    if (rest.size() < sizeof(Entry)) {
      return damaged(offset, "an entry is cut off");
    }
    const auto entry = load<Entry>(rest.data());
    if (entry.version != kEntryVersion) {
      return damaged(offset, "an entry has version " + std::to_string(entry.version) +
                                 ", which we do not know");
    }
    if (entry.header_size < sizeof(Entry) || entry.header_size > rest.size() ||
        entry.payload_size > rest.size() - entry.header_size) {
      return damaged(offset, "an entry reaches behind the end");
    }
    auto image = read_entry(rest, entry, payloads);
    if (!image) {
      return damaged(offset, image.error().message);
    }
    container.images.push_back(*std::move(image));
    offset += entry.header_size + entry.payload_size;
    ASSERT(offset <= bytes.size());
  }
  return container;
}

}  // namespace barracuda::fatbin
