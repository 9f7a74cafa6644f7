#include "host_detector/clock/sync_notes.h"

#include <catch2/catch.hpp>

namespace barracuda::detector {
namespace {

constexpr wire::SiteId kFence{1}, kBarrier{2}, kWait{3};

}  // namespace

TEST_CASE("the last synchronisation is that of the lane itself") {
  SyncNotes notes;
  notes.note(kFence, 0b01, {.tick = 1});
  notes.note(kBarrier, 0b10, {.tick = 2});
  REQUIRE(notes.last(0));
  CHECK(notes.last(0)->site == kFence);
  CHECK(notes.last(0)->tick == 1);
  CHECK(notes.last(1)->site == kBarrier);
  REQUIRE(notes.last(2));
  CHECK_FALSE(notes.last(2)->site.has_value());  // known to have none
}

TEST_CASE("what came after an access was not before it, and what came with it cannot be told") {
  SyncNotes notes;
  notes.note(kFence, 1, {.tick = 3});
  notes.note(kBarrier, 1, {.tick = 5});
  notes.note(kWait, 1, {.tick = 7});
  CHECK(notes.last(0)->site == kWait);
  CHECK(notes.before(0, 6)->site == kBarrier);
  CHECK(notes.before(0, 4)->site == kFence);
  CHECK_FALSE(notes.before(0, 5).has_value());
  REQUIRE(notes.before(0, 2));
  CHECK_FALSE(notes.before(0, 2)->site.has_value());
}

TEST_CASE("once notes were dropped a lane without one may have had one") {
  SyncNotes notes;
  notes.note(kFence, 0b10, {.tick = 1});
  for (Tick tick = 2; tick <= 4; ++tick) {
    notes.note(kBarrier, 0b01, {.tick = tick});
  }
  CHECK(notes.last(1)->site == kFence);
  CHECK(notes.last(2).has_value());
  notes.note(kBarrier, 0b01, {.tick = 5});
  CHECK_FALSE(notes.last(1).has_value());
  CHECK_FALSE(notes.last(2).has_value());
  CHECK_FALSE(notes.before(0, 1).has_value());
  CHECK(notes.last(0)->tick == 5);
}

TEST_CASE("what is done at the tick that a synchronisation ends was done before it") {
  SyncNotes notes;
  notes.note(kFence, 1, {.tick = 3, .ends_tick = true});
  notes.note(kBarrier, 1, {.tick = 5, .ends_tick = true});
  CHECK(notes.before(0, 5)->site == kFence);
  CHECK(notes.before(0, 6)->site == kBarrier);
  REQUIRE(notes.before(0, 3));
  CHECK_FALSE(notes.before(0, 3)->site.has_value());
}

TEST_CASE("from outside the oldest note is not seen: it may be the one that is being overwritten") {
  SyncNotes notes;
  CHECK_FALSE(notes.seen_from_outside().last(0)->site.has_value());
  for (Tick tick = 1; tick <= 3; ++tick) {
    notes.note(kBarrier, 1, {.tick = tick, .ends_tick = true});
  }
  CHECK(notes.seen_from_outside().before(0, 2)->tick == 1);
  CHECK(notes.seen_from_outside().before(0, 1).has_value());
  notes.note(kBarrier, 1, {.tick = 4, .ends_tick = true});
  CHECK(notes.before(0, 2)->tick == 1);
  CHECK_FALSE(notes.seen_from_outside().before(0, 2).has_value());
  CHECK(notes.seen_from_outside().before(0, 3)->tick == 2);
}

}  // namespace barracuda::detector
