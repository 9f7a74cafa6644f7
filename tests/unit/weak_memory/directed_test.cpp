#include "weak_memory/store_buffer/directed.h"

#include <catch2/catch.hpp>

namespace barracuda::weak_memory {
namespace {

report::Access access(report::AccessOperation operation, std::uint32_t line) {
  report::Access access;
  access.operation = operation;
  access.place = {.function = "f()", .file = "f.cu", .line = line};
  return access;
}

report::Finding race(report::AccessOperation first, report::AccessOperation second) {
  report::Finding finding;
  finding.accesses = {access(first, 3), access(second, 9)};
  return finding;
}

using report::AccessOperation;

}  // namespace

TEST_CASE("a write is delayed and a read made stale, in turns") {
  const auto runs = directed_runs(race(AccessOperation::kRead, AccessOperation::kWrite),
                                  {.count = 4, .first_seed = 7, .stores_only = false});
  REQUIRE(runs.size() == 4);
  CHECK(runs[0].seed == 7);
  CHECK(runs[0].weakness.stores == 1);
  CHECK(runs[0].weakness.stale_reads == 0);
  CHECK(runs[0].weakness.places == std::vector<emulator::CodePlace>{{.file = "f.cu", .line = 9}});
  CHECK(runs[1].seed == 8);
  CHECK(runs[1].weakness.stores == 0);
  CHECK(runs[1].weakness.stale_reads == 0.75);
  CHECK(runs[1].weakness.places == std::vector<emulator::CodePlace>{{.file = "f.cu", .line = 3}});
  CHECK(runs[2].weakness == runs[0].weakness);
}

TEST_CASE("with stores alone no read is stale; two writes are both delayed") {
  const auto runs = directed_runs(race(AccessOperation::kWrite, AccessOperation::kWrite),
                                  {.count = 3, .first_seed = 1, .stores_only = true});
  REQUIRE(runs.size() == 3);
  CHECK(runs[2].weakness.places.size() == 2);
  CHECK(runs[2].weakness.stale_reads == 0);
  const auto atomics = race(AccessOperation::kRead, AccessOperation::kAtomic);
  CHECK(directed_runs(atomics, {.count = 3, .first_seed = 1, .stores_only = true}).empty());
}

TEST_CASE("an access of the host and one without a line cannot be directed") {
  auto finding = race(AccessOperation::kWrite, AccessOperation::kRead);
  CHECK(can_direct(finding));
  finding.accesses[1].is_by_host = true;
  CHECK(!can_direct(finding));
  finding = race(AccessOperation::kWrite, AccessOperation::kWrite);
  finding.accesses[0].place.line = finding.accesses[1].place.line = 0;
  CHECK(!can_direct(finding));
  finding.type = report::FindingType::kBarrierDivergence;
  CHECK(!can_direct(finding));
}

TEST_CASE("a line of a header is meant beside the user's own") {
  auto finding = race(AccessOperation::kWrite, AccessOperation::kRead);
  finding.accesses[0].inlined = {{.function = "store", .file = "header.h", .line = 5},
                                 finding.accesses[0].place};
  const auto runs = directed_runs(finding, {.count = 1, .first_seed = 1, .stores_only = false});
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].weakness.places.size() == 2);
}

}  // namespace barracuda::weak_memory
