#include "weak_memory/statistics.h"

#include <catch2/catch.hpp>

namespace barracuda::weak_memory {

TEST_CASE("the chance of a table is Fisher's") {
  // The lady who tastes tea: all four of four, none of four.
  CHECK(chance_of({.failures = 4, .runs = 4}, {.failures = 0, .runs = 4}) == Approx(1.0 / 70));
  CHECK(chance_of({.failures = 3, .runs = 4}, {.failures = 1, .runs = 4}) == Approx(17.0 / 70));
  CHECK(chance_of({.failures = 0, .runs = 4}, {.failures = 4, .runs = 4}) == Approx(1));
}

TEST_CASE("of 20 and 20 runs, 6 failures beside none are no chance at 1 %, 5 are") {
  const Rate none{.failures = 0, .runs = 20};
  CHECK(chance_of({.failures = 6, .runs = 20}, none) < 0.011);
  CHECK(chance_of({.failures = 7, .runs = 20}, none) < 0.01);
  CHECK(chance_of({.failures = 5, .runs = 20}, none) > 0.01);
  CHECK(chance_of({.failures = 0, .runs = 20}, none) == Approx(1));
}

TEST_CASE("a rate has an interval, and says how many runs are needed to see it") {
  const Interval all = confidence_of({.failures = 20, .runs = 20});
  CHECK(all.least == Approx(0.839).margin(0.001));
  CHECK(all.most == Approx(1));
  CHECK(confidence_of({}).most == 1);
  CHECK(runs_to_see({.failures = 10, .runs = 20}, 200) == 7);
  CHECK(runs_to_see({.failures = 20, .runs = 20}, 200) == 1);
  CHECK(runs_to_see({.failures = 0, .runs = 20}, 200) == 200);
}

TEST_CASE("without runs nothing is known") {
  CHECK(chance_of({}, {.failures = 3, .runs = 4}) == 1);
  CHECK(chance_of({.failures = 3, .runs = 4}, {}) == 1);
}

}  // namespace barracuda::weak_memory
