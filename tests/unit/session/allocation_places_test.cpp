#include "session/allocation_places.h"

#include <catch2/catch.hpp>

namespace barracuda::session {
namespace {

report::RunData run_with_race_at(std::uint64_t address) {
  report::RunData run;
  detector::RaceEvent race;
  race.first.space = race.second.space = wire::AddressSpace::kGlobal;
  race.first.address = race.second.address = address;
  run.findings.races.push_back(race);
  run.allocations = {
      {.address = 0x10000, .bytes = 64, .description = "cudaMalloc", .freed = true},
      {.address = 0x10000, .bytes = 64, .description = "cudaMalloc", .freed = false},
      {.address = 0x90000, .bytes = 64, .description = "cudaMalloc", .freed = false},
      {.address = 0xa0000, .bytes = 64, .description = "cudaMalloc", .freed = false}};
  return run;
}

}  // namespace

TEST_CASE("of the allocations that a finding is in it is known who made the newest") {
  AllocationPlaces places;
  for (const std::uint64_t address : {0x10000, 0x90000}) {
    places.note(address);
  }
  report::RunData run = run_with_race_at(0x10004);
  places.describe(run);
  CHECK(run.allocations[0].description == "cudaMalloc");
  // By whom is the matter of report/host_stack.h, for which the tool and the program are two
  // modules.
  CHECK_THAT(run.allocations[1].description, Catch::StartsWith("cudaMalloc from "));
  CHECK(run.allocations[2].description == "cudaMalloc");

  run = run_with_race_at(0xa0000);  // nobody noted it
  places.describe(run);
  CHECK(run.allocations[3].description == "cudaMalloc");
}

}  // namespace barracuda::session
