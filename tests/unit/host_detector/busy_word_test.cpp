// A word that very many threads touch without order.
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {

TEST_CASE(
    "of a word that all blocks write, an access counts so many races with one site and no more") {
  constexpr std::uint32_t kBlocks = 300;
  constexpr std::uint64_t kEnough = 64;
  Scenario scenario;
  scenario.launch(kBlocks, 1);
  WarpOperation store =
      scenario.start({.cta = 0}, word(Operation::kWrite), wire::RecordKind::kAffine);
  store.lanes[0].address = kData;
  std::uint64_t expected = 0;
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    store.cta = block;
    scenario.detector.apply(store);
    expected += std::min<std::uint64_t>(block, kEnough);
  }
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].count == expected);
  // Another site is held against all of them as ever.
  scenario.read({.cta = 7}, kData);
  CHECK(scenario.races().size() == 2);
}

}  // namespace barracuda::detector::test
