#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/unit/session/unlogged_device.h"

namespace barracuda::session {
namespace {

using Catch::Contains;
using detector::CopyId;
using detector::kLegacyStream;
using detector::LaunchId;
using detector::StreamKey;

bool is_range(const wire::UnloggedMemory& unwritten, std::uint64_t address) {
  return unwritten.count == 1 && unwritten.ranges[0].address == address &&
         unwritten.ranges[0].bytes == kBytes;
}

TEST_CASE("reads of a variable stay unlogged in a launch that writes none") {
  constexpr std::uint64_t kTable = 0x9000;
  Device device(options_with("on"));
  device.variables = {{.address = kTable, .bytes = 64}};
  device.streams.created(Handle{kSecond}, true);
  const StreamKey second{kSecond};
  const auto reads_table = [&](StreamKey stream) {
    const wire::UnloggedMemory unlogged = device.launch(stream, kIn, kOut);
    return std::ranges::any_of(unlogged.ranges, [](const wire::UnloggedRange& range) {
      return range.address == kTable && range.bytes == 64;
    });
  };
  CHECK(reads_table(kLegacyStream));
  device.copy_to(kLegacyStream, kTable);
  CHECK_FALSE(device.has_given_up());
  SECTION("one that writes variables, behind it") {
    device.kernel.writes.variables = true;
    CHECK_FALSE(reads_table(kLegacyStream));
    CHECK_FALSE(device.has_given_up());
  }
  SECTION("one that writes variables, beside it") {
    CHECK(reads_table(kLegacyStream));
    device.kernel.writes.variables = true;
    CHECK_FALSE(reads_table(second));
    CHECK(device.has_given_up());
  }
  SECTION("one beside it that writes other memory") {
    CHECK(reads_table(kLegacyStream));
    device.launch(second, kIn, kOther);
    CHECK_FALSE(device.has_given_up());
  }
  SECTION("a copy beside it") {
    CHECK(reads_table(kLegacyStream));
    device.copy_to(second, kTable);
    CHECK(device.has_given_up());
  }
}

TEST_CASE("the allocations of a launch's pointers that it does not write stay unlogged") {
  Device device;
  CHECK(is_range(device.launch(kLegacyStream, kIn + 64, kOut), kIn));
  CHECK(device.launch(kLegacyStream, kOut + 64, kOut).count == 0);
  CHECK(device.launch(kLegacyStream, 0, kOut).count == 0);
  CHECK(is_range(device.launch(kLegacyStream, kIn, 0), kIn));  // nothing is written through null
  CHECK_FALSE(device.has_given_up());
}

TEST_CASE("where it is not known what a launch writes, all is logged") {
  Device device;
  CHECK(device.launch(kLegacyStream, kIn, kNowhere).count == 0);
  device.kernel.writes.is_known = false;
  CHECK(device.launch(kLegacyStream, kIn, kOut).count == 0);
}

TEST_CASE("a number is added to a pointer, unless what it is added to was loaded") {
  Device device;
  device.kernel.writes.arguments = {{0, 0}};
  CHECK(is_range(device.launch(kLegacyStream, 640, kOut), kOut));
  CHECK(is_range(device.launch(kLegacyStream, ~std::uint64_t{7}, kOut), kOut));
  CHECK(device.launch(kLegacyStream, kNowhere, kOut).count == 0);
  device.kernel.writes.has_loaded_index = true;
  CHECK(device.launch(kLegacyStream, 640, kOut).count == 0);
  CHECK(device.launch(kLegacyStream, 0, kOut).count == 0);  // an index may be 0
}

TEST_CASE("a pointer to an end writes what ends there, unless an allocation begins there") {
  Device device;
  CHECK(device.launch(kLegacyStream, kOut, kOut + kBytes).count == 0);
  device.allocations.add(kOut + kBytes, kBytes, "cudaMalloc");
  CHECK(is_range(device.launch(kLegacyStream, kOut, kOut + kBytes), kOut));
  CHECK(device.launch(kLegacyStream, kOut + kBytes, kOut + kBytes).count == 0);
  CHECK(is_range(device.launch(kLegacyStream, kIn, kOther + kBytes), kIn));
}

TEST_CASE("a variable of a module is never left out, and a write of one keeps nobody's reads") {
  Device device;
  device.allocations.add_variable(kIn, kBytes, "__device__ variable x");
  CHECK(device.launch(kLegacyStream, kIn, kOut).count == 0);
  device.kernel.writes.variables = true;
  CHECK(is_range(device.launch(kLegacyStream, kOther, kOut), kOther));
}

TEST_CASE("with the option, a recording and the paper's rules all is logged") {
  Options options = options_with("off");
  CHECK(Device(options).launch(kLegacyStream, kIn, kOut).count == 0);
  options = options_with("auto");
  options.record = "trace";
  CHECK(Device(options).launch(kLegacyStream, kIn, kOut).count == 0);
  options = options_with("on");
  options.model = "paper";
  CHECK(Device(options).launch(kLegacyStream, kIn, kOut).count == 0);
}

TEST_CASE("beside work that it does not come after, a launch is logged") {
  Device device(options_with("on"));
  device.streams.created(Handle{kStream}, true);
  device.copy_to(StreamKey{kStream}, kIn);
  CHECK(device.launch(kLegacyStream, kIn, kOut).count == 0);
  device.streams.stream_synchronized(StreamKey{kStream});
  CHECK(is_range(device.launch(kLegacyStream, kIn, kOut), kIn));
}

TEST_CASE("filter=auto leaves out only where nothing is likely to come beside") {
  Device device;
  device.streams.created(Handle{kStream}, false);
  CHECK(is_range(device.launch(kLegacyStream, kIn, kOut), kIn));  // who waits for whom is known
  CHECK(is_range(device.launch(StreamKey{kStream}, kIn, kOut), kIn));
  device.streams.created(Handle{kSecond}, false);
  CHECK(device.launch(StreamKey{kStream}, kIn, kOut).count == 0);
  CHECK(is_range(device.launch(kLegacyStream, kIn, kOut), kIn));
  device.streams.created(Handle{kSecond + 1}, true);
  CHECK(device.launch(kLegacyStream, kIn, kOut).count == 0);

  Device alone;
  alone.streams.created(Handle{kStream}, true);
  CHECK(is_range(alone.launch(StreamKey{kStream}, kIn, kOut), kIn));
  alone.streams.stream_synchronized(StreamKey{kStream});
  CHECK(alone.launch(kLegacyStream, kIn, kOut).count == 0);
  alone.streams.device_synchronized();
  CHECK(alone.launch(StreamKey{kStream}, kIn, kOut).count == 0);
}

TEST_CASE("filter=auto leaves out where streams were there to be beside each other and are not") {
  Device device;
  device.streams.created(Handle{kStream}, true);
  device.streams.created(Handle{kSecond}, true);
  const StreamKey stream{kStream}, second{kSecond};
  const auto launches_until_left_out = [&] {
    std::uint32_t logged = 0;
    while (logged < 100 && device.launch(stream, kIn, kOut).count == 0) {
      ++logged;
    }
    return logged;
  };
  CHECK(launches_until_left_out() == 15);
  CHECK(is_range(device.launch(stream, kIn, kOut), kIn));
  CHECK(device.reads.unforeseen_launches() == 15);
  SECTION("another is used after the host has waited") {
    device.streams.device_synchronized();
    CHECK(is_range(device.launch(second, kIn, kOut), kIn));
  }
  SECTION("another is used beside it, which is held against what stayed unlogged") {
    CHECK(device.launch(second, kOther, kOut).count == 0);
    CHECK_FALSE(device.has_given_up());
    device.streams.device_synchronized();
    CHECK(launches_until_left_out() == 15);
    device.launch(second, kOther, kIn);
    CHECK(device.has_given_up());
  }
  SECTION("a copy beside it") {
    device.copy_to(second, kOther);
    device.streams.device_synchronized();
    CHECK(launches_until_left_out() == 15);
  }
  SECTION("another is created") {
    device.streams.created(Handle{kSecond + 1}, true);
    CHECK(launches_until_left_out() == 15);
  }
}

TEST_CASE("a programmatic launch is logged") {
  Device device;
  CHECK(device.launch(kLegacyStream, kIn, kOut, true).count == 0);
}

TEST_CASE("a programmatic launch that waits first is like any other") {
  Device device;
  device.kernel.waits_first = true;
  CHECK(is_range(device.launch(kLegacyStream, kIn, kOut, true), kIn));
  device.launch(kLegacyStream, kOther, kIn, true);
  CHECK_FALSE(device.has_given_up());
}

TEST_CASE("who lets dependents begin is logged until some of them have waited") {
  Device device;
  device.kernel.lets_dependents_begin = device.kernel.waits_first = true;
  const auto is_left_out = [&] {
    return is_range(device.launch(kLegacyStream, kIn, kOut, true), kIn);
  };
  CHECK_FALSE(is_range(device.launch(kLegacyStream, kIn, kOut), kIn));  // no example
  for (int i = 1; i < 4; ++i) {
    CHECK_FALSE(is_left_out());
  }
  CHECK(is_left_out());
  device.kernel.waits_first = false;
  SECTION("one that does not wait, and writes what was read") {
    device.launch(kLegacyStream, kOther, kIn, true);
    REQUIRE(device.has_given_up());
    CHECK_THAT(device.problems.sentences()[0], Contains("may write memory while launch 5"));
  }
  SECTION("one that does not wait, and touches other memory") {
    device.launch(kLegacyStream, kOther, kOther, true);
    CHECK_FALSE(device.has_given_up());
    device.kernel.waits_first = true;
    CHECK_FALSE(is_left_out());
  }
  SECTION("one that does not wait, behind one that lets nobody begin") {
    device.kernel.lets_dependents_begin = false;
    CHECK(is_range(device.launch(kLegacyStream, kIn, kOut), kIn));
    device.launch(kLegacyStream, kOther, kIn, true);
    CHECK_FALSE(device.has_given_up());
  }
  SECTION("with filter=on nobody guesses") {
    Device sure(options_with("on"));
    sure.kernel.lets_dependents_begin = true;
    CHECK(is_range(sure.launch(kLegacyStream, kIn, kOut), kIn));
  }
}

TEST_CASE("a programmatic launch overtakes nobody who does not let dependents begin") {
  for (const bool has_rival : {false, true}) {
    Device device(options_with("on"));
    CHECK(is_range(device.launch(kLegacyStream, kIn, kOut), kIn));
    if (has_rival) {
      device.streams.created(Handle{kStream}, true);
    }
    device.launch(kLegacyStream, kOther, kIn, true);
    CHECK(device.has_given_up() == has_rival);
  }
}

TEST_CASE("a copy that may overtake a launch is told, and all is logged from then on") {
  Device device(options_with("on"));
  device.launch(kLegacyStream, kIn, kOut);
  device.streams.created(Handle{kStream}, true);
  SECTION("it writes what was read") {
    device.copy_to(StreamKey{kStream}, kIn);
    REQUIRE(device.has_given_up());
    CHECK_THAT(device.problems.sentences()[0], Contains("a copy, memset or free") &&
                                                   Contains("launch 1 (k)") &&
                                                   Contains("filter=off"));
    device.streams.device_synchronized();
    CHECK(device.launch(kLegacyStream, kIn, kOut).count == 0);
  }
  SECTION("it writes something else, or nothing") {
    device.copy_to(StreamKey{kStream}, kOut);
    device.copy_to(StreamKey{kStream}, kIn, false);
    CHECK_FALSE(device.has_given_up());
  }
  SECTION("the host has waited for the launch") {
    device.streams.device_synchronized();
    device.copy_to(StreamKey{kStream}, kIn);
    CHECK_FALSE(device.has_given_up());
  }
}

TEST_CASE("what was read ends with the free that comes after it") {
  Device device(options_with("on"));
  device.launch(kLegacyStream, kIn, kOut);
  device.streams.created(Handle{kStream}, true);
  const auto free_in = [&](StreamKey stream) {
    device.reads.begin({.id = device.streams.copy(stream, CopyId{++device.copies}).id,
                        .operation = detector::HostOperation::kFree,
                        .accesses = {{.address = kIn, .row_bytes = kBytes, .is_written = true}}});
  };
  SECTION("it comes after the launch") {
    free_in(kLegacyStream);
    device.copy_to(StreamKey{kStream}, kIn);
    CHECK_FALSE(device.has_given_up());
  }
  SECTION("it does not") {
    free_in(StreamKey{kStream});
    CHECK(device.has_given_up());
  }
}

TEST_CASE("a launch that may overtake another is told if it may write what that one read") {
  Device device(options_with("on"));
  device.launch(kLegacyStream, kIn, kOut);
  device.streams.created(Handle{kStream}, true);
  SECTION("it does not") {
    device.launch(StreamKey{kStream}, kIn, kOther);
    CHECK_FALSE(device.has_given_up());
  }
  SECTION("it does") {
    device.launch(StreamKey{kStream}, kOut, kIn);
    CHECK(device.has_given_up());
  }
  SECTION("nobody knows") {
    device.kernel.writes.is_known = false;
    device.launch(StreamKey{kStream}, kOut, kOther);
    CHECK(device.has_given_up());
  }
  SECTION("it is a graph's") {
    const LaunchId id{++device.launches};
    device.streams.launch(StreamKey{kStream}, id);
    device.reads.begin(id);
    CHECK(device.has_given_up());
  }
  SECTION("an older one read it") {
    device.launch(kLegacyStream, kOther, kOut);
    device.launch(StreamKey{kStream}, kOut, kIn);
    CHECK(device.has_given_up());
  }
}

TEST_CASE("what many launches read is not forgotten") {
  Device device(options_with("on"));
  for (std::uint64_t i = 1; i <= 100; ++i) {
    device.allocations.add(kOther + i * 0x10000, kBytes, "cudaMalloc");
    CHECK(device.launch(kLegacyStream, kOther + i * 0x10000, kOut).count == 1);
  }
  device.streams.created(Handle{kStream}, true);
  device.copy_to(StreamKey{kStream}, kOther + 0x10000);
  CHECK(device.has_given_up());
}

TEST_CASE("a write that the logger met where none should be is told") {
  Device device;
  wire::UnloggedMemory unwritten = device.launch(kLegacyStream, kIn, kOut);
  device.reads.end(LaunchId{1}, unwritten);
  CHECK_FALSE(device.has_given_up());
  unwritten.written = 1;
  device.reads.end(LaunchId{1}, unwritten);
  CHECK(device.has_given_up());
}

constexpr std::uint64_t kMany = 26;

// A launch with so many arrays, each so much behind the one before it; the second is written.
wire::UnloggedMemory leave_out_of_many(std::uint64_t apart) {
  Device device;
  device.kernel.parameters = {{0, 8}, {8, 8}, {16, 8 * (kMany - 2)}};
  std::vector<std::byte> arguments(8 * kMany);
  for (std::uint64_t i = 0; i < kMany; ++i) {
    const std::uint64_t pointer = kOther + i * apart;
    device.allocations.add(pointer, 64 * (i + 1), "cudaMalloc");
    std::memcpy(arguments.data() + 8 * i, &pointer, 8);
  }
  const LaunchId id{++device.launches};
  device.streams.launch(kLegacyStream, id);
  return device.reads
      .begin({.id = id, .stream = kLegacyStream, .kernel = device.kernel, .arguments = arguments})
      .memory;
}

TEST_CASE("more ranges than a descriptor has room for: the largest are left out") {
  const wire::UnloggedMemory unwritten = leave_out_of_many(0x1000000);
  REQUIRE(unwritten.count == wire::kMostUnloggedRanges);
  for (std::uint32_t i = 0; i < unwritten.count; ++i) {
    CHECK(unwritten.ranges[i].bytes > 64 * (kMany - wire::kMostUnloggedRanges));
  }
}

TEST_CASE("of too many ranges neighbours become one, with nothing between them that is written") {
  constexpr std::uint64_t kApart = 0x10000;
  const wire::UnloggedMemory unwritten = leave_out_of_many(kApart);
  REQUIRE(unwritten.count == wire::kMostUnloggedRanges);
  const auto is_left_out = [&](std::uint64_t address) {
    return std::ranges::any_of(unwritten.ranges, [&](const wire::UnloggedRange& range) {
      return address - range.address < range.bytes;
    });
  };
  for (std::uint64_t i = 0; i < kMany; ++i) {
    CHECK(is_left_out(kOther + i * kApart) == (i != 1));
    CHECK(is_left_out(kOther + i * kApart + 64 * (i + 1) - 1) == (i != 1));
  }
}

TEST_CASE("what threads own stays unlogged, behind what is not written") {
  Device device;
  device.use_own_words();
  CHECK(device.leave_out(kLegacyStream, kIn, kOut).memory.owned == 0);  // two blocks meet

  Device alone;
  alone.use_own_words();
  alone.add_blocks();
  const UnloggedAccesses::LeftOut left_out = alone.leave_out(kLegacyStream, kOut, kIn);
  REQUIRE((left_out.memory.count == 2 && left_out.memory.owned == 1));
  CHECK(left_out.memory.ranges[0].address == kOut);  // not written
  CHECK(left_out.memory.ranges[1].address == kIn);
  CHECK(left_out.sites.first == 40);
  for (std::uint32_t i = 0; i < wire::kMostOwnedSites; ++i) {
    CHECK(left_out.sites.ranges[i] == (i == 3 || i == 4 ? 1 << 1 : 0));
  }
}

TEST_CASE("an access that may be to two arrays, or has no place in the table, owns nothing") {
  Device device;
  device.use_own_words();
  device.add_blocks();
  ptx::GlobalAccess& store = device.kernel.accesses.accesses[1];
  store.first_site = 40 + wire::kMostOwnedSites - 2;
  CHECK(device.launch(kLegacyStream, kIn, kOut).owned == 1);
  ++store.first_site;
  CHECK(device.launch(kLegacyStream, kIn, kOut).owned == 0);
  store.first_site = 43;
  store.leads.arguments.push_back({0, 0});
  CHECK(device.launch(kLegacyStream, kIn, kOut).owned == 0);
  CHECK(device.launch(kLegacyStream, kOut, kOut).owned == 1);
}

TEST_CASE("both arguments in one array are looked at together") {
  Device device;
  device.use_own_words();
  device.add_blocks();
  const UnloggedAccesses::LeftOut same = device.leave_out(kLegacyStream, kOut, kOut);
  CHECK((same.memory.count == 1 && same.memory.owned == 1));
  CHECK((same.sites.ranges[0] == 1 && same.sites.ranges[3] == 1));
  CHECK(device.launch(kLegacyStream, kOut + 4, kOut).count == 0);
}

TEST_CASE("a shortcut leads to what all its accesses leave out") {
  Device device;
  device.use_own_words();
  device.kernel.shortcuts = {
      {.argument = ptx::ArgumentWord{.parameter = 0}, .accesses = {0}},
      {.argument = ptx::ArgumentWord{.parameter = 1}, .stores = true, .accesses = {1}}};
  const auto shortcuts = [&](std::uint64_t in, std::uint64_t out) {
    return device.leave_out(kLegacyStream, in, out).shortcuts;
  };
  const auto is_array = [](const wire::UnloggedRange& range, std::uint64_t address) {
    return range.address == address && range.bytes == kBytes;
  };
  SECTION("what is read, and what threads own") {
    device.add_blocks();
    const auto ranges = shortcuts(kIn + 16, kOut);
    CHECK((is_array(ranges[0], kIn) && is_array(ranges[1], kOut)));
  }
  SECTION("not what several threads write") {
    const auto ranges = shortcuts(kIn, kOut);
    CHECK((is_array(ranges[0], kIn) && ranges[1].bytes == 0));
  }
  SECTION("not by accesses of which one has no place in the table") {
    device.add_blocks();
    device.kernel.shortcuts[1].accesses.push_back(2);
    device.kernel.accesses.accesses.push_back(
        {.leads = {.is_known = true, .arguments = {{0, 0}}}, .first_site = 90, .sites = 1});
    CHECK(shortcuts(kIn, kOut)[1].bytes == 0);
  }
  SECTION("not by stores to what is not written") {
    device.kernel.shortcuts[0].stores = true;
    CHECK(shortcuts(kIn, kOut)[0].bytes == 0);
  }
  SECTION("not in front of an array, nor behind it") {
    CHECK(shortcuts(kIn - 1, kOut)[0].bytes == 0);
    CHECK(shortcuts(kIn + kBytes, kOut)[0].bytes == 0);
  }
  SECTION("to the last whole piece of an array, in which an aligned access ends") {
    const auto bytes = [&](std::uint64_t in) {
      const UnloggedAccesses::LeftOut left_out = device.leave_out(kLegacyStream, in, kOut);
      return std::pair(left_out.shortcuts[0].bytes, left_out.whole_shortcuts()[0].bytes);
    };
    device.allocations.add(0x40000, 90, "cudaMalloc");
    CHECK(bytes(0x40000) == std::pair<std::uint64_t, std::uint64_t>(90, 64));
    device.allocations.add(0x50000, 9, "cudaMalloc");
    CHECK(bytes(0x50000) == std::pair<std::uint64_t, std::uint64_t>(9, 0));
  }
  SECTION("to a variable, by its name") {
    device.kernel.shortcuts[0] = {.variable = "table", .accesses = {0}};
    device.kernel.variables = {"other", "table"};
    device.variables = {{}, {.address = 0x9000, .bytes = 64}};
    CHECK(shortcuts(kIn, kOut)[0].bytes == 64);
    device.kernel.writes.variables = true;
    CHECK(shortcuts(kIn, kOut)[0].bytes == 0);
  }
  SECTION("not if all is logged") {
    Device off(options_with("off"));
    off.kernel = device.kernel;
    CHECK(off.leave_out(kLegacyStream, kIn, kOut).shortcuts[0].bytes == 0);
  }
}

TEST_CASE("a guarded form is for launches that fill in all shortcuts of their kernel") {
  Device device;
  device.use_own_words();
  device.kernel.shortcuts = {
      {.argument = ptx::ArgumentWord{.parameter = 0}, .accesses = {0}},
      {.argument = ptx::ArgumentWord{.parameter = 1}, .stores = true, .accesses = {1}}};
  device.kernel.guarded = "a text";
  CHECK_FALSE(device.leave_out(kLegacyStream, kIn, kOut).is_all_of(device.kernel));
  device.add_blocks();
  CHECK(device.leave_out(kLegacyStream, kIn, kOut).is_all_of(device.kernel));
  device.kernel.guarded.clear();
  CHECK_FALSE(device.leave_out(kLegacyStream, kIn, kOut).is_all_of(device.kernel));
}

TEST_CASE("a repeated launch leaves out all that it does, and others are held against that") {
  Device device(options_with("on"));
  device.use_own_words();
  device.streams.created(Handle{kStream}, true);
  device.is_repeated = true;
  const auto is_whole = [&](std::uint64_t in, std::uint64_t out) {
    return device.leave_out(kLegacyStream, in, out).is_whole;
  };
  SECTION("who writes what it reads") {
    CHECK(is_whole(kIn, kOut));
    device.copy_to(StreamKey{kStream}, kIn);
    CHECK(device.has_given_up());
  }
  SECTION("who reads what it writes") {
    CHECK(is_whole(kIn, kOut));
    device.copy_to(StreamKey{kStream}, kOut, false);
    CHECK(device.has_given_up());
  }
  SECTION("who reads what it reads") {
    CHECK(is_whole(kIn, kOut));
    device.copy_to(StreamKey{kStream}, kIn, false);
    CHECK_FALSE(device.has_given_up());
  }
  SECTION("not beside work that it does not come after") {
    device.copy_to(StreamKey{kStream}, kIn);
    CHECK_FALSE(is_whole(kIn, kOut));
  }
  SECTION("not if it reads where there is no allocation") {
    CHECK_FALSE(is_whole(kNowhere, kOut));
    CHECK(is_whole(640, kOut));
    device.kernel.accesses.accesses[0].leads.has_loaded_index = true;
    CHECK_FALSE(is_whole(640, kOut));
  }
  SECTION("not if it may access variables") {
    device.kernel.accesses.accesses[0].leads.variables = true;
    CHECK_FALSE(is_whole(kIn, kOut));
  }
  SECTION("not the first of them") {
    device.is_repeated = false;
    CHECK_FALSE(is_whole(kIn, kOut));
  }
}

TEST_CASE("who may read what was owned, unordered, is told") {
  Device device(options_with("on"));
  device.use_own_words();
  device.add_blocks();
  REQUIRE(device.launch(kLegacyStream, kIn, kOut).owned == 1);
  device.streams.created(Handle{kStream}, true);
  SECTION("a copy") {
    device.copy_to(StreamKey{kStream}, kOut, false);
    REQUIRE(device.has_given_up());
    CHECK_THAT(device.problems.sentences()[0], Contains("may access memory while launch 1"));
  }
  SECTION("a copy of what was only read") {
    device.copy_to(StreamKey{kStream}, kIn, false);
    CHECK_FALSE(device.has_given_up());
  }
  SECTION("a launch") {
    device.launch(StreamKey{kStream}, kOut, kOther);
    CHECK(device.has_given_up());
  }
  SECTION("a launch of other arrays") {
    device.launch(StreamKey{kStream}, kIn, kOther);
    CHECK_FALSE(device.has_given_up());
  }
  SECTION("a launch of which nobody knows what it reads") {
    device.kernel.accesses.are_known = false;
    device.launch(StreamKey{kStream}, kIn, kOther);
    CHECK(device.has_given_up());
  }
  SECTION("the host has waited") {
    device.streams.device_synchronized();
    device.copy_to(StreamKey{kStream}, kOut, false);
    CHECK_FALSE(device.has_given_up());
  }
  SECTION("it was freed") {
    device.reads.begin({.id = device.streams.copy(kLegacyStream, CopyId{++device.copies}).id,
                        .operation = detector::HostOperation::kFree,
                        .accesses = {{.address = kOut, .row_bytes = kBytes, .is_written = true}}});
    device.copy_to(StreamKey{kStream}, kOut, false);
    CHECK_FALSE(device.has_given_up());
  }
}

TEST_CASE("an access of what was taken to be owned is told") {
  Device device;
  device.use_own_words();
  device.add_blocks();
  wire::UnloggedMemory unlogged = device.launch(kLegacyStream, kIn, kOut);
  unlogged.written = 1;
  device.reads.end(LaunchId{1}, unlogged);
  REQUIRE(device.has_given_up());
  CHECK_THAT(device.problems.sentences()[0], Contains("one thread's alone"));
}

}  // namespace
}  // namespace barracuda::session
