#include <memory>

#include <catch2/catch.hpp>

#include "tests/unit/session/unlogged_device.h"

namespace barracuda::session {

TEST_CASE("filter=auto leaves out where streams work beside each other on memory of their own") {
  Device device;
  device.use_own_words();
  device.add_blocks();
  device.streams.created(Handle{kStream}, true);
  device.streams.created(Handle{kSecond}, true);
  const StreamKey stream{kStream}, second{kSecond};
  constexpr std::uint64_t kPart = 2 * 32 * 4;  // what a launch accesses of an array
  const auto launches_until_left_out = [&](std::uint64_t in, std::uint64_t out) {
    std::uint32_t logged = 0;
    while (
        logged < 100 &&
        device.launch(logged % 2 == 0 ? stream : second, kIn, logged % 2 == 0 ? kOut : out).count ==
            0) {
      ++logged;
    }
    const wire::UnloggedMemory last = device.launch(second, in, out);
    return last.count == 0 ? 100 : logged;
  };
  SECTION("arrays of their own, and one that both read") {
    CHECK(launches_until_left_out(kIn, kOther) == 32);
    const wire::UnloggedMemory left_out = device.launch(second, kIn, kOther);
    REQUIRE(left_out.count == 2);
    CHECK(left_out.ranges[0].address == kIn);
    CHECK(left_out.ranges[1].address == kOther);
    CHECK(left_out.owned == 1);
    CHECK(device.launch(stream, kIn, kOut).count == 2);
    SECTION("which a copy may write meanwhile") {
      device.copy_to(second, kIn);
      CHECK(device.has_given_up());
    }
    SECTION("of which a copy writes another part") {
      device.copy_to(second, kIn + kPart);
      CHECK_FALSE(device.has_given_up());
    }
    SECTION("one writes what the other one does") {
      device.launch(second, kIn, kOut);
      CHECK(device.has_given_up());
    }
    SECTION("another stream is created") {
      device.streams.created(Handle{kSecond + 1}, true);
      CHECK(launches_until_left_out(kIn, kOther) == 31);
    }
  }
  SECTION("parts of one array") {
    CHECK(launches_until_left_out(kIn + kPart, kOut + kPart) == 32);
    const wire::UnloggedMemory left_out = device.launch(second, kIn + kPart, kOut + kPart);
    REQUIRE(left_out.count == 2);
    CHECK(left_out.ranges[0].address == kIn + kPart);
    CHECK(left_out.ranges[0].bytes == kPart);
    CHECK(left_out.ranges[1].address == kOut + kPart);
    CHECK(left_out.ranges[1].bytes == kPart);
  }
  SECTION("parts of one array, after works that came one after the other") {
    for (int i = 0; i < 20; ++i) {
      device.launch(stream, kIn, kOut);
    }
    const wire::UnloggedMemory left_out = device.launch(second, kIn + kPart, kOut + kPart);
    CHECK(left_out.count == 0);  // the first of them that is beside another
    CHECK_FALSE(device.has_given_up());
  }
  SECTION("parts of which one byte is of both") {
    CHECK(launches_until_left_out(kIn, kOut + kPart - 4) == 100);
  }
  SECTION("addresses that are not known may be any of their array") {
    for (ptx::GlobalAccess& access : device.kernel.accesses.accesses) {
      access.form.reset();
    }
    CHECK(launches_until_left_out(kIn + kPart, kOut + kPart) == 100);
  }
}

TEST_CASE("filter=auto logs what is brief, of which there may be only so much") {
  const auto brief = [](const char* filter, std::uint32_t records) {
    auto device = std::make_unique<Device>(options_with(filter));
    device->kernel.most_records = records;
    return device;
  };
  const auto logs = [](Device& device) {
    return device.launch(detector::kLegacyStream, kIn, kOut).count == 0;
  };
  auto device = brief("auto", 1000);  // of two warps
  for (int launch = 0; launch < 8; ++launch) {
    CHECK(logs(*device));
  }
  CHECK_FALSE(logs(*device));
  device->kernel.most_records = 100;
  CHECK(logs(*device));
  device->kernel.most_records.reset();
  CHECK_FALSE(logs(*device));
  CHECK_FALSE(logs(*brief("auto", 1025)));
  CHECK(logs(*brief("auto", 1024)));
  CHECK_FALSE(logs(*brief("on", 100)));
}

TEST_CASE("a launch beside the allocation of its memory is logged, one before it is not told") {
  Device device(options_with("on"));
  device.streams.created(Handle{kStream}, true);
  const auto allocate = [&](std::uint64_t address) {
    const CopyId id{++device.copies};
    device.streams.launch(StreamKey{kStream}, id);
    device.reads.begin(
        {.id = id,
         .operation = detector::HostOperation::kAllocation,
         .accesses = {{.address = address, .row_bytes = kBytes, .is_written = true}}});
  };
  SECTION("beside it") {
    allocate(kOut);
    CHECK(device.launch(detector::kLegacyStream, kIn, kOut).count == 0);
  }
  SECTION("the memory was another's before") {
    device.launch(detector::kLegacyStream, kIn, kOut);
    allocate(kIn);
    CHECK_FALSE(device.has_given_up());
  }
}

}  // namespace barracuda::session
