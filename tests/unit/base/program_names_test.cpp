#include "base/program_names.h"

#include <catch2/catch.hpp>

namespace barracuda {

TEST_CASE("a name is found where it stands alone") {
  CHECK(find_name("tile = my_tile + tile2", "tile") == 0);
  CHECK(find_name("my_tile + tile2 + tile", "tile") == 18);
  CHECK(find_name("tile + tile", "tile", 1) == 7);
  CHECK(find_name("s.tile[3]", "tile") == 2);
  CHECK(find_name("tiles", "tile") == std::string_view::npos);
  CHECK(find_name("", "tile") == std::string_view::npos);
  CHECK((is_part_of_name('_') && is_part_of_name('9') && !is_part_of_name('.')));
}

}  // namespace barracuda
