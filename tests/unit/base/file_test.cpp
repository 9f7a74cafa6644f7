#include "base/file.h"

#include <fcntl.h>
#include <filesystem>
#include <string>
#include <system_error>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace barracuda {
namespace {

// A folder of its own for each test, gone at its end.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("barracuda-file-test-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }

  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string file(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// The number that this process has the file open by; -1 if none.
int number_of(const std::string& path) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (std::filesystem::read_symlink(entry, error) == path) {
      return std::stoi(entry.path().filename());
    }
  }
  return -1;
}

TEST_CASE("a file gives back every byte that was written to it") {
  const Folder folder;
  std::string text = "first line\n";
  text += std::string("\0\xff\r\n", 4);
  text += std::string(300'000, 'x');
  REQUIRE(write_file(folder.file("a"), text));
  const auto read = read_file(folder.file("a"));
  REQUIRE(read);
  CHECK(*read == text);
}

TEST_CASE("writing a file replaces what it held") {
  const Folder folder;
  REQUIRE(write_file(folder.file("a"), "a long text"));
  REQUIRE(write_file(folder.file("a"), "short"));
  CHECK(read_file(folder.file("a")) == "short");
  REQUIRE(write_file(folder.file("a"), ""));
  CHECK(read_file(folder.file("a")) == "");
}

TEST_CASE("a file that cannot be opened is an error that names it and says why") {
  const auto read = read_file("/no/such/file");
  REQUIRE_FALSE(read);
  CHECK(read.error().to_string() == "/no/such/file: cannot open: No such file or directory");
  const auto written = write_file("/no/such/file", "text");
  REQUIRE_FALSE(written);
  CHECK(written.error().to_string() ==
        "/no/such/file: cannot open for writing: No such file or directory");
  const auto folder = read_file("/tmp");
  REQUIRE_FALSE(folder);
  CHECK(folder.error().to_string() == "/tmp: cannot read: Is a directory");
}

TEST_CASE("a full disk is an error of the write that says how far it came") {
  const auto written = write_file("/dev/full", "text");
  REQUIRE_FALSE(written);
  CHECK(written.error().to_string() ==
        "/dev/full: cannot write: No space left on device (0 of 4 bytes were written; the file is "
        "incomplete)");
}

TEST_CASE("a mapped file shows the bytes of the file, and moves") {
  const Folder folder;
  REQUIRE(write_file(folder.file("a"), "mapped"));
  auto mapped = MappedFile::open(folder.file("a"));
  REQUIRE(mapped);
  const MappedFile moved = std::move(*mapped);
  REQUIRE(moved.bytes().size() == 6);
  CHECK(moved.bytes()[0] == std::byte{'m'});
  CHECK(mapped->bytes().empty());
}

TEST_CASE("an empty file maps to no bytes, and a folder does not map") {
  const Folder folder;
  REQUIRE(write_file(folder.file("a"), ""));
  const auto empty = MappedFile::open(folder.file("a"));
  REQUIRE(empty);
  CHECK(empty->bytes().empty());
  const auto directory = MappedFile::open("/tmp");
  REQUIRE_FALSE(directory);
  CHECK(directory.error().to_string() == "/tmp: is not a regular file");
}

// A daemon closes every number that it has, and opens its own files.
TEST_CASE("a program that closes the tool's file gets nothing in its own, and the file goes on") {
  const Folder folder;
  auto file = AppendedFile::open(folder.file("report"), AppendedFile::Begin::kEmpty);
  REQUIRE(file);
  REQUIRE(file->append("one\n"));
  const int number = number_of(folder.file("report"));
  REQUIRE(number >= 512);
  const int own = ::open(folder.file("own").c_str(), O_RDWR | O_CREAT, 0666);
  REQUIRE(::dup2(own, number) == number);
  REQUIRE(file->append("two\n"));
  CHECK(read_file(folder.file("own")) == "");
  CHECK(read_file(folder.file("report")) == "one\ntwo\n");
  ::close(number);
  ::close(own);

  ::close(number_of(folder.file("report")));
  REQUIRE(write_file(folder.file("other"), "of somebody else"));
  std::filesystem::rename(folder.file("other"), folder.file("report"));
  const auto appended = file->append("three\n");
  REQUIRE_FALSE(appended);
  CHECK_THAT(appended.error().to_string(), Catch::Contains("report: the program has closed"));
  CHECK(read_file(folder.file("report")) == "of somebody else");
}

TEST_CASE("a file that is open for a moment never has the number of a standard stream") {
  const Folder folder;
  const int kept = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  REQUIRE(kept >= 3);
  ::close(STDERR_FILENO);
  const int number =
      above_standard_streams(::open(folder.file("a").c_str(), O_CREAT | O_WRONLY, 0666));
  const bool is_free = ::fcntl(STDERR_FILENO, F_GETFD) < 0;
  ::dup2(kept, STDERR_FILENO);
  CHECK(number > STDERR_FILENO);
  CHECK(is_free);
  ::close(kept);
  ::close(number);
}

}  // namespace
}  // namespace barracuda
