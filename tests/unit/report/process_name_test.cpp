#include "report/process_name.h"

#include <cstdlib>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace barracuda::report {
namespace {

constexpr const char* kVariables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                      "SLURM_PROCID", "RANK"};

TEST_CASE("the rank is the launcher's, and not known without one") {
  for (const char* const variable : kVariables) {
    unsetenv(variable);
  }
  CHECK(rank_of_environment() == Process::kNoRank);
  for (const char* const variable : kVariables) {
    setenv(variable, "17", 1);
    CHECK(rank_of_environment() == 17);
    setenv(variable, "first", 1);
    CHECK(rank_of_environment() == Process::kNoRank);
    unsetenv(variable);
  }
}

TEST_CASE("a process is named by its program and number") {
  const Process process = this_process();
  CHECK(process.program == "barracuda.test.report");
  CHECK(process.pid == getpid());
}

TEST_CASE("processes come by rank, then by number") {
  CHECK(Process{"b", 9, 0} < Process{"a", 3, 1});
  CHECK(Process{"b", 3, 1} < Process{"a", 9, 1});
}

}  // namespace
}  // namespace barracuda::report
