#include "host_detector/races/lane_run.h"

#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

WarpOperation rows(std::uint64_t base, std::int32_t stride, std::uint8_t row_log2, bool is_told) {
  WarpOperation operation;
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    const std::uint32_t row = lane >> row_log2, column = lane & ((1U << row_log2) - 1);
    operation.lanes[lane].address =
        base + row * 4096 + static_cast<std::uint64_t>(static_cast<std::int64_t>(column) * stride);
  }
  operation.row_log2 = is_told ? row_log2 : 0;
  operation.row_stride = stride;
  return operation;
}

}  // namespace

TEST_CASE("a run is as long as its row, whether the record has rows or not") {
  for (const bool is_told : {true, false}) {
    const WarpOperation tile = rows(kData, 4, 4, is_told);
    CHECK(first_run(tile, kAll, 4).lanes == 0xFFFF);
    CHECK(first_run(tile, kAll, 4).shift == 2);
    CHECK(first_run(tile, 0xFFFF0000, 4).lanes == 0xFFFF0000);
    CHECK(first_run(tile, 0x00F0F0F0, 4).lanes == 0x0000F0F0);
    CHECK(first_run(rows(kData, 4, 5, is_told), kAll, 4).lanes == kAll);
  }
}

TEST_CASE("lanes lie apart by a power of two that has room for an access") {
  const auto run = [](std::uint64_t base, std::int32_t stride, std::uint32_t width) {
    return first_run(rows(base, stride, 5, true), kAll, width);
  };
  CHECK(run(kData, 64, 4).lanes == kAll);
  CHECK(run(kData, 64, 4).shift == 6);
  CHECK(run(kData + 60, 64, 4).lanes == kAll);
  CHECK(run(kData + 62, 64, 4).lanes == 1);
  CHECK(run(kData, 128, 4).lanes == 1);
  CHECK(run(kData, 12, 4).lanes == 1);
  CHECK(run(kData, 4, 8).lanes == 1);
  CHECK(run(kData, -4, 4).lanes == 1);
  CHECK(run(kData, 0, 4).lanes == 1);
  CHECK(first_run(rows(kData, 4, 5, true), 0x80000000, 4).lanes == 0x80000000);
}

TEST_CASE("rows that follow each other upwards are apart") {
  CHECK(are_apart(rows(kData, 4, 4, true), kAll, 4));
  CHECK_FALSE(are_apart(rows(kData, 4, 4, true), kAll, 8));
  CHECK_FALSE(are_apart(rows(kData, 0, 5, true), kAll, 4));
  CHECK_FALSE(are_apart(rows(kData, -4, 5, true), kAll, 4));
}

TEST_CASE("rows whose lanes share an address race with what writes there, lane by lane") {
  Scenario scenario(1, 64);
  const WarpOperation column = rows(kData, 0, 4, true);
  CHECK(first_same_address(column, kAll) == 0xFFFF);
  CHECK(first_same_address(column, 0xFFFF0000) == 0xFFFF0000);
  CHECK(first_same_address(column, 0x00018001) == 0x00008001);
  WarpOperation loads = scenario.start({.mask = kAll}, word(Operation::kRead), RecordKind::kAffine);
  loads.lanes = column.lanes;
  loads.row_log2 = 4;
  scenario.detector.apply(loads);
  scenario.write({.warp = 1}, kData + 4096);
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].first.thread.lane == 16);
}

TEST_CASE("the two rows of a tile race with what overlaps them, lane by lane") {
  Scenario scenario(1, 64);
  WarpOperation tile = rows(kData, 4, 4, true);
  WarpOperation stores =
      scenario.start({.mask = kAll}, word(Operation::kWrite), RecordKind::kAffine);
  stores.lanes = tile.lanes;
  stores.row_log2 = 4;
  stores.row_stride = 4;
  scenario.detector.apply(stores);
  scenario.read({.warp = 1}, kData + 4096 + 3 * 4);
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].first.thread.lane == 19);
}

}  // namespace barracuda::detector::test
