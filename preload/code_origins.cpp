#include "preload/code_origins.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <map>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "base/assert.h"
#include "preload/origin_files.h"
#include "preload/process.h"
#include "preload/triton_cache.h"

namespace barracuda::preload {
namespace {

// More is no image, but a header that lies.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;

struct KnownCodes {
  std::mutex mutex;
  std::map<Hash128, std::unique_ptr<const session::CodeOrigin>> by_digest;
};

KnownCodes& known_codes() {
  static auto* const instance = new KnownCodes;
  return *instance;
}

const OriginFiles& files() {
  static const auto* const instance = new OriginFiles(OriginFiles::folder(process_options()));
  return *instance;
}

// The kernel copies it, and says so where that cannot be.
bool is_readable(const char* start, std::size_t size) {
  const int copy = ::memfd_create("barracuda", MFD_CLOEXEC);
  if (copy < 0) {
    return true;  // as the driver will have it
  }
  std::size_t done = 0;
  while (done < size) {
    const ssize_t written = ::write(copy, start + done, size - done);
    if (written <= 0) {
      break;
    }
    done += static_cast<std::size_t>(written);
  }
  ::close(copy);
  return done == size;
}

// The ends of the header tables, and of the sections, of an image of which `is_there` says up to
// where it may be read. Nothing if it is no such file.
template <typename IsThere>
std::optional<std::size_t> size_of_code(const char* code, const IsThere& is_there) {
  Elf64_Ehdr header;
  if (!is_there(sizeof header)) {
    return std::nullopt;
  }
  std::memcpy(&header, code, sizeof header);
  const std::uint64_t sections = std::uint64_t{header.e_shnum} * header.e_shentsize;
  const std::uint64_t segments = std::uint64_t{header.e_phnum} * header.e_phentsize;
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > kMostBytes ||
      header.e_phoff > kMostBytes) {
    return std::nullopt;
  }
  std::uint64_t end =
      std::max({sizeof header, header.e_shoff + sections, header.e_phoff + segments});
  if (!is_there(end)) {
    return std::nullopt;
  }
  for (std::size_t index = 0; index < header.e_shnum; ++index) {
    Elf64_Shdr section;
    std::memcpy(&section, code + header.e_shoff + index * sizeof section, sizeof section);
    if (section.sh_type == SHT_NOBITS) {
      continue;
    }
    if (section.sh_offset > kMostBytes || section.sh_size > kMostBytes) {
      return std::nullopt;
    }
    end = std::max(end, section.sh_offset + section.sh_size);
  }
  return is_there(end) ? std::optional<std::size_t>(end) : std::nullopt;
}

const session::CodeOrigin* keep(const Hash128& digest, session::CodeOrigin origin) {
  KnownCodes& known = known_codes();
  const std::lock_guard lock(known.mutex);
  auto& kept = known.by_digest[digest];
  if (kept == nullptr) {
    kept = std::make_unique<const session::CodeOrigin>(std::move(origin));
  }
  return kept.get();
}

}  // namespace

std::optional<Hash128> digest_of_code(std::string_view code) {
  const std::optional<std::size_t> size =
      size_of_code(code.begin(), [&](std::uint64_t end) { return end <= code.size(); });
  return size ? std::optional(hash128(code.substr(0, *size))) : std::nullopt;
}

void remember_origin(std::string_view code, session::CodeOrigin origin) {
  if (const std::optional<Hash128> digest = digest_of_code(code)) {
    files().store(*digest, *keep(*digest, std::move(origin)));
  }
}

const session::CodeOrigin* find_origin(const void* cubin) {
  ASSERT(cubin != nullptr);
  const auto* const image = static_cast<const char*>(cubin);
  const std::optional<std::size_t> size =
      size_of_code(image, [image](std::uint64_t end) { return is_readable(image, end); });
  if (!size) {
    return nullptr;
  }
  const std::string_view code(image, *size);
  const Hash128 digest = hash128(code);
  {
    KnownCodes& known = known_codes();
    const std::lock_guard lock(known.mutex);
    if (const auto found = known.by_digest.find(digest); found != known.by_digest.end()) {
      return found->second.get();
    }
  }
  std::optional<session::CodeOrigin> kept = files().find(digest);
  if (!kept) {
    kept = find_in_triton_caches(code);
  }
  return kept ? keep(digest, std::move(*kept)) : nullptr;
}

}  // namespace barracuda::preload
