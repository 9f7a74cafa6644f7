#include "host_detector/queue/record_sample.h"

#include <cstring>

#include <catch2/catch.hpp>

#include "device_logger/record.h"

namespace barracuda::detector {
namespace {

void add(RecordBatch& batch, std::uint32_t site, std::uint32_t slots) {
  wire::HeaderHalf header{};
  header.site = site & (wire::kMaxSites - 1);
  const std::size_t at = batch.bytes.size();
  batch.bytes.resize(at + slots * wire::kSlotBytes);
  std::memcpy(batch.bytes.data() + at, &header, sizeof header);
  batch.slots.push_back(slots);
}

TEST_CASE("a sample of the records shows which sites they are of") {
  RecordSample sample;
  // A loop of four records a round, with slots of different numbers, in batches of odd lengths.
  constexpr std::uint32_t kRounds = 20000;
  RecordBatch batch;
  for (std::uint32_t i = 0; i < 4 * kRounds; ++i) {
    const bool is_seldom = i % 4 == 3;
    add(batch, is_seldom ? 9 : 7, 1 + i % 3);
    if (batch.slots.size() == 1023) {
      sample.take(batch);
      batch = {};
    }
  }
  sample.take(batch);
  const auto largest = sample.largest(10);
  REQUIRE(largest.size() == 2);
  CHECK(largest[0].site == wire::SiteId{7});
  CHECK(largest[0].share == Approx(0.75).margin(0.05));
  CHECK(largest[1].share == Approx(0.25).margin(0.05));
  CHECK(sample.largest(1).size() == 1);
}

TEST_CASE("the first record of all is in the sample") {
  RecordSample sample;
  CHECK(sample.largest(10).empty());
  RecordBatch batch;
  add(batch, 3, 2);
  sample.take(batch);
  REQUIRE(sample.largest(10).size() == 1);
  CHECK(sample.largest(10)[0].site == wire::SiteId{3});
  CHECK(sample.largest(10)[0].share == 1);
}

}  // namespace
}  // namespace barracuda::detector
