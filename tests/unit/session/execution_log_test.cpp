#include "session/execution_log.h"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::session {

TEST_CASE("the launches of a process are added up") {
  const ScratchFolder folder;
  const std::string file = folder / "execution.log";
  append_execution_log(file, {.warp_instructions = 10, .fences = 2});
  append_execution_log(file, {.warp_instructions = 7, .fences = 0});
  const auto log = parse_execution_log(read_file(file).value());
  REQUIRE(log);
  CHECK(log->counts == emulator::ExecutionCounts{.warp_instructions = 17, .fences = 2});
  CHECK(log->time == KernelTime{});
  CHECK(*parse_execution_log("") == ExecutionLog{});
}

TEST_CASE(
    "what kernels take on a GPU is read as it was written, with energy or why there is none") {
  for (const std::optional<std::uint64_t> energy : {std::optional<std::uint64_t>(1234), {}}) {
    const ScratchFolder folder;
    const std::string file = folder / "execution.log";
    const KernelTime time{.launches = 3,
                          .nanoseconds = 4567,
                          .millijoules = energy,
                          .no_energy = energy ? "" : "12 ms are too short for NVML's counter"};
    append_execution_log(file, time);
    const auto log = parse_execution_log(read_file(file).value());
    REQUIRE(log);
    CHECK(log->time == time);
    CHECK(log->counts == emulator::ExecutionCounts{});
  }
}

TEST_CASE("a line of another form is an error") {
  for (const char* const text :
       {"launch", "launch 3", "launch x warp instructions, 1 fences",
        "launch 3 warp instructions, 1 fences more", "\n", "timed 3 launches",
        "timed 3 launches, x nanoseconds", "energy 3", "energy x millijoules"}) {
    INFO(text);
    CHECK_FALSE(parse_execution_log(text));
  }
}

}  // namespace barracuda::session
