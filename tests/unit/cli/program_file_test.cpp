#include "cli/program_file.h"

#include <catch2/catch.hpp>

namespace barracuda::cli {
namespace {

TEST_CASE("a program is found where a shell finds it") {
  CHECK(find_program("sh").ends_with("/sh"));
  CHECK(find_program("/bin/sh") == "/bin/sh");
  CHECK(find_program("no-such-program-anywhere").empty());
  CHECK(find_program("/etc/passwd").empty());
}

TEST_CASE("an ordinary program, a script and a missing file give no reason") {
  CHECK(obstacles("sh", true).empty());
  CHECK(obstacles("no-such-program-anywhere", true).empty());
}

}  // namespace
}  // namespace barracuda::cli
