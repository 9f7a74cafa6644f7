#include "base/log.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <unistd.h>

#include "base/assert.h"

namespace barracuda {
namespace {

constexpr std::array<std::string_view, kFolderCount> kFolderNames = {
    "base",  "device_logger", "fatbin", "ptx",     "host_detector", "emulator", "report",
    "trace", "session",       "jit",    "preload", "weak_memory",   "cli"};
constexpr std::array<std::string_view, 5> kLevelNames = {"off", "error", "warning", "info",
                                                         "debug"};
constexpr std::size_t kLineLimit = 2000;

constexpr unsigned kBitsPerLevel = 4;
static_assert(kFolderCount * kBitsPerLevel <= 64, "every folder's level fits into one word");
static_assert(kLevelNames.size() <= 1U << kBitsPerLevel);
static_assert(static_cast<std::size_t>(Folder::kCli) + 1 == kFolderCount);
static_assert(static_cast<std::size_t>(LogLevel::kDebug) + 1 == kLevelNames.size());
static_assert(!kFolderNames.back().empty(), "every folder has a name");

// A level includes what is written at those of less verbosity.
constexpr unsigned verbosity_of(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::kOff:
      return 0;
    case LogLevel::kError:
      return 1;
    case LogLevel::kWarning:
      return 2;
    case LogLevel::kInfo:
      return 3;
    case LogLevel::kDebug:
      return 4;
  }
  return 0;
}

constexpr bool includes(LogLevel set, LogLevel level) noexcept {
  return verbosity_of(set) >= verbosity_of(level);
}

constexpr std::uint64_t pack(const std::array<LogLevel, kFolderCount>& levels) noexcept {
  std::uint64_t word = 0;
  for (std::size_t folder = 0; folder < kFolderCount; ++folder) {
    word |= std::uint64_t{static_cast<std::uint8_t>(levels[folder])} << (folder * kBitsPerLevel);
  }
  return word;
}

constexpr std::uint64_t all_at(LogLevel level) noexcept {
  std::array<LogLevel, kFolderCount> levels{};
  levels.fill(level);
  return pack(levels);
}

// Constant-initialised: a hook may log before any constructor of ours has run.
constinit std::atomic<std::uint64_t> g_levels = all_at(LogLevel::kWarning);
constinit std::atomic<int> g_descriptor = STDERR_FILENO;

template <typename Enum, std::size_t Count>
bool find_name(const std::array<std::string_view, Count>& names, std::string_view name,
               Enum& found) {
  const auto* const position = std::find(names.begin(), names.end(), name);
  if (position == names.end()) {
    return false;
  }
  found = static_cast<Enum>(std::distance(names.begin(), position));
  return true;
}

template <std::size_t Count>
std::string list_of(const std::array<std::string_view, Count>& names) {
  std::string text;
  for (const std::string_view name : names) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

Expected<void> parse_item(std::string_view item, LogLevels& levels) {
  const std::size_t slash = item.find('/');
  const std::string_view level_name = slash == item.npos ? item : item.substr(slash + 1);
  LogLevel level{};
  if (!find_name(kLevelNames, level_name, level)) {
    return unexpected({.message = "unknown log level '" + std::string(level_name) +
                                  "'; the levels are " + list_of(kLevelNames)});
  }
  if (slash == item.npos) {
    levels.of_folder.fill(level);
    return {};
  }
  Folder folder{};
  if (!find_name(kFolderNames, item.substr(0, slash), folder)) {
    return unexpected({.message = "unknown folder '" + std::string(item.substr(0, slash)) +
                                  "' in the log levels; the folders are " + list_of(kFolderNames)});
  }
  levels[folder] = level;
  return {};
}

}  // namespace

std::string_view name_of(Folder folder) noexcept {
  const auto index = static_cast<std::size_t>(folder);
  ASSERT(index < kFolderCount);
  return kFolderNames[index];
}

std::string_view name_of(LogLevel level) noexcept {
  const auto index = static_cast<std::size_t>(level);
  ASSERT(index < kLevelNames.size());
  return kLevelNames[index];
}

Expected<LogLevels> parse_log_levels(std::string_view text) {
  LogLevels levels;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (auto item = parse_item(text.substr(0, comma), levels); !item) {
      return unexpected(std::move(item).error());
    }
    text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
  }
  return levels;
}

void set_log_levels(const LogLevels& levels) noexcept {
  g_levels.store(pack(levels.of_folder), std::memory_order_relaxed);
}

Expected<void> set_log_file(const std::string& path) {
  int descriptor = STDERR_FILENO;
  if (!path.empty()) {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      return unexpected(
          {.message = std::string("cannot open the log file: ") + std::strerror(errno),
           .file = path});
    }
  }
  // The file before this one stays open: another thread may be about to write to it.
  g_descriptor.store(descriptor, std::memory_order_release);
  return {};
}

bool log_enabled(Folder folder, LogLevel level) noexcept {
  const std::uint64_t word = g_levels.load(std::memory_order_relaxed);
  const auto shift = static_cast<unsigned>(folder) * kBitsPerLevel;
  return includes(static_cast<LogLevel>((word >> shift) & ((1U << kBitsPerLevel) - 1)), level);
}

void log(Folder folder, LogLevel level, const char* format, ...) noexcept {
  if (level == LogLevel::kOff || !log_enabled(folder, level)) {
    return;
  }
  const int saved_errno = errno;
  char line[kLineLimit + 1];
  const std::string_view folder_name = name_of(folder);
  const std::string_view level_name = name_of(level);
  const int prefix =
      std::snprintf(line, sizeof line, "BARRACUDA[%d] %.*s %.*s: ", static_cast<int>(::getpid()),
                    static_cast<int>(folder_name.size()), folder_name.data(),
                    static_cast<int>(level_name.size()), level_name.data());
  auto length = static_cast<std::size_t>(prefix);
  std::va_list arguments;
  va_start(arguments, format);
  const int message = std::vsnprintf(line + length, sizeof line - length, format, arguments);
  va_end(arguments);
  length = std::min(length + static_cast<std::size_t>(std::max(message, 0)), kLineLimit - 1);
  line[length++] = '\n';
  // A line that cannot be written has nowhere else to go.
  [[maybe_unused]] const ssize_t written =
      ::write(g_descriptor.load(std::memory_order_acquire), line, length);
  errno = saved_errno;
}

}  // namespace barracuda
