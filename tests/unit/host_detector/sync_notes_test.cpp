#include "host_detector/clock/sync_notes.h"

#include <catch2/catch.hpp>

namespace barracuda::detector {
namespace {

constexpr wire::SiteId kFence{1}, kBarrier{2}, kWait{3};

}  // namespace

TEST_CASE("the last synchronisation is that of the lane itself") {
  SyncNotes notes;
  notes.note(kFence, 0b01, {.time = 1});
  notes.note(kBarrier, 0b10, {.time = 2});
  REQUIRE(notes.last(0));
  CHECK(notes.last(0)->site == kFence);
  CHECK(notes.last(0)->time == 1);
  CHECK(notes.last(1)->site == kBarrier);
  REQUIRE(notes.last(2));
  CHECK_FALSE(notes.last(2)->site.has_value());  // known to have none
}

TEST_CASE("what came after an access was not before it, and what came with it cannot be told") {
  SyncNotes notes;
  notes.note(kFence, 1, {.time = 3});
  notes.note(kBarrier, 1, {.time = 5});
  notes.note(kWait, 1, {.time = 7});
  CHECK(notes.last(0)->site == kWait);
  CHECK(notes.before(0, 6)->site == kBarrier);
  CHECK(notes.before(0, 4)->site == kFence);
  CHECK_FALSE(notes.before(0, 5).has_value());
  REQUIRE(notes.before(0, 2));
  CHECK_FALSE(notes.before(0, 2)->site.has_value());
}

TEST_CASE("once notes were dropped a lane without one may have had one") {
  SyncNotes notes;
  notes.note(kFence, 0b10, {.time = 1});
  for (Time time = 2; time <= 4; ++time) {
    notes.note(kBarrier, 0b01, {.time = time});
  }
  CHECK(notes.last(1)->site == kFence);
  CHECK(notes.last(2).has_value());
  notes.note(kBarrier, 0b01, {.time = 5});
  CHECK_FALSE(notes.last(1).has_value());
  CHECK_FALSE(notes.last(2).has_value());
  CHECK_FALSE(notes.before(0, 1).has_value());
  CHECK(notes.last(0)->time == 5);
}

TEST_CASE("what is done at the time that a synchronisation ends was done before it") {
  SyncNotes notes;
  notes.note(kFence, 1, {.time = 3, .ends_epoch = true});
  notes.note(kBarrier, 1, {.time = 5, .ends_epoch = true});
  CHECK(notes.before(0, 5)->site == kFence);
  CHECK(notes.before(0, 6)->site == kBarrier);
  REQUIRE(notes.before(0, 3));
  CHECK_FALSE(notes.before(0, 3)->site.has_value());
}

TEST_CASE("the steps of a lane are told from its access, and what was dropped is known to be") {
  SyncNotes notes;
  CHECK(notes.steps(0, 1).empty());
  CHECK(notes.has_all());
  notes.note(kFence, 1, {.time = 1});
  notes.note(kBarrier, 0b10, {.time = 2, .ends_epoch = true});
  notes.note(kWait, 0b11, {.time = 3});
  notes.note(kBarrier, 0b11, {.time = 4, .ends_epoch = true});
  CHECK(notes.steps(0, 3) == std::vector<SyncStep>{{.site = kFence, .when = SyncWhen::kBefore},
                                                   {.site = kWait, .when = SyncWhen::kUnclear},
                                                   {.site = kBarrier, .when = SyncWhen::kAfter}});
  CHECK(notes.has_all());
  notes.note(kWait, 1, {.time = 5});
  CHECK_FALSE(notes.has_all());
  CHECK(notes.steps(0, 5).front() == SyncStep{.site = kWait, .when = SyncWhen::kBefore});
  CHECK(notes.seen_from_outside().steps(0, 5).size() == 3);
}

TEST_CASE("from outside the oldest note is not seen: it may be the one that is being overwritten") {
  SyncNotes notes;
  CHECK_FALSE(notes.seen_from_outside().last(0)->site.has_value());
  for (Time time = 1; time <= 3; ++time) {
    notes.note(kBarrier, 1, {.time = time, .ends_epoch = true});
  }
  CHECK(notes.seen_from_outside().before(0, 2)->time == 1);
  CHECK(notes.seen_from_outside().before(0, 1).has_value());
  notes.note(kBarrier, 1, {.time = 4, .ends_epoch = true});
  CHECK(notes.before(0, 2)->time == 1);
  CHECK_FALSE(notes.seen_from_outside().before(0, 2).has_value());
  CHECK(notes.seen_from_outside().before(0, 3)->time == 2);
}

}  // namespace barracuda::detector
