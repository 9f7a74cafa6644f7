#include "session/execution_log.h"

#include <cstdio>

#include <catch2/catch.hpp>

#include "base/file.h"

namespace barracuda::session {

TEST_CASE("the launches of a process are added up") {
  const std::string file = "execution_log_test.log";
  std::remove(file.c_str());
  append_execution_log(file, {.warp_instructions = 10, .fences = 2});
  append_execution_log(file, {.warp_instructions = 7, .fences = 0});
  const auto counts = parse_execution_log(read_file(file).value());
  REQUIRE(counts);
  CHECK(*counts == emulator::ExecutionCounts{.warp_instructions = 17, .fences = 2});
  CHECK(*parse_execution_log("") == emulator::ExecutionCounts{});
}

TEST_CASE("a line of another form is an error") {
  for (const char* const text : {"launch", "launch 3", "launch x warp instructions, 1 fences",
                                 "launch 3 warp instructions, 1 fences more", "\n"}) {
    INFO(text);
    CHECK_FALSE(parse_execution_log(text));
  }
}

}  // namespace barracuda::session
