#include "preload/code_origins.h"

#include <algorithm>
#include <elf.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace barracuda::preload {
namespace {

struct KnownCode {
  std::string bytes;
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

// Byte by byte: where the other image ends is not known.
const KnownCode* find(const KnownCodes& known, const char* image) {
  const auto [first, last] = known.by_header.equal_range({image, sizeof(Elf64_Ehdr)});
  const auto found = std::find_if(first, last, [image](const auto& entry) {
    const std::string& bytes = entry.second.bytes;
    return std::equal(bytes.begin(), bytes.end(), image);
  });
  return found == last ? nullptr : &found->second;
}

}  // namespace

void remember_origin(std::string_view code, session::CodeOrigin origin) {
  if (code.size() < sizeof(Elf64_Ehdr)) {
    return;
  }
  KnownCodes& known = known_codes();
  const std::lock_guard lock(known.mutex);
  if (find(known, code.data()) == nullptr) {
    known.by_header.emplace(
        code.substr(0, sizeof(Elf64_Ehdr)),
        KnownCode{std::string(code),
                  std::make_unique<const session::CodeOrigin>(std::move(origin))});
  }
}

const session::CodeOrigin* find_origin(const void* cubin) {
  KnownCodes& known = known_codes();
  const std::lock_guard lock(known.mutex);
  const KnownCode* const found = find(known, static_cast<const char*>(cubin));
  return found == nullptr ? nullptr : found->origin.get();
}

}  // namespace barracuda::preload
