#include "host_detector/queue/open_work.h"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/failed_assertion.h"

namespace barracuda::detector {
namespace {

using std::chrono::milliseconds;
using Works = std::vector<WorkId>;

void add(OpenWork& work, LaunchId id, const Works& after = {}) {
  LaunchInfo info;
  info.id = id;
  auto launch = std::make_unique<OpenLaunch>(info);
  launch->awaited = work.not_over(after);
  work.add(std::move(launch));
}

CopyInfo copy_with(CopyId id) {
  CopyInfo copy;
  copy.id = id;
  return copy;
}

TEST_CASE("work goes on when the last that it awaits is over, in the order in which it came") {
  OpenWork work(milliseconds{0});
  add(work, LaunchId{1});
  add(work, LaunchId{2});
  add(work, LaunchId{3}, {LaunchId{1}, LaunchId{2}, LaunchId{9}});
  work.add(copy_with(CopyId{1}), {LaunchId{1}});
  add(work, LaunchId{4}, {LaunchId{1}, CopyId{1}});
  add(work, LaunchId{5}, {LaunchId{1}});
  CHECK(work.is_valid(0));
  CHECK(work.close(LaunchId{1}) == Works{CopyId{1}, LaunchId{5}});
  CHECK(work.close(LaunchId{2}) == Works{LaunchId{3}});
  CHECK(work.close(CopyId{1}) == Works{LaunchId{4}});
  CHECK(work.find(LaunchId{1}) == nullptr);
  CHECK(work.find(LaunchId{4}) != nullptr);
  CHECK(work.is_valid(0));
}

TEST_CASE("the parts of a copy wait together") {
  OpenWork work(milliseconds{0});
  add(work, LaunchId{1});
  CHECK_FALSE(work.joins_waiting(copy_with(CopyId{1})));
  work.add(copy_with(CopyId{1}), {LaunchId{1}});
  CHECK(work.joins_waiting(copy_with(CopyId{1})));
  CHECK(work.close(LaunchId{1}) == Works{CopyId{1}});
  CHECK(work.parts_of(CopyId{1}).size() == 2);
}

TEST_CASE("another launch with the same low bits is another launch") {
  OpenWork work(milliseconds{0});
  add(work, LaunchId{7});
  CHECK(work.find(LaunchId{7})->id() == LaunchId{7});
  CHECK(work.find(LaunchId{0x10007}) == nullptr);
  CHECK(work.not_over(Works{LaunchId{7}, LaunchId{0x10007}}) == Works{LaunchId{7}});
}

TEST_CASE("a launch is late once, and its records are counted until then") {
  const auto start = std::chrono::steady_clock::now();
  OpenWork work(milliseconds{800});
  CHECK(work.find_late(start, 0).empty());
  add(work, LaunchId{1});
  work.find(LaunchId{1})->begun = start;
  for (int i = 0; i < 3; ++i) {
    CHECK(work.find(LaunchId{1}) != nullptr);
    work.count_record();
  }
  const auto late = work.find_late(start + milliseconds{900}, 48);
  REQUIRE(late.size() == 1);
  CHECK(late[0].id == LaunchId{1});
  CHECK(late[0].records == 3);
  CHECK(late[0].waiting_bytes == 48);
  CHECK(work.find_late(start + milliseconds{2000}, 48).empty());
}

TEST_CASE("copies are applied when they wait for nothing, and work is over once") {
  OpenWork work(milliseconds{0});
  add(work, LaunchId{1});
  work.add(copy_with(CopyId{1}), {LaunchId{1}});
  CHECK_FALSE(work.is_valid(16));  // no queue has these
  CHECK_THAT(test::failed_assertion([&] { (void)work.parts_of(CopyId{1}); }),
             Catch::Contains("open_work.cpp"));
  CHECK_THAT(test::failed_assertion([&] { (void)work.close(LaunchId{2}); }),
             Catch::Contains("open_work.cpp"));
  CHECK_THAT(test::failed_assertion([&] { (void)work.take_over(); }), Catch::Contains("has_over"));
}

}  // namespace
}  // namespace barracuda::detector
