#include "host_detector/clock/sync_notes.h"

#include <catch2/catch.hpp>

namespace barracuda::detector {
namespace {

constexpr wire::SiteId kFence{1}, kBarrier{2}, kWait{3};

}  // namespace

TEST_CASE("the last synchronisation is that of the lane itself") {
  SyncNotes notes;
  notes.note(kFence, 0b01, 1);
  notes.note(kBarrier, 0b10, 2);
  REQUIRE(notes.last(0));
  CHECK(notes.last(0)->site == kFence);
  CHECK(notes.last(0)->tick == 1);
  CHECK(notes.last(1)->site == kBarrier);
  REQUIRE(notes.last(2));
  CHECK_FALSE(notes.last(2)->site.has_value());  // known to have none
}

TEST_CASE("what came after an access was not before it, and what came with it cannot be told") {
  SyncNotes notes;
  notes.note(kFence, 1, 3);
  notes.note(kBarrier, 1, 5);
  notes.note(kWait, 1, 7);
  CHECK(notes.last(0)->site == kWait);
  CHECK(notes.before(0, 6)->site == kBarrier);
  CHECK(notes.before(0, 4)->site == kFence);
  CHECK_FALSE(notes.before(0, 5).has_value());
  REQUIRE(notes.before(0, 2));
  CHECK_FALSE(notes.before(0, 2)->site.has_value());
}

TEST_CASE("once notes were dropped a lane without one may have had one") {
  SyncNotes notes;
  notes.note(kFence, 0b10, 1);
  for (Tick tick = 2; tick <= 4; ++tick) {
    notes.note(kBarrier, 0b01, tick);
  }
  CHECK(notes.last(1)->site == kFence);
  CHECK(notes.last(2).has_value());
  notes.note(kBarrier, 0b01, 5);
  CHECK_FALSE(notes.last(1).has_value());
  CHECK_FALSE(notes.last(2).has_value());
  CHECK_FALSE(notes.before(0, 1).has_value());
  CHECK(notes.last(0)->tick == 5);
}

}  // namespace barracuda::detector
