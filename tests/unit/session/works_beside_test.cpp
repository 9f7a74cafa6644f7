#include "session/works_beside.h"

#include <catch2/catch.hpp>

namespace barracuda::session {
namespace {

using detector::CopyId;
using detector::LaunchId;
using detector::StreamKey;

constexpr StreamKey kFirst{100}, kSecond{101};

TouchedMemory reads(std::uint64_t address) {
  return {.written = MemoryRanges(), .accessed = MemoryRanges{{.address = address, .bytes = 16}}};
}

TouchedMemory writes(std::uint64_t address) {
  return {.written = MemoryRanges{{.address = address, .bytes = 16}},
          .accessed = MemoryRanges{{.address = address, .bytes = 16}}};
}

struct Works {
  Works() {
    streams.created(Handle{kFirst.number}, true);
    streams.created(Handle{kSecond.number}, true);
  }

  bool add(StreamKey stream, TouchedMemory touched) {
    const LaunchId id{++launches};
    streams.launch(stream, id);
    return beside.add(id, std::move(touched));
  }

  StreamTracker streams;
  WorksBeside beside{streams};
  std::uint32_t launches = 0;
};

}  // namespace

TEST_CASE("works are apart that come after each other, or share no memory that one writes") {
  Works works;
  CHECK(works.add(kFirst, writes(0x100)));
  CHECK(works.add(kFirst, writes(0x100)));
  CHECK(works.add(kSecond, writes(0x110)));
  CHECK(works.add(kSecond, reads(0x120)));
  CHECK(works.add(kFirst, reads(0x120)));
  CHECK_FALSE(works.add(kSecond, reads(0x10F)));
  CHECK_FALSE(works.add(kFirst, writes(0x120)));
  CHECK_FALSE(works.add(kFirst, {}));  // any memory
  CHECK_FALSE(works.add(kSecond, reads(0x900)));
  works.streams.device_synchronized();
  CHECK(works.add(kSecond, writes(0x100)));
  CHECK_FALSE(works.add(kFirst, {.written = MemoryRanges(), .accessed = std::nullopt}));
}

TEST_CASE("a work of which it was not asked what it touches may have touched anything") {
  Works works;
  CHECK(works.add(kFirst, writes(0x100)));
  works.streams.device_synchronized();
  const LaunchId id{++works.launches};
  works.streams.launch(kFirst, id);
  works.beside.add_after_all(id);
  CHECK(works.add(kFirst, writes(0x100)));
  CHECK_FALSE(works.add(kSecond, reads(0x900)));
  works.streams.stream_synchronized(kFirst);
  CHECK(works.add(kSecond, reads(0x900)));
}

TEST_CASE("an older work that does not come before a newer one of the same memory stays known") {
  Works works;
  CHECK(works.add(kFirst, reads(0x100)));
  CHECK(works.add(kSecond, reads(0x100)));
  works.streams.stream_synchronized(kSecond);
  CHECK_FALSE(works.add(kSecond, writes(0x100)));  // the first stream's may still read
}

TEST_CASE("works of more memory than is kept are beside anything from then on") {
  Works works;
  for (std::uint64_t i = 0; i < 64; ++i) {
    CHECK(works.add(i % 2 == 0 ? kFirst : kSecond, writes(0x1000 + 16 * i)));
  }
  SECTION("all at a time") {
    CHECK(works.add(kFirst, writes(0x100)));
    CHECK_FALSE(works.add(kSecond, writes(0x200)));
    works.streams.device_synchronized();
    CHECK(works.add(kSecond, writes(0x200)));
    CHECK_FALSE(works.add(kFirst, writes(0x200)));
  }
  SECTION("but for those that the host has waited for") {
    works.streams.device_synchronized();
    CHECK(works.add(kFirst, writes(0x100)));
    CHECK(works.add(kSecond, writes(0x200)));
    CHECK_FALSE(works.add(kFirst, writes(0x200)));
  }
}

TEST_CASE("works are apart for long after 32, and not where a stream was created since") {
  Works works;
  const auto added_until_long = [&](std::uint64_t threads) {
    std::uint32_t added = 0;
    while (added < 100 && !works.beside.are_apart_for_long(threads)) {
      works.add(added % 2 == 0 ? kFirst : kSecond, writes(added % 2 == 0 ? 0x100 : 0x200));
      ++added;
    }
    return added;
  };
  CHECK(added_until_long(256) == 33);  // the first is beside nothing
  works.streams.created(Handle{102}, true);
  CHECK(added_until_long(1 << 20) == 2);
  CHECK_FALSE(works.beside.are_apart_for_long(256));
  CHECK(added_until_long(256) == 30);
  works.add(kFirst, writes(0x200));
  CHECK(added_until_long(256) == 100);  // what was once beside stays so till the host waits
}

}  // namespace barracuda::session
