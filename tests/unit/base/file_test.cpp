#include "base/file.h"

#include <filesystem>
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

}  // namespace
}  // namespace barracuda
