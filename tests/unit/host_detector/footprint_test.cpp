#include "host_detector/races/footprint.h"

#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include "host_detector/races/conflict.h"
#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

const CtaKey kHome(LaunchId{1}, 0);

WarpState new_warp() {
  return {kHome, 0, kAll, Clock(kHome)};
}

Piece pattern(std::uint8_t flags) {
  Piece piece;
  piece.cell.cta = kHome;
  piece.cell.time = 1;
  piece.cell.flags = flags;
  piece.kind = flags == Cell::kReads ? SharedAccessKind::kReads : SharedAccessKind::kNone;
  return piece;
}

WarpOperation lanes_at(RecordKind kind, const std::vector<std::uint64_t>& addresses) {
  WarpOperation operation;
  operation.kind = kind;
  for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
    operation.lanes[lane].address = addresses[lane];
  }
  return operation;
}

Footprint footprint(const WarpOperation& operation, const SiteInfo& site, std::uint32_t lanes,
                    std::uint8_t flags) {
  const WarpState warp = new_warp();
  return LaneAccesses(operation, site, warp, lanes, false).footprint(pattern(flags));
}

LaneLayout layout(const WarpOperation& operation, const SiteInfo& site, std::uint32_t lanes) {
  const WarpState warp = new_warp();
  return LaneAccesses(operation, site, warp, lanes, false).layout();
}

}  // namespace

TEST_CASE("lanes side by side are one piece in each block") {
  std::vector<std::uint64_t> addresses;
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    addresses.push_back(kData + 64 + lane * 4);
  }
  const WarpOperation operation = lanes_at(RecordKind::kScattered, addresses);
  const SiteInfo load = word(Operation::kRead);
  REQUIRE(layout(operation, load, kAll) == LaneLayout::kRun);
  const Footprint pieces = footprint(operation, load, kAll, Cell::kReads);
  REQUIRE(pieces.size() == 2);
  CHECK(pieces[0].tagged == kData + 64);
  CHECK(pieces[0].lanes == 0xFFFF);
  CHECK(pieces[0].cell.bytes == Bytes::range(64, 64));
  CHECK(pieces[0].cell.lanes_at(64) == 1);
  CHECK(pieces[0].cell.lanes_at(127) == 1U << 15);
  CHECK(pieces[1].tagged == kData + 128);
  CHECK(pieces[1].lanes == 0xFFFF0000);
  CHECK(pieces[1].cell.bytes == Bytes::range(0, 64));
  CHECK(pieces[1].cell.lanes_at(0) == 1U << 16);
}

TEST_CASE("what a record says of its first lane alone is enough for one run only") {
  WarpOperation operation;
  operation.kind = RecordKind::kAffine;
  operation.has_all_lanes = false;
  operation.row_log2 = 5;
  operation.row_stride = 4;
  operation.lanes[0].address = kData;
  const SiteInfo load = word(Operation::kRead);
  CHECK(layout(operation, load, kAll) == LaneLayout::kRun);
  CHECK(footprint(operation, load, kAll, Cell::kReads).size() == 1);
  operation.row_stride = 12;
  CHECK(layout(operation, load, kAll) == LaneLayout::kUnknown);
}

TEST_CASE("lanes at one address share a piece, but for stores") {
  const WarpOperation operation =
      lanes_at(RecordKind::kScattered, {kData, kData, kData, kData + 256});
  const SiteInfo load = word(Operation::kRead), store = word(Operation::kWrite);
  const Footprint loads = footprint(operation, load, 0xF, Cell::kReads);
  REQUIRE(loads.size() == 2);
  CHECK(loads[0].lanes == 7);
  CHECK(loads[0].cell.lanes == 7);
  CHECK(loads[1].lanes == 8);
  const Footprint stores = footprint(operation, store, 0xF, Cell::kWrites);
  CHECK(stores.size() == 4);
}

TEST_CASE("stores that agree are taken block by block") {
  WarpOperation operation =
      lanes_at(RecordKind::kScattered, {kData, kData + 128, kData, kData + 128});
  operation.lanes_agree = true;
  const SiteInfo store = word(Operation::kWrite);
  REQUIRE(layout(operation, store, 0xF) == LaneLayout::kLanesByBlock);
  const Footprint pieces = footprint(operation, store, 0xF, Cell::kWrites);
  std::vector<std::uint32_t> order;
  for (const Piece& piece : pieces) {
    order.push_back(piece.lanes);
  }
  CHECK(order == std::vector<std::uint32_t>{1, 4, 2, 8});
}

