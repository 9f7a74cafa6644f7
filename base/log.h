// The tool's own messages, with a level per folder, to stderr or a file, never to the program's
// stdout. A message below its folder's level costs one relaxed load; guard costly arguments with
// log_enabled(). Writing allocates nothing and sends one line with one system call, so that it may
// be called inside a guest process, from any thread, also before main and in a forked child.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/expected.h"

namespace barracuda {

enum class LogLevel : std::uint8_t { kOff, kError, kWarning, kInfo, kDebug };

enum class Folder : std::uint8_t {
  kBase,
  kDeviceLogger,
  kFatbin,
  kPtx,
  kHostDetector,
  kEmulator,
  kReport,
  kTrace,
  kSession,
  kJit,
  kPreload,
  kWeakMemory,
  kCli,
};
inline constexpr std::size_t kFolderCount = 13;

std::string_view name_of(Folder folder) noexcept;
std::string_view name_of(LogLevel level) noexcept;

// Each folder's level; warnings are written unless said otherwise.
struct LogLevels {
  std::array<LogLevel, kFolderCount> of_folder{};

  LogLevels() noexcept { of_folder.fill(LogLevel::kWarning); }

  LogLevel& operator[](Folder folder) noexcept {
    return of_folder[static_cast<std::size_t>(folder)];
  }
};

// The option `log`: "preload/debug,session/info"; "debug" alone is every folder's level.
Expected<LogLevels> parse_log_levels(std::string_view text);
void set_log_levels(const LogLevels& levels) noexcept;

// Appends to this file from now on; an empty path is stderr. On an error it stays as it was.
Expected<void> set_log_file(const std::string& path);

bool log_enabled(Folder folder, LogLevel level) noexcept;

// One line, "BARRACUDA[process] folder level: message", cut at 2000 characters.
void log(Folder folder, LogLevel level, const char* format, ...) noexcept
    __attribute__((format(printf, 3, 4)));

}  // namespace barracuda
