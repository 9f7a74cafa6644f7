#include "ptx/fence_text.h"

#include <catch2/catch.hpp>

namespace barracuda::ptx {
namespace {

FencePlace some_place() {
  return {.at = {.function = "_Z3dotPi", .ordinal = 14},
          .place = 3,
          .kind = AccessKind::kStore,
          .space = StateSpace::kGlobal,
          .kernels = {"_Z3dotPi", "other"},
          .lines = {{"/a b/100%,c:d.cu", 31}, {"/x.cu", 9}, {"/y.cu", 2}},
          .next = Fence{.order = wire::MemoryOrder::kAcqRel, .scope = wire::Scope::kCta}};
}

std::string message_of(const std::string& text) {
  const auto fences = parse_fences(text, "fences.txt");
  REQUIRE_FALSE(fences);
  return fences.error().to_string();
}

}  // namespace

TEST_CASE("fences are read line by line") {
  const auto fences = parse_fences(
      "# what was found\n\n  +_Z1f#3 acq_rel cluster before\n+_Z1f#4 sc cta # why\r\n-_Z1f#12\n"
      "+_Z1f#5 sc sys",
      "f");
  REQUIRE(fences);
  REQUIRE(fences->size() == 4);
  const auto name = [](std::uint32_t ordinal) {
    return StatementName{.function = "_Z1f", .ordinal = ordinal};
  };
  CHECK((*fences)[0].edit ==
        OrderEdit{.at = name(3),
                  .change = InsertFence{.fence = {.order = wire::MemoryOrder::kAcqRel,
                                                  .scope = wire::Scope::kCluster},
                                        .is_before = true}});
  CHECK((*fences)[0].line == 3);
  CHECK((*fences)[1].edit ==
        OrderEdit{.at = name(4),
                  .change = InsertFence{
                      .fence = {.order = wire::MemoryOrder::kSeqCst, .scope = wire::Scope::kCta}}});
  CHECK_FALSE((*fences)[1].place);
  CHECK((*fences)[2].edit == OrderEdit{.at = name(12), .change = RemoveFence{}});
  CHECK((*fences)[3].line == 6);
}

TEST_CASE("a listed place is read back as it was") {
  for (FencePlace place : {some_place(), FencePlace{.at = {.function = "f", .ordinal = 1},
                                                    .place = 1,
                                                    .kind = AccessKind::kAtomic,
                                                    .space = StateSpace::kShared,
                                                    .kernels = {},
                                                    .lines = {},
                                                    .next = {}}}) {
    const auto read = parse_fences(fence_line(place, default_fence(place)), "f");
    REQUIRE(read);
    REQUIRE(read->size() == 1);
    CHECK(read->front().place == place);
    CHECK(read->front().edit ==
          OrderEdit{.at = place.at, .change = InsertFence{.fence = default_fence(place)}});
  }
  CHECK(fence_line(some_place(), default_fence(some_place())) ==
        "+_Z3dotPi#14 sc gpu  # place=3 kernel=_Z3dotPi,other space=global op=store "
        "next=acq_rel.cta at=/a%20b/100%25%2Cc:d.cu:31 inlined=/x.cu:9,/y.cu:2\n");
}

TEST_CASE("a fence that the program has is read back as it was, and changes nothing") {
  const OwnFence own{.at = {.function = "_Z3dotPi", .ordinal = 15},
                     .fence = {.order = wire::MemoryOrder::kAcqRel, .scope = wire::Scope::kSys},
                     .kernels = {"_Z3dotPi", "other"},
                     .lines = {{"/a b.cu", 31}, {"/x.cu", 9}}};
  const std::string line = own_fence_line(own);
  CHECK(line ==
        "# -_Z3dotPi#15  # fence=acq_rel.sys kernel=_Z3dotPi,other at=/a%20b.cu:31 "
        "inlined=/x.cu:9\n");
  CHECK(parse_own_fences("# places\n" + line + "+f#1 sc gpu\n# -f#1\n# -f#1  # fence=sc\n") ==
        std::vector{own});
  CHECK(parse_fences(line, "f")->empty());
}

TEST_CASE("a fence for shared memory is of the block") {
  FencePlace place = some_place();
  place.space = StateSpace::kShared;
  CHECK(default_fence(place).scope == wire::Scope::kCta);
}

TEST_CASE("a comment that is not ours is a comment") {
  for (const char* comment :
       {"# place=x", "# place=0", "# place=1 op=jump", "# place=1 space=far", "# place=1 at=a",
        "# place=1 kernel=,f", "# place=1 next=sc", "# place=1 next=sc.near", "# place=1 at=%2:3",
        "# place=1 more", "# better"}) {
    INFO(comment);
    const auto read = parse_fences(std::string("+f#1 sc gpu ") + comment, "f");
    REQUIRE(read);
    CHECK_FALSE(read->front().place);
  }
}

TEST_CASE("a line of another form is an error that names it") {
  CHECK(message_of("+f#1 sc gpu\nf#1") ==
        "fences.txt:2: 'f#1' is no fence: +FUNCTION#STATEMENT sc gpu puts one in, "
        "-FUNCTION#STATEMENT takes one out, =FUNCTION#STATEMENT changes order or scope");
  CHECK_THAT(message_of("+f sc gpu"), Catch::Contains("'f' is not FUNCTION#STATEMENT"));
  CHECK_THAT(message_of("+f#1"), Catch::Contains("'' is no kind of a fence"));
  CHECK_THAT(message_of("+f#1 relaxed gpu"), Catch::Contains("'relaxed' is no kind of a fence"));
  CHECK_THAT(message_of("+f#1 sc"), Catch::Contains("'' is no scope of a fence"));
  CHECK_THAT(message_of("+f#1 sc device"), Catch::Contains("'device' is no scope of a fence"));
  CHECK_THAT(message_of("+f#1 sc gpu after"), Catch::Contains("'after' stands behind"));
  CHECK_THAT(message_of("-f#1 sc"), Catch::Contains("'sc' stands behind"));
  CHECK(message_of(std::string(10'000'000, '+')).size() < 300);
}

TEST_CASE("barriers, waits, orders and scopes are read back as they were written") {
  const StatementName at{.function = "_Z1f", .ordinal = 3};
  const std::vector<OrderChange> changes = {
      InsertSync{.kind = SyncKind::kWarpBarrier, .is_before = true},
      InsertSync{.kind = SyncKind::kBlockBarrier, .is_before = false},
      InsertSync{.kind = SyncKind::kClusterBarrier, .is_before = true},
      InsertSync{.kind = SyncKind::kAsyncProxy, .is_before = true},
      InsertSync{.kind = SyncKind::kCopies, .is_before = false},
      InsertSync{.kind = SyncKind::kEarlierGrid, .is_before = true},
      InsertFence{.fence = {.order = wire::MemoryOrder::kAcqRel, .scope = wire::Scope::kSys},
                  .is_before = true},
      RemoveFence{},
      ChangeScope{.scope = wire::Scope::kGpu},
      ChangeOrder{.order = wire::MemoryOrder::kRelease, .scope = wire::Scope::kCta},
      ChangeOrder{.order = wire::MemoryOrder::kWeak, .scope = wire::Scope::kGpu}};
  std::string text;
  for (const OrderChange& change : changes) {
    text += edit_line({.at = at, .change = change});
  }
  CHECK(text.starts_with("+_Z1f#3 syncwarp before\n+_Z1f#3 syncthreads\n"));
  const auto read = parse_fences(text, "f");
  REQUIRE(read);
  REQUIRE(read->size() == changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CHECK((*read)[i].edit == OrderEdit{.at = at, .change = changes[i]});
  }
  CHECK(message_of("=f#1 later gpu").find("'later' is no order of an access") != std::string::npos);
  CHECK(message_of("=f#1 release all").find("'all' is no scope") != std::string::npos);
  CHECK(message_of("=f#1 release gpu x").find("'x' stands behind") != std::string::npos);
  CHECK(message_of("+f#1 syncwarp behind").find("'behind' stands behind") != std::string::npos);
}

}  // namespace barracuda::ptx
