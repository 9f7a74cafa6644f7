#include "base/log.h"

#include <cerrno>
#include <filesystem>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/file.h"

namespace barracuda {
namespace {

// Sends the log to a file and, at its end, back to where it was.
class CapturedLog {
 public:
  CapturedLog() { REQUIRE(set_log_file(path_)); }

  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  ~CapturedLog() {
    set_log_file("");
    set_log_levels(LogLevels{});
    std::filesystem::remove(path_);
  }

  [[nodiscard]] std::string text() const { return read_file(path_).value(); }

 private:
  std::string path_ =
      std::filesystem::temp_directory_path() / ("barracuda-log-test-" + std::to_string(::getpid()));
};

std::string prefix() {
  return "BARRACUDA[" + std::to_string(::getpid()) + "] ";
}

TEST_CASE("warnings are logged unless said otherwise, less is not") {
  const CapturedLog captured;
  log(Folder::kPtx, LogLevel::kWarning, "%d kernels of %s", 3, "a.cu");
  log(Folder::kPtx, LogLevel::kInfo, "not written");
  CHECK(captured.text() == prefix() + "ptx warning: 3 kernels of a.cu\n");
}

TEST_CASE("a folder's level says what that folder logs and no other") {
  const CapturedLog captured;
  set_log_levels(parse_log_levels("preload/debug,session/off").value());
  CHECK(log_enabled(Folder::kPreload, LogLevel::kDebug));
  CHECK_FALSE(log_enabled(Folder::kCli, LogLevel::kInfo));
  CHECK_FALSE(log_enabled(Folder::kSession, LogLevel::kError));
  log(Folder::kPreload, LogLevel::kDebug, "one");
  log(Folder::kSession, LogLevel::kError, "two");
  log(Folder::kCli, LogLevel::kError, "three");
  CHECK(captured.text() == prefix() + "preload debug: one\n" + prefix() + "cli error: three\n");
}

TEST_CASE("a level without a folder is every folder's, and a later one wins") {
  const auto levels = parse_log_levels("debug,ptx/error").value();
  for (std::size_t folder = 0; folder < kFolderCount; ++folder) {
    const bool is_ptx = static_cast<Folder>(folder) == Folder::kPtx;
    CHECK(levels.of_folder[folder] == (is_ptx ? LogLevel::kError : LogLevel::kDebug));
  }
}

TEST_CASE("every folder and every level is known by its name") {
  for (std::size_t folder = 0; folder < kFolderCount; ++folder) {
    for (const LogLevel level : {LogLevel::kOff, LogLevel::kError, LogLevel::kWarning,
                                 LogLevel::kInfo, LogLevel::kDebug}) {
      const std::string text =
          std::string(name_of(static_cast<Folder>(folder))) + "/" + std::string(name_of(level));
      const auto levels = parse_log_levels(text);
      REQUIRE(levels);
      CHECK(levels->of_folder[folder] == level);
    }
  }
}

TEST_CASE("every folder of the tree that is built as a part of the tool has a level") {
  std::size_t folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(BARRACUDA_SOURCE_DIR)) {
    const std::string name = entry.path().filename();
    const auto script = read_file(entry.path() / "CMakeLists.txt");
    if (name == "cmake" || !script ||
        (script->find("barracuda_folder(") == std::string::npos &&
         script->find("add_library(barracuda SHARED") == std::string::npos)) {
      continue;
    }
    CHECK(parse_log_levels(name + "/debug"));
    ++folders;
  }
  CHECK(folders == kFolderCount);
}

TEST_CASE("an unknown folder or level is an error that lists the known ones") {
  const auto folder = parse_log_levels("preloaded/debug");
  REQUIRE_FALSE(folder);
  CHECK_THAT(folder.error().message,
             Catch::StartsWith("unknown folder 'preloaded'") && Catch::Contains("host_detector"));
  const auto level = parse_log_levels("preload/loud");
  REQUIRE_FALSE(level);
  CHECK(level.error().message ==
        "unknown log level 'loud'; the levels are off, error, warning, info, debug");
}

TEST_CASE("a message is one line, cut where it is too long, and leaves errno alone") {
  const CapturedLog captured;
  errno = ENOENT;
  log(Folder::kBase, LogLevel::kError, "%s", std::string(5000, 'x').c_str());
  CHECK(errno == ENOENT);
  const std::string text = captured.text();
  CHECK(text.size() == 2000);
  CHECK(text.find('\n') == text.size() - 1);
}

TEST_CASE("a log file that cannot be opened leaves the log where it was") {
  const CapturedLog captured;
  REQUIRE_FALSE(set_log_file("/no/such/folder/log"));
  log(Folder::kBase, LogLevel::kError, "still here");
  CHECK_THAT(captured.text(), Catch::EndsWith("still here\n"));
}

}  // namespace
}  // namespace barracuda
