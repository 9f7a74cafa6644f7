#include "cli/environment.h"

#include <catch2/catch.hpp>

namespace barracuda::cli {
namespace {

ToolEnvironment tool() {
  ToolEnvironment tool;
  tool.preload = {"/opt/lib/libbarracuda.so"};
  tool.run_directory = "/tmp/r/reports";
  return tool;
}

TEST_CASE("the tool is added to what the program has") {
  const std::vector<std::string> current = {"HOME=/root", "LD_PRELOAD=/usr/lib/other.so"};
  const auto environment = child_environment(current, tool());
  CHECK(value_of(environment, "HOME") == "/root");
  CHECK(value_of(environment, "LD_PRELOAD") == "/opt/lib/libbarracuda.so:/usr/lib/other.so");
  CHECK(value_of(environment, "BARRACUDA_RUN_DIRECTORY") == "/tmp/r/reports");
  CHECK(value_of(environment, "LD_LIBRARY_PATH").empty());
}

TEST_CASE("a sanitizer's runtime comes before the library") {
  ToolEnvironment with = tool();
  with.preload = {"libasan.so.8", "/opt/lib/libbarracuda.so"};
  CHECK(value_of(child_environment({}, with), "LD_PRELOAD") ==
        "libasan.so.8:/opt/lib/libbarracuda.so");
}

TEST_CASE("the links of the emulated device go first on the library path") {
  ToolEnvironment with = tool();
  with.library_folder = "/tmp/r/lib";
  CHECK(value_of(child_environment({}, with), "LD_LIBRARY_PATH") == "/tmp/r/lib");
  const std::vector<std::string> current = {"LD_LIBRARY_PATH=/usr/local/cuda/lib64"};
  CHECK(value_of(child_environment(current, with), "LD_LIBRARY_PATH") ==
        "/tmp/r/lib:/usr/local/cuda/lib64");
}

TEST_CASE("options reach the program in one variable, also with a colon in a value") {
  ToolEnvironment with = tool();
  with.options.seed = 7;
  with.options.json = "a:b.json";
  const std::vector<std::string> current = {"BARRACUDA_OPTIONS=strict=1"};
  const auto environment = child_environment(current, with);
  Options options;
  REQUIRE(parse_options(options, value_of(environment, "BARRACUDA_OPTIONS")).has_value());
  CHECK(options.seed == 7U);
  CHECK(options.json == "a:b.json");
  CHECK_FALSE(options.strict);  // replaced: `run` has merged what was there
}

TEST_CASE("a variable is found by its whole name") {
  const std::vector<std::string> environment = {"PATHS=1", "PATH=2", "EMPTY="};
  CHECK(value_of(environment, "PATH") == "2");
  CHECK(value_of(environment, "EMPTY").empty());
  CHECK(value_of(environment, "PAT").empty());
}

}  // namespace
}  // namespace barracuda::cli
