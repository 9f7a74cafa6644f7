// malloc and free in kernels (RACE_RULES section 1, memory reuse).
#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {

TEST_CASE("what malloc gives in a kernel is new, its bytes alone, and a free ends nothing") {
  const Who one{.cta = 0, .mask = 1}, other{.cta = 1, .mask = 1};
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{16}}) {
    Scenario scenario(2, 1);
    scenario.heap(one, kData, 16);
    scenario.write(one, kData);
    scenario.write(one, kData + 12);
    scenario.heap(one, kData, 0);
    scenario.heap(other, kData, bytes);
    scenario.write(other, kData);
    scenario.write(other, kData + 12);
    CHECK(scenario.races().size() == (bytes == 16 ? 0 : bytes == 8 ? 1 : 2));
  }
}

}  // namespace barracuda::detector::test
