#include "preload/code_origins.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/assert.h"

namespace barracuda::preload {
namespace {

// The bytes of an image: up to the end of its header tables, and up to the end of its sections.
struct Extent {
  std::size_t of_tables = 0, of_sections = 0;
};

struct KnownCode {
  std::string bytes;
  Extent extent;
  std::unique_ptr<const session::CodeOrigin> origin;
};

struct KnownCodes {
  std::mutex mutex;
  std::multimap<std::string, KnownCode, std::less<>> by_header;
};

KnownCodes& known_codes() {
  static auto* const instance = new KnownCodes;
  return *instance;
}

// Nothing if it is no such file.
std::optional<Extent> extent_of(std::string_view code) {
  Elf64_Ehdr header;
  if (code.size() < sizeof header) {
    return std::nullopt;
  }
  std::memcpy(&header, code.data(), sizeof header);
  const std::uint64_t sections_end =
      header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  const std::uint64_t segments_end =
      header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize;
  Extent extent;
  extent.of_tables = std::max({sizeof header, sections_end, segments_end});
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > code.size() ||
      extent.of_tables > code.size()) {
    return std::nullopt;
  }
  extent.of_sections = extent.of_tables;
  for (std::size_t index = 0; index < header.e_shnum; ++index) {
    Elf64_Shdr section;
    std::memcpy(&section, code.data() + header.e_shoff + index * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS) {
      extent.of_sections = std::max(extent.of_sections, section.sh_offset + section.sh_size);
    }
  }
  extent.of_sections = std::min(extent.of_sections, code.size());
  return extent;
}

// Where the other image ends is not known: no byte is read before it is known to be there.
bool agrees(const KnownCode& known, const char* image) {
  const auto [tables, sections] = known.extent;
  const char* const bytes = known.bytes.data();
  return std::memcmp(bytes, image, tables) == 0 &&
         std::memcmp(bytes + tables, image + tables, sections - tables) == 0;
}

const KnownCode* find(const KnownCodes& known, const void* start) {
  const auto* const image = static_cast<const char*>(start);
  const auto [first, last] = known.by_header.equal_range({image, sizeof(Elf64_Ehdr)});
  const auto found =
      std::find_if(first, last, [image](const auto& entry) { return agrees(entry.second, image); });
  return found == last ? nullptr : &found->second;
}

}  // namespace

void remember_origin(std::string_view code, session::CodeOrigin origin) {
  const std::optional<Extent> extent = extent_of(code);
  if (!extent) {
    return;
  }
  ASSERT(sizeof(Elf64_Ehdr) <= extent->of_tables && extent->of_tables <= extent->of_sections &&
         extent->of_sections <= code.size());
  KnownCodes& known = known_codes();
  const std::lock_guard lock(known.mutex);
  if (find(known, code.data()) == nullptr) {
    known.by_header.emplace(
        code.substr(0, sizeof(Elf64_Ehdr)),
        KnownCode{.bytes = std::string(code),
                  .extent = *extent,
                  .origin = std::make_unique<const session::CodeOrigin>(std::move(origin))});
  }
}

const session::CodeOrigin* find_origin(const void* cubin) {
  ASSERT(cubin != nullptr);
  KnownCodes& known = known_codes();
  const std::lock_guard lock(known.mutex);
  const KnownCode* const found = find(known, cubin);
  return found == nullptr ? nullptr : found->origin.get();
}

}  // namespace barracuda::preload
