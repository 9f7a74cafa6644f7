#include "session/allocation_table.h"

#include <catch2/catch.hpp>

namespace barracuda::session {
namespace {

TEST_CASE("a freed allocation stays known, before the live ones") {
  AllocationTable table;
  table.add(0x1000, 64, "cudaMalloc");
  table.add(0x2000, 32, "managed memory");
  CHECK(table.find(0x1000)->bytes == 64);
  table.remove(0x1000);
  CHECK_FALSE(table.find(0x1000));
  table.add(0x1000, 16, "cudaMallocAsync");
  const auto records = table.records();
  REQUIRE(records.size() == 3);
  CHECK(records[0].freed);
  CHECK(records[0].bytes == 64);
  CHECK(records[1].bytes == 16);
  CHECK_FALSE(records[1].freed);
}

TEST_CASE("what was never allocated is freed without a trace") {
  AllocationTable table;
  table.remove(0x1000);
  table.add(0, 64, "nothing");
  CHECK(table.records().empty());
}

TEST_CASE("a program that allocates and frees for ever is not remembered for ever") {
  AllocationTable table;
  for (std::uint64_t i = 1; i <= 100000; ++i) {
    table.add(i * 256, 256, "cudaMalloc");
    table.remove(i * 256);
  }
  const auto records = table.records();
  CHECK(records.size() == 4096);
  CHECK(records.back().address == 100000 * 256);
}

TEST_CASE("the frees of reused bytes are handed out once each") {
  AllocationTable table;
  const auto free = [&](std::uint64_t address, std::uint64_t bytes, std::uint32_t by) {
    table.add(address, bytes, "cudaMallocAsync");
    table.remove(address, detector::CopyId{by});
  };
  free(0x1000, 0x100, 1);
  free(0x1100, 0x100, 2);
  free(0x2000, 0x100, 3);
  CHECK(table.take_frees({.address = 0x1200, .bytes = 0x100}).empty());
  const std::vector both{detector::CopyId{1}, detector::CopyId{2}};
  CHECK(table.take_frees({.address = 0x1080, .bytes = 0x100}) == both);
  CHECK(table.take_frees({.address = 0x1080, .bytes = 0x100}).empty());
  CHECK(table.take_frees({.address = 0x1000, .bytes = 0x1000}) == both);  // what was left of them
  free(0x2000, 0x100, 4);
  CHECK(table.take_frees({.address = 0x2010, .bytes = 0x10}) == std::vector{detector::CopyId{4}});
  CHECK(table.take_frees({.address = 0x2000, .bytes = 0x10}) == std::vector{detector::CopyId{4}});
  CHECK(table.take_frees({.address = 0x20ff, .bytes = 1}) == std::vector{detector::CopyId{4}});
}

}  // namespace
}  // namespace barracuda::session