TEST_CASE("of lanes that scatter, those that share a cell come first and the others one by one") {
  const WarpOperation operation = lanes_at(
      RecordKind::kScattered, {kData, kData + 132, kData + 8, kData + 128, kData + 132, kData});
  const auto lanes_of = [](const Footprint& pieces) {
    std::vector<std::uint32_t> order;
    for (const Piece& piece : pieces) {
      order.push_back(piece.lanes);
    }
    return order;
  };
  using Order = std::vector<std::uint32_t>;
  CHECK(lanes_of(footprint(operation, word(Operation::kRead), 0x3F, Cell::kReads)) ==
        Order{8 | 16, 1, 2, 4, 32});
  CHECK(lanes_of(footprint(operation, word(Operation::kWrite), 0x3F, Cell::kWrites)) ==
        Order{8 | 16, 1, 2, 4, 32});
  // All in one block, and none next to the one before it.
  const WarpOperation near = lanes_at(RecordKind::kScattered, {kData, kData + 12, kData + 4});
  CHECK(lanes_of(footprint(near, word(Operation::kRead), 7, Cell::kReads)) == Order{1, 2, 4});
}

TEST_CASE("a compare-and-swap reads the bytes that it leaves as they were") {
  WarpOperation operation = lanes_at(RecordKind::kRelease, {kData});
  operation.lanes[0].value_read = 0x11223344;
  operation.lanes[0].value_written = 0x11FF3344;
  operation.lanes[0].flags = wire::kLaneCompares | wire::kLaneHasRead | wire::kLaneHasWritten;
  const SiteInfo cas = word(Operation::kAtomic, MemoryOrder::kRelaxed);
  const Footprint pieces = footprint(operation, cas, 1, Cell::kReads | Cell::kWrites);
  REQUIRE(pieces.size() == 3);
  CHECK(pieces[0].cell.bytes == Bytes::range(0, 2));
  CHECK(pieces[0].cell.flags == Cell::kReads);
  CHECK(pieces[0].kind == SharedAccessKind::kReads);
  CHECK(pieces[1].cell.bytes == Bytes::range(2, 1));
  CHECK(pieces[1].cell.writes());
  CHECK(pieces[1].cell.is_published());
  CHECK(pieces[2].cell.bytes == Bytes::range(3, 1));
  CHECK_FALSE(pieces[2].cell.writes());
}

TEST_CASE("a lane across the end of a block is two pieces, and one of no bytes is none") {
  SiteInfo load = word(Operation::kRead);
  load.element_count = 4;
  const WarpOperation operation = lanes_at(RecordKind::kScattered, {kData + 120});
  const Footprint pieces = footprint(operation, load, 1, Cell::kReads);
  REQUIRE(pieces.size() == 2);
  CHECK(pieces[0].cell.bytes == Bytes::range(120, 8));
  CHECK(pieces[1].tagged == kData + 128);
  CHECK(pieces[1].cell.bytes == Bytes::range(0, 8));
  load.element_bytes = 0;
  CHECK(footprint(operation, load, 1, Cell::kReads).empty());
}

TEST_CASE("two cells are compared once for all bytes at which the same lanes meet") {
  using Pairing = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // byte, lanes, lanes
  const auto pairings = [](const Cell& older, const Cell& newer) {
    std::vector<Pairing> all;
    for_each_pairing(older, newer,
                     [&](const Bytes& bytes, std::uint32_t lanes, std::uint32_t newer_lanes) {
                       all.emplace_back(bytes.first(), lanes, newer_lanes);
                     });
    return all;
  };
  Cell row;  // a word for each lane
  row.bytes = Bytes::range(0, 16);
  row.lane_shift = 2;
  Cell wide;  // eight bytes for each
  wide.bytes = Bytes::range(8, 16);
  wide.lane_shift = 3;
  Cell lane;
  lane.bytes = Bytes::range(4, 8);
  lane.lanes = 6;
  CHECK(pairings(row, wide) == std::vector<Pairing>{{8, 4, 2}, {12, 8, 2}});
  CHECK(pairings(lane, row) == std::vector<Pairing>{{4, 6, 2}, {8, 6, 4}});
  CHECK(pairings(lane, lane) == std::vector<Pairing>{{4, 6, 6}});
  CHECK(pairings(wide, wide) == std::vector<Pairing>{{8, 2, 2}, {16, 4, 4}});
}

}  // namespace barracuda::detector::test
