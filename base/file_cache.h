// A folder of entries that are found by a key, bounded in size: what was used longest ago goes
// first. Processes may share it. A damaged entry counts as missing, and so does every entry of a
// folder that cannot be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/expected.h"
#include "base/hash.h"

namespace barracuda {

class FileCache {
 public:
  FileCache(std::string folder, std::uint64_t max_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  [[nodiscard]] std::optional<std::string> find(const Hash128& key) const;

  // An error if it cannot be kept: the folder cannot be written, or the content is larger than all
  // may be.
  [[nodiscard]] Expected<void> store(const Hash128& key, std::string_view content) const;

  void remove(const Hash128& key) const;

 private:
  [[nodiscard]] std::string path_of(const Hash128& key) const;
  void make_room() const;

  std::string folder_;
  std::uint64_t max_bytes_;
};

}  // namespace barracuda
