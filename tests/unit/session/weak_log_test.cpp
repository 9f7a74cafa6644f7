#include "session/weak_log.h"

#include <catch2/catch.hpp>

namespace barracuda::session {
namespace {

using emulator::CodePlace;
using emulator::Decision;
using emulator::WeakEnd;
using emulator::WeakEvent;
using emulator::WeakKind;
using emulator::WeakLog;
using emulator::WeakSpace;

Decision example() {
  return {.launch = 1,
          .kernel = "_Z3dotPi",
          .block = {.x = 3, .y = 0, .z = 0},
          .thread = {.x = 0, .y = 1, .z = 2},
          .kind = WeakKind::kStore,
          .number = 14};
}

TEST_CASE("a decision is one line") {
  CHECK(decision_text(example()) ==
        "decision launch=1 kernel=_Z3dotPi block=3,0,0 thread=0,1,2 store=14");
  const auto parsed = parse_decision(decision_text(example()));
  REQUIRE(parsed);
  CHECK(*parsed == example());
}

TEST_CASE("what is written of a weak run is read") {
  WeakEvent event{.decision = example(),
                  .until = WeakEnd::kRelease,
                  .turns = 212,
                  .space = WeakSpace::kShared,
                  .address = 0x40,
                  .bytes = 4,
                  .at = {.file = "/tmp/a b%:c.cu", .line = 31},
                  .was_read = true,
                  .reader = {.block = {.x = 5, .y = 0, .z = 0},
                             .thread = {.x = 0, .y = 0, .z = 0},
                             .at = {.file = "", .line = 0}}};
  WeakLog log;
  log.events.push_back(event);
  event.decision.kind = WeakKind::kStale;
  event.was_read = false;
  event.reader = {};
  event.until = WeakEnd::kRead;
  log.events.push_back(event);
  event.until = WeakEnd::kPoll;
  log.starvations.push_back(event);
  log.drains[1][3] = 17;
  log.counts = {.instructions = 96, .stores = {3, 4}, .fences = {}};
  log.counts.add_fences({.file = "/tmp/a b.cu", .line = 3}, 5);
  log.counts.add_fences({.file = "/tmp/a b.cu", .line = 3}, 2);
  const auto parsed = parse_weak_log(weak_log_text(log));
  REQUIRE(parsed);
  CHECK(parsed->events == log.events);
  CHECK(parsed->starvations == log.starvations);
  CHECK(parsed->drains == log.drains);
  CHECK(parsed->counts == log.counts);
  REQUIRE(parsed->counts.fences.size() == 1);
  CHECK(parsed->counts.fences[0].count == 7);
}

TEST_CASE("a line of the log is a decision of a plan") {
  WeakLog log;
  log.events.push_back({.decision = example(), .at = {}, .reader = {}});
  const auto parsed = parse_decision(weak_log_text(log));
  REQUIRE(parsed);
  CHECK(*parsed == example());
}

TEST_CASE("bad lines of a log of decisions are named") {
  for (const char* line :
       {"decision", "decision launch=0 kernel=a store=1", "decision launch=1 kernel=a",
        "decision launch=1 kernel=a store=x", "decision launch=1 kernel=a store=1 what=2",
        "decision launch=1 kernel=%4 store=1", "decision launch=1 kernel=a block=1,2 store=1",
        "drains space=global stores=999 count=1", "drains =", "stores at=a:1 count=2",
        "fences count=x", "instructions =", "nonsense"}) {
    const auto parsed = parse_weak_log(std::string("# a comment\n\n") + line);
    INFO(line);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().line == 3U);
    CHECK_FALSE(parse_decision(line));
  }
}

TEST_CASE("places are FILE:LINE") {
  const auto places = parse_places("/a/b.cu:12,c.cu:3");
  REQUIRE(places);
  CHECK(*places ==
        (std::vector<CodePlace>{{.file = "/a/b.cu", .line = 12}, {.file = "c.cu", .line = 3}}));
  CHECK(parse_places("")->empty());
  for (const char* text : {"a.cu", "a.cu:", ":3", "a.cu:x", "a.cu:0", ","}) {
    INFO(text);
    CHECK_FALSE(parse_places(text));
  }
}

}  // namespace
}  // namespace barracuda::session
