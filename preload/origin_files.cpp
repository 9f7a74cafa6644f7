#include "preload/origin_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include "base/cache_folder.h"
#include "base/log.h"
#include "fatbin/decompress.h"
#include "fatbin/fatbin.h"
#include "report/spool.h"

namespace barracuda::preload {
namespace {

namespace fs = std::filesystem;
using session::CodeOrigin;

// Raise it when the encoding below changes: entries of another version are not found.
constexpr std::uint64_t kVersion = 1;

Hash128 key_of(const Hash128& code) {
  return hash128({reinterpret_cast<const char*>(&code), sizeof code}, kVersion);
}

constexpr std::uint64_t kMostText = std::uint64_t{1} << 30;

class Writer {
 public:
  void number(std::uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }

  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// After an error all that is read is empty, and is_whole() is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    if (rest_.size() < sizeof value) {
      is_damaged_ = true;
      rest_ = {};
      return 0;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }

  std::string text() {
    const std::uint64_t size = number();
    if (size > rest_.size()) {
      is_damaged_ = true;
      rest_ = {};
      return {};
    }
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }

  // Of what has at least eight bytes each.
  std::uint64_t count() {
    const std::uint64_t value = number();
    if (value > rest_.size() / sizeof value) {
      is_damaged_ = true;
      return 0;
    }
    return value;
  }

  [[nodiscard]] bool is_whole() const { return !is_damaged_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool is_damaged_ = false;
};

void write_image(Writer& to, const fatbin::Image& image) {
  to.number(image.arch);
  to.number(static_cast<std::uint64_t>(image.variant));
  to.text(image.payload);
}

fatbin::Image read_image(Reader& from) {
  fatbin::Image image{.kind = fatbin::EntryKind::kPtx};
  image.arch = static_cast<std::uint32_t>(from.number());
  image.variant = static_cast<fatbin::ArchVariant>(from.number());
  image.payload = from.text();
  image.payload_size = image.payload.size();
  return image;
}

// Of the fat binaries only the PTX, which is all that is taken from them.
std::string encode(const CodeOrigin& origin) {
  Writer to;
  to.number(origin.texts.size());
  for (const std::string& text : origin.texts) {
    to.text(text);
  }
  to.number(origin.units.size());
  for (const fatbin::Container& unit : origin.units) {
    const auto is_ptx = [](const fatbin::Image& image) {
      return image.kind == fatbin::EntryKind::kPtx;
    };
    to.number(static_cast<std::uint64_t>(std::ranges::count_if(unit.images, is_ptx)));
    for (const fatbin::Image& image : unit.images) {
      if (is_ptx(image)) {
        write_image(to, image);
      }
    }
  }
  to.text(origin.gap);
  return to.take();
}

std::optional<CodeOrigin> decode(std::string_view bytes) {
  Reader from(bytes);
  CodeOrigin origin;
  for (std::uint64_t left = from.count(); left != 0; --left) {
    origin.texts.push_back(from.text());
  }
  for (std::uint64_t left = from.count(); left != 0; --left) {
    fatbin::Container& unit = origin.units.emplace_back();
    for (std::uint64_t images = from.count(); images != 0; --images) {
      unit.images.push_back(read_image(from));
    }
  }
  origin.gap = from.text();
  return from.is_whole() ? std::optional(std::move(origin)) : std::nullopt;
}

// The cache of machine code lies in the folder above, and is not used where others may write.
void make_parent(const std::string& folder) {
  std::error_code ignored;
  const fs::path parent = fs::path(folder).parent_path();
  fs::create_directories(parent.parent_path(), ignored);
  (void)::mkdir(parent.c_str(), S_IRWXU);
}

}  // namespace

std::string OriginFiles::folder(const Options& options) {
  if (const std::string cache = cache_folder(options); !cache.empty()) {
    return cache + "/origins";
  }
  const std::string spools = report::run_directory();
  return spools.empty() ? "" : fs::path(spools).parent_path() / "origins";
}

OriginFiles::OriginFiles(std::string folder, std::uint64_t max_bytes)
    : folder_(std::move(folder)), files_(folder_, max_bytes) {}

void OriginFiles::store(const Hash128& code, const CodeOrigin& origin) const {
  if (folder_.empty()) {
    return;
  }
  const std::string text = encode(origin);
  const Expected<std::string> packed = fatbin::compress(text, fatbin::Compression::kZstd);
  if (!packed || text.size() > kMostText) {
    return;
  }
  Writer entry;
  entry.number(text.size());
  make_parent(folder_);
  if (const Expected<void> kept = files_.store(key_of(code), entry.take() + *packed); !kept) {
    log(Folder::kPreload, LogLevel::kInfo, "the PTX of machine code is not kept: %s",
        kept.error().to_string().c_str());
  }
}

std::optional<CodeOrigin> OriginFiles::find(const Hash128& code) const {
  std::optional<std::string> entry = folder_.empty() ? std::nullopt : files_.find(key_of(code));
  if (!entry) {
    return std::nullopt;
  }
  Reader header(*entry);
  const std::uint64_t size = header.number();
  if (size > kMostText || entry->size() < sizeof size) {
    return std::nullopt;
  }
  const std::string_view packed = std::string_view(*entry).substr(sizeof size);
  const Expected<std::string> text =
      fatbin::decompress(std::as_bytes(std::span(packed)), fatbin::Compression::kZstd, size);
  std::optional<CodeOrigin> origin = text ? decode(*text) : std::nullopt;
  if (!origin) {
    files_.remove(key_of(code));
  }
  return origin;
}

}  // namespace barracuda::preload
