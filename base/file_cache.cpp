#include "base/file_cache.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/cache_folder.h"
#include "base/file.h"
#include "base/size_limit_signal.h"

namespace barracuda {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEntrySuffix = ".entry";
constexpr std::string_view kUnfinishedPrefix = "unfinished.";
constexpr std::chrono::hours kLongestWrite{1};

// Before the content of each entry. It knows its key: files may be renamed.
struct Header {
  std::array<char, 8> magic{'B', 'A', 'R', 'R', 'C', 'A', 'C', '1'};
  std::uint64_t bytes = 0;
  Hash128 key;
  Hash128 hash;
};

static_assert(sizeof(Header) == 48 && offsetof(Header, bytes) == 8 && offsetof(Header, key) == 16 &&
                  offsetof(Header, hash) == 32,
              "an entry's header has no gaps: it is written and compared as bytes");

Header header_of(const Hash128& key, std::string_view content) {
  return {.bytes = content.size(), .key = key, .hash = hash128(content)};
}

bool is_whole(const Hash128& key, std::string_view entry) {
  if (entry.size() < sizeof(Header)) {
    return false;
  }
  const Header expected = header_of(key, entry.substr(sizeof(Header)));
  return std::memcmp(entry.data(), &expected, sizeof expected) == 0;
}

// The folder may be the user's own, with other files in it.
bool is_name_of_entry(std::string_view name) {
  constexpr std::size_t kDigits = 32;
  return name.size() == kDigits + kEntrySuffix.size() && name.ends_with(kEntrySuffix) &&
         name.find_first_not_of("0123456789abcdef") == kDigits;
}

Diagnostic not_kept(const std::string& folder, const std::string& why) {
  return {.message = folder + ": " + why};
}

}  // namespace

std::string FileCache::path_of(const Hash128& key) const {
  return folder_ + "/" + key.hex() + std::string(kEntrySuffix);
}

std::optional<std::string> FileCache::find(const Hash128& key) const {
  const std::string path = path_of(key);
  std::error_code ignored;
  if (!is_private_folder(folder_) || !fs::is_regular_file(path, ignored)) {
    return std::nullopt;
  }
  Expected<std::string> entry = read_file(path);
  if (!entry) {
    return std::nullopt;
  }
  if (!is_whole(key, *entry)) {
    fs::remove(path, ignored);
    return std::nullopt;
  }
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  entry->erase(0, sizeof(Header));
  return std::move(*entry);
}

// A half-written file has a name that is never looked up.
Expected<void> FileCache::store(const Hash128& key, std::string_view content) const {
  if (sizeof(Header) + content.size() > max_bytes_) {
    return unexpected(not_kept(folder_, "an entry of " + std::to_string(content.size()) +
                                            " bytes is more than may be kept"));
  }
  const SizeLimitSignalBlocked no_signal;
  std::error_code error;
  fs::create_directories(fs::path(folder_).parent_path(), error);
  if (::mkdir(folder_.c_str(), S_IRWXU) != 0 && errno == EEXIST && !is_private_folder(folder_)) {
    return unexpected(not_kept(folder_, "others may write there"));
  }
  std::string made = folder_ + "/" + std::string(kUnfinishedPrefix) + "XXXXXX";
  const int file = ::mkstemp(made.data());
  if (file < 0) {
    return unexpected(not_kept(folder_, std::generic_category().message(errno)));
  }
  ::close(file);
  const Header header = header_of(key, content);
  std::string entry(reinterpret_cast<const char*>(&header), sizeof header);
  entry.append(content);
  Expected<void> written = write_file(made, entry);
  if (written) {
    fs::rename(made, path_of(key), error);
    if (error) {
      written = unexpected(not_kept(folder_, error.message()));
    }
  }
  if (!written) {
    fs::remove(made, error);
    return written;
  }
  make_room();
  return {};
}

void FileCache::remove(const Hash128& key) const {
  std::error_code ignored;
  fs::remove(path_of(key), ignored);
}

void FileCache::make_room() const {
  struct File {
    fs::file_time_type used;
    fs::path path;
    std::uint64_t bytes = 0;
  };

  std::vector<File> files;
  std::uint64_t total = 0;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator each(folder_, error), end; !error && each != end;
       each.increment(error)) {
    const std::string name = each->path().filename().string();
    const bool is_unfinished = name.starts_with(kUnfinishedPrefix);
    if (!is_unfinished && !is_name_of_entry(name)) {
      continue;
    }
    std::error_code gone;  // another process makes room as well
    const File file{
        .used = each->last_write_time(gone), .path = each->path(), .bytes = each->file_size(gone)};
    if (gone) {
      continue;
    }
    if (!is_unfinished) {
      total += file.bytes;
      files.push_back(file);
    } else if (now - file.used > kLongestWrite) {  // its writer was killed
      fs::remove(file.path, gone);
    }
  }
  std::ranges::sort(files, {}, &File::used);
  for (const File& file : files) {
    if (total <= max_bytes_) {
      return;
    }
    fs::remove(file.path, error);
    total -= file.bytes;
  }
}

}  // namespace barracuda
