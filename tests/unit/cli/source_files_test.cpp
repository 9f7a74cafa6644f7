#include "cli/source_files.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "tests/unit/fatbin/nvcc_output.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;
using weak_memory::SourceChanges;
using weak_memory::SourceLines;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "barracuda-sources-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }

  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  ~Folder() { fs::remove_all(path_); }

  [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
    const std::string path = path_ / name;
    REQUIRE(write_file(path, text));
    return path;
  }

  [[nodiscard]] std::string name(const std::string& name) const { return path_ / name; }

  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

SourceChanges changes_of(const std::vector<std::string>& files) {
  SourceChanges changes;
  for (const std::string& file : files) {
    changes.files[file] = {.before = {"old;"}, .after = {"new;", "old;"}};
  }
  return changes;
}

mode_t permissions(const std::string& file) {
  struct stat status{};
  REQUIRE(stat(file.c_str(), &status) == 0);
  constexpr mode_t kPermissions = 07777;
  return status.st_mode & kPermissions;
}

}  // namespace

TEST_CASE("sources are replaced as a whole, keep their permissions, and links stay links") {
  const Folder folder;
  const std::string one = folder.file("one.cu", "old;\n");
  const std::string two = folder.file("two.h", "old;\n");
  REQUIRE(chmod(two.c_str(), 0640) == 0);
  const std::string link = folder.name("link.h");
  fs::create_symlink("two.h", link);
  REQUIRE(replace_sources(changes_of({one, link})));
  CHECK(*read_file(one) == "new;\nold;\n");
  CHECK(*read_file(two) == "new;\nold;\n");
  CHECK(permissions(two) == 0640);
  CHECK(fs::is_symlink(link));
  CHECK(folder.entries() == 3);
}

TEST_CASE(
    "no source is changed where one of them is read-only or gone, not even by the superuser") {
  const Folder folder;
  const std::string one = folder.file("one.cu", "old;\n");
  const std::string two = folder.file("two.h", "old;\n");
  REQUIRE(chmod(two.c_str(), 0444) == 0);
  const auto replaced = replace_sources(changes_of({one, two}));
  REQUIRE_FALSE(replaced);
  CHECK(replaced.error().to_string().find("two.h: is read-only") != std::string::npos);
  CHECK(*read_file(one) == "old;\n");
  CHECK_FALSE(replace_sources(changes_of({one, folder.name("zero.cu")})));
  CHECK(*read_file(one) == "old;\n");
  CHECK(folder.entries() == 2);
}

TEST_CASE("a source is read by lines, and one that is not the user's is not edited") {
  const Folder folder;
  CHECK(*read_source(folder.file("a.cu", "x;\r\n\ny;\n")) == SourceLines{"x;\r", "", "y;"});
  CHECK(read_source(folder.file("b.cu", "x;")).error().message == "its last line has no end");
  CHECK(read_source("/usr/local/cuda/include/cub/cub.cuh").error().message ==
        "is a header of CUDA's");
  CHECK_FALSE(read_source(folder.name("none.cu")));
}

TEST_CASE("a source that has changed since the program was built is told") {
  const Folder folder;
  const std::string source = folder.file("a.cu", "old;\n");
  const std::string program = fatbin::nvcc_output("program_shared");
  const auto built = fs::last_write_time(program);
  fs::last_write_time(source, built + std::chrono::seconds(1));
  CHECK(newer_than_program(changes_of({source}), program) == std::vector{source});
  fs::last_write_time(source, built - std::chrono::seconds(1));
  CHECK(newer_than_program(changes_of({source}), program).empty());
  fs::last_write_time(source, fs::file_time_type::clock::now());
  CHECK(newer_than_program(changes_of({source}), "/bin/sh").empty());
  CHECK(newer_than_program(changes_of({source}), "no-such-program").empty());
}

}  // namespace barracuda::cli
