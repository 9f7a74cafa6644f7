// A block that is broken on purpose, behind what its checksums can tell, is found out by an
// assertion.
#include <catch2/catch.hpp>

#include "tests/unit/failed_assertion.h"
#include "trace/block.h"

namespace barracuda::trace {
namespace {

using Catch::Contains;
using test::failed_assertion;

TEST_CASE("no block is made that no reader would take") {
  const std::vector<std::byte> events(kMaximumBlockBytes + 1);
  CHECK_THAT(failed_assertion([&] { (void)make_block(1, 0, events); }), Contains("block.cpp"));
}

TEST_CASE("a header that was changed after it was read has no events") {
  const std::vector<std::byte> block = make_block(1, 0, std::vector<std::byte>(100));
  BlockHeader header = read_header(block).value();
  const auto stored = std::span(block).subspan(sizeof header);
  CHECK(read_events(header, stored).value().size() == 100);
  header.raw_bytes = kMaximumBlockBytes + 1;
  CHECK_THAT(failed_assertion([&] { (void)read_events(header, stored); }), Contains("block.cpp"));
}

}  // namespace
}  // namespace barracuda::trace
