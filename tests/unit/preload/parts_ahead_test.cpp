#include "preload/parts_ahead.h"

#include <vector>

#include <catch2/catch.hpp>

namespace barracuda::preload {

using Numbers = std::vector<std::size_t>;

TEST_CASE("as many parts are compiled ahead as the program has asked for") {
  PartsAhead ahead;
  CHECK(ahead.after(3, 300) == Numbers{4});
  CHECK(ahead.after(4, 300) == Numbers{5, 6});
  CHECK(ahead.after(5, 300) == Numbers{7, 8});  // 6 is under way
  CHECK(ahead.after(100, 300) == Numbers{101, 102, 103, 104});
}

TEST_CASE("parts are compiled ahead in the direction in which the program goes") {
  PartsAhead ahead;
  CHECK(ahead.after(9, 30) == Numbers{10});
  CHECK(ahead.after(8, 30) == Numbers{7, 6});
  CHECK(ahead.after(2, 30) == Numbers{1, 0});
  CHECK(ahead.after(0, 30).empty());
}

TEST_CASE("behind the last part none is compiled ahead") {
  PartsAhead ahead;
  CHECK(ahead.after(29, 30).empty());
  CHECK(ahead.after(29, 30).empty());
}

TEST_CASE("no more than a number of parts are compiled ahead at once") {
  PartsAhead ahead;
  for (std::size_t asked = 0; asked < 100; ++asked) {
    CHECK(ahead.after(asked * 7, 1000).size() <= PartsAhead::kMost);
  }
}

}  // namespace barracuda::preload
