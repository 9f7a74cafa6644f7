#include "fatbin/builder.h"

#include "base/assert.h"
#include "base/number_text.h"
#include "fatbin/decompress.h"

namespace barracuda::fatbin {
namespace {

constexpr std::size_t kAlignment = 8;

void pad(std::string& bytes) {
  static_assert(sizeof(Header) % kAlignment == 0 && sizeof(Entry) % kAlignment == 0);
  bytes.resize((bytes.size() + kAlignment - 1) & ~(kAlignment - 1));
}

template <typename T>
void append(std::string& bytes, const T& fields) {
  bytes.append(reinterpret_cast<const char*>(&fields), sizeof fields);
}

// The word behind a directive that begins a line, or nothing.
std::string_view word_after(std::string_view text, std::string_view directive) {
  std::size_t position = text.find(directive);
  while (position != text.npos && position != 0 && text[position - 1] != '\n') {
    position = text.find(directive, position + 1);
  }
  if (position == text.npos) {
    return {};
  }
  const std::string_view rest = text.substr(position + directive.size());
  const std::size_t begin = rest.find_first_not_of(" \t");
  if (begin == 0 || begin == rest.npos) {
    return {};
  }
  return rest.substr(begin, rest.find_first_of(" \t\r\n,/", begin) - begin);
}

template <typename Number>
bool take_into(Number& number, std::string_view& text) {
  const auto taken = take_number<Number>(text);
  number = taken.value_or(number);
  return taken.has_value();
}

bool take(std::string_view& text, std::string_view prefix) {
  const bool is_there = text.starts_with(prefix);
  text.remove_prefix(is_there ? prefix.size() : 0);
  return is_there;
}

std::uint64_t flags_of(const Image& image) {
  std::uint64_t flags = kFlag64Bit | kFlagLinux;
  flags |= image.has_debug ? kFlagDebug : 0;
  flags |= image.variant == ArchVariant::kArchSpecific ? kFlagArchSpecific : 0;
  flags |= image.variant == ArchVariant::kFamily ? kFlagFamily : 0;
  flags |= image.compression == Compression::kLz4 ? kFlagLz4 : 0;
  flags |= image.compression == Compression::kZstd ? kFlagZstd : 0;
  return flags;
}

// Offsets and texts that stand behind an entry's fields.
std::string variable_part(const Image& image, Entry& entry) {
  std::string bytes;
  if (!image.options.empty()) {
    entry.options_offset = sizeof(Entry);
    append(bytes, EntryText{.offset = sizeof(Entry) + sizeof(EntryText),
                            .length = static_cast<std::uint32_t>(image.options.size())});
    bytes += image.options + '\0';
    pad(bytes);
  }
  if (!image.identifier.empty()) {
    entry.identifier_offset = static_cast<std::uint32_t>(sizeof(Entry) + bytes.size());
    entry.identifier_length = static_cast<std::uint32_t>(image.identifier.size());
    bytes += image.identifier + '\0';
    pad(bytes);
  }
  return bytes;
}

Expected<void> append_entry(std::string& bytes, const Image& image) {
  if (image.payload.empty()) {
    return unexpected({.message = "the image for " + image.target() + " has no payload"});
  }
  std::string payload = image.payload;
  if (image.kind == EntryKind::kPtx) {
    payload += '\0';
  }
  Entry entry{};
  TRY(std::string packed, compress(payload, image.compression));
  if (image.compression != Compression::kStored) {
    entry.compressed_size = static_cast<std::uint32_t>(packed.size());
    entry.uncompressed_size = payload.size();
  }
  pad(packed);
  const std::string texts = variable_part(image, entry);
  entry.kind = static_cast<std::uint16_t>(image.kind);
  entry.version = kEntryVersion;
  entry.header_size = static_cast<std::uint32_t>(sizeof(Entry) + texts.size());
  entry.payload_size = packed.size();
  entry.ptx_major = image.ptx_major;
  entry.ptx_minor = image.ptx_minor;
  entry.arch = image.arch;
  entry.flags = flags_of(image);
  ASSERT(bytes.size() % kAlignment == 0 && entry.header_size % kAlignment == 0);
  append(bytes, entry);
  bytes += texts + packed;
  return {};
}

}  // namespace

Expected<Image> image_of_ptx(std::string text) {
  Image image;
  image.kind = EntryKind::kPtx;
  image.compression = Compression::kZstd;
  std::string_view version = word_after(text, ".version");
  if (!take_into(image.ptx_major, version) || !take(version, ".") ||
      !take_into(image.ptx_minor, version)) {
    return unexpected({.message = "the PTX text declares no .version"});
  }
  std::string_view target = word_after(text, ".target");
  if (!take(target, "sm_") || !take_into(image.arch, target)) {
    return unexpected({.message = "the PTX text declares no .target"});
  }
  if (take(target, "a")) {
    image.variant = ArchVariant::kArchSpecific;
  } else if (take(target, "f")) {
    image.variant = ArchVariant::kFamily;
  }
  image.payload = std::move(text);
  image.payload_size = image.payload.size() + 1;
  return image;
}

Expected<std::string> build(const Container& container) {
  std::string entries;
  for (const Image& image : container.images) {
    if (auto appended = append_entry(entries, image); !appended) {
      return unexpected(std::move(appended).error());
    }
  }
  ASSERT(entries.size() % kAlignment == 0);
  std::string bytes;
  append(bytes, Header{.magic = kHeaderMagic,
                       .version = kHeaderVersion,
                       .header_size = sizeof(Header),
                       .size = entries.size()});
  return bytes + entries;
}

Expected<EmbeddedFatbin> EmbeddedFatbin::build(const Fatbin& fatbin) {
  EmbeddedFatbin embedded;
  Storage& storage = *embedded.storage_;
  TRY(storage.main, fatbin::build(fatbin.main));
  for (const Container& unit : fatbin.units) {
    TRY(storage.units.emplace_back(), fatbin::build(unit));
  }
  for (const std::string& unit : storage.units) {
    storage.unit_list.push_back(unit.data());
  }
  storage.unit_list.push_back(nullptr);
  ASSERT(storage.unit_list.size() == fatbin.units.size() + 1);
  const bool is_linked = !fatbin.units.empty();
  storage.wrapper = {.magic = kWrapperMagic,
                     .version = is_linked ? 2U : 1U,
                     .header = storage.main.data(),
                     .units = is_linked ? storage.unit_list.data() : nullptr};
  return embedded;
}

}  // namespace barracuda::fatbin
