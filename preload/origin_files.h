// What machine code was made of, on disk: for other processes of the program's, and for later runs,
// in which a cache of the program's own brings the code back. Entries are found by a digest of the
// code. Never fails loudly: what cannot be kept or read is not there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/file_cache.h"
#include "base/hash.h"
#include "base/options.h"
#include "session/program_image.h"

namespace barracuda::preload {

class OriginFiles {
 public:
  // Texts, compressed: of some ten thousand kernels.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;

  // In a folder beside the cache of machine code, or, where nothing is to be kept, in that of the
  // run. An empty name: nowhere.
  static std::string folder(const Options& options);

  explicit OriginFiles(std::string folder, std::uint64_t max_bytes = kMostBytes);

  void store(const Hash128& code, const session::CodeOrigin& origin) const;
  [[nodiscard]] std::optional<session::CodeOrigin> find(const Hash128& code) const;

 private:
  std::string folder_;
  FileCache files_;
};

}  // namespace barracuda::preload
