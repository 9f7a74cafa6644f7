#include "weak_memory/place_set.h"

#include <catch2/catch.hpp>

namespace barracuda::weak_memory {
namespace {

ptx::FencePlace place(std::uint32_t ordinal, ptx::StateSpace space,
                      std::vector<ptx::SourcePlace> lines) {
  return {.at = {.function = "f", .ordinal = ordinal},
          .place = ordinal,
          .kind = ptx::AccessKind::kStore,
          .space = space,
          .kernels = {"f"},
          .lines = std::move(lines)};
}

}  // namespace

TEST_CASE("accesses of one line are one place; without lines each is one") {
  using enum ptx::StateSpace;
  const std::vector<ptx::FencePlace> all = {place(1, kGlobal, {{"a.cu", 3}}), place(2, kGlobal, {}),
                                            place(3, kGlobal, {{"a.cu", 3}}), place(4, kGlobal, {}),
                                            place(5, kGlobal, {{"a.cu", 3}, {"a.cu", 9}})};
  const auto places = source_places(all, true, true, "");
  REQUIRE(places.size() == 4);
  CHECK(places[0].accesses == std::vector{all[0], all[2]});
  CHECK(name_of(places[0].first()) == "a.cu:3");
  CHECK(name_of(places[1].first()) == "f#2");
  CHECK(places[3].accesses == std::vector{all[4]});
  CHECK(fences_at({places[0]}, {}).size() == 2);
}

TEST_CASE("memory and kernel choose places") {
  using enum ptx::StateSpace;
  std::vector<ptx::FencePlace> all = {place(1, kGlobal, {}), place(2, kShared, {}),
                                      place(3, kGeneric, {})};
  all[0].kernels = {"g", "h"};
  CHECK(source_places(all, true, false, "").size() == 2);
  CHECK(source_places(all, false, true, "").size() == 2);
  CHECK(source_places(all, true, true, "h").size() == 1);
  CHECK(source_places(all, true, true, "i").empty());
}

}  // namespace barracuda::weak_memory
