#include "cli/version.h"

#include <regex>
#include <variant>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "cli/arguments.h"
#include "tests/unit/cli/shell.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::cli {
namespace {

// What the build would compile.
std::string commit_of(const std::string& sources, const std::string& output,
                      const std::string& told = "") {
  const ShellResult result =
      shell("cmake -D COMMIT='" + told + "' -D SOURCES='" + sources + "' -D OUTPUT='" + output +
            "' -P '" BARRACUDA_SOURCE_DIR "/cmake/write_commit.cmake'");
  REQUIRE(result.status == 0);
  return *read_file(output);
}

TEST_CASE("the version names the commit and the versions of CUDA, for every way to ask") {
  const std::string text = version_text();
  CHECK(std::regex_match(text, std::regex("barracuda \\d+\\.\\d+\\.\\d+\n"
                                          "commit (unknown|[\\w.+-]+)\n"
                                          "built with CUDA 13\\.\\d+\\.\\d+, (without a )?PTX "
                                          "compiler( 13\\.\\d+\\.\\d+)?\n"
                                          "for programs of CUDA 11, 12 and 13; [^\n]*\n")));
  for (const char* const word : {"version", "--version", "-V"}) {
    CHECK(std::get<Message>(parse_arguments({word}, "")).text == text);
  }
}

TEST_CASE("the commit is what CMake was told, or git's, or unknown") {
  const ScratchFolder folder;
  const std::string output = folder / "commit.h";
  CHECK(commit_of(folder / "", output) == "#define BARRACUDA_COMMIT \"unknown\"\n");
  CHECK(commit_of(folder / "", output, "v0.1.0") == "#define BARRACUDA_COMMIT \"v0.1.0\"\n");
  const std::string git = "git -c user.name=a -c user.email=a@b -C '" + (folder / "") + "' ";
  if (shell("git --version").status != 0) {
    return;
  }
  REQUIRE(shell(git + "init && " + git + "commit --allow-empty -m first").status == 0);
  const std::string head = shell(git + "rev-parse HEAD").output.substr(0, 12);
  CHECK(commit_of(folder / "", output) == "#define BARRACUDA_COMMIT \"" + head + "\"\n");
  CHECK(commit_of(folder / "", output, "told") == "#define BARRACUDA_COMMIT \"told\"\n");
  REQUIRE(shell("echo 1 >'" + (folder / "file") + "' && " + git + "add file").status == 0);
  CHECK(commit_of(folder / "", output) == "#define BARRACUDA_COMMIT \"" + head + "+\"\n");
}

TEST_CASE("what is written again is the same file") {
  const ScratchFolder folder;
  const std::string output = folder / "commit.h";
  commit_of(folder / "", output, "told");
  REQUIRE(shell("touch -d @1000000 '" + output + "'").status == 0);
  commit_of(folder / "", output, "told");
  CHECK(shell("stat -c %Y '" + output + "'").output == "1000000\n");
}

}  // namespace
}  // namespace barracuda::cli
