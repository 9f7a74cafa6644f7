// Plain reads of memory that a launch does not write leave no record, and neither do the accesses
// that were looked at to memory that its threads own; what else is done there leaves one and a
// mark.
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "logged_machine.h"

namespace barracuda::wire {
namespace {

constexpr std::uint32_t kThreads = 32;

struct Arrays {
  std::uint64_t base, offsets, values;
};

// Thread t stores values[t] at base + stride * t.
Arrays allocate(LoggedMachine& machine, std::int64_t stride) {
  const Arrays arrays{.base = machine.allocate(4096),
                      .offsets = machine.allocate(kThreads * 8),
                      .values = machine.allocate(kThreads * 4)};
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    LoggedMachine::at<std::int64_t>(arrays.offsets)[thread] = stride * thread;
  }
  return arrays;
}

std::uint32_t lanes_of(const std::vector<LoggedRecord>& records, const LoggedMachine& machine,
                       const char* instruction) {
  std::uint32_t lanes = 0;
  for (const LoggedRecord& record : records) {
    if (machine.site_of(record).instruction.starts_with(instruction)) {
      lanes |= record.header.mask;
    }
  }
  return lanes;
}

}  // namespace

TEST_CASE("plain reads of memory that a launch does not write are not logged", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const Arrays arrays = allocate(machine, 4);
  const auto run = [&] {
    machine.launch("write_pattern", 1, kThreads, {arrays.base, arrays.offsets, arrays.values});
    return machine.read();
  };
  const std::vector<LoggedRecord> all = run();
  CHECK(lanes_of(all, machine, "ld.global.u64") == ~0U);
  CHECK(lanes_of(all, machine, "ld.global.u32") == ~0U);

  // All of the offsets, and the values of half of the warp.
  machine.unlogged().count = 2;
  machine.unlogged().ranges[0] = {.address = arrays.offsets, .bytes = kThreads * 8};
  machine.unlogged().ranges[1] = {.address = arrays.values, .bytes = kThreads / 2 * 4};
  const std::vector<LoggedRecord> some = run();
  CHECK(lanes_of(some, machine, "ld.global.u64") == 0);
  CHECK(lanes_of(some, machine, "ld.global.u32") == 0xFFFF0000);
  CHECK(lanes_of(some, machine, "st.global") == ~0U);
  CHECK(machine.unlogged().written == 0);
}

TEST_CASE("a read that is in such memory with some of its bytes alone is logged", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const Arrays arrays = allocate(machine, 4);
  machine.unlogged().count = 1;
  // All but the first half of the first offset and the second half of the last one.
  machine.unlogged().ranges[0] = {.address = arrays.offsets + 4, .bytes = kThreads * 8 - 8};
  machine.launch("write_pattern", 1, kThreads, {arrays.base, arrays.offsets, arrays.values});
  CHECK(lanes_of(machine.read(), machine, "ld.global.u64") == 0x80000001);
}

TEST_CASE("a volatile read is logged wherever it is", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const Arrays arrays = allocate(machine, 4);
  *LoggedMachine::at<std::uint32_t>(arrays.values) = ~0U;  // which lanes read
  machine.unlogged().count = 1;
  machine.unlogged().ranges[0] = {.address = arrays.base, .bytes = 4096};
  const std::uint64_t sink = machine.allocate(kThreads * 4);
  machine.launch("read_pattern", 1, kThreads, {arrays.base, arrays.offsets, arrays.values, sink});
  CHECK(lanes_of(machine.read(), machine, "ld.volatile") == ~0U);
  CHECK(machine.unlogged().written == 0);
}

TEST_CASE("a write of such memory is logged, and told", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const Arrays arrays = allocate(machine, 4);
  machine.unlogged().count = 1;
  SECTION("with its last byte alone") {
    machine.unlogged().ranges[0] = {.address = arrays.base + 127, .bytes = 16};
    machine.launch("write_pattern", 1, kThreads, {arrays.base, arrays.offsets, arrays.values});
    CHECK(lanes_of(machine.read(), machine, "st.global") == ~0U);
    CHECK(machine.unlogged().written == 1);
  }
  SECTION("with its first byte alone") {
    machine.unlogged().ranges[0] = {.address = arrays.base - 15, .bytes = 16};
    machine.launch("write_pattern", 1, kThreads, {arrays.base, arrays.offsets, arrays.values});
    CHECK(machine.unlogged().written == 1);
  }
  SECTION("with bytes on both sides of it") {
    machine.unlogged().ranges[0] = {.address = arrays.base + 1, .bytes = 2};
    machine.launch("write_pattern", 1, kThreads, {arrays.base, arrays.offsets, arrays.values});
    CHECK(machine.unlogged().written == 1);
  }
  SECTION("beside it") {
    machine.unlogged().ranges[0] = {.address = arrays.base + 128, .bytes = 16};
    machine.launch("write_pattern", 1, kThreads, {arrays.base, arrays.offsets, arrays.values});
    CHECK(machine.unlogged().written == 0);
  }
  SECTION("by an atomic") {
    machine.unlogged().ranges[0] = {.address = arrays.base, .bytes = 4};
    machine.launch("take_tickets", 1, kThreads, {arrays.base, arrays.values});
    CHECK(lanes_of(machine.read(), machine, "atom") == ~0U);
    CHECK(machine.unlogged().written == 1);
  }
  SECTION("in shared memory of the same offset") {
    machine.unlogged().ranges[0] = {.address = 0, .bytes = 4096};
    machine.launch("use_shared", 1, kThreads, {arrays.base});
    CHECK(lanes_of(machine.read(), machine, "ld.shared") == ~0U);
    CHECK(machine.unlogged().written == 0);
  }
}

// One range, and the only site that was looked at for it.
struct OwnedRange {
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t site = 0;
};

void set_owned(LoggedMachine& machine, const OwnedRange& range) {
  machine.unlogged() = {.count = 2, .owned = 1};
  machine.unlogged().ranges[0] = {.address = 64, .bytes = 1};  // elsewhere
  machine.unlogged().ranges[1] = {.address = range.address, .bytes = range.bytes};
  machine.owned_sites() = {.first = range.site - 5};
  machine.owned_sites().ranges[5] = 1 << 1;
}

TEST_CASE("what was looked at of memory that threads own is not logged", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const Arrays arrays = allocate(machine, 4);
  const auto run = [&] {
    machine.launch("write_pattern", 1, kThreads, {arrays.base, arrays.offsets, arrays.values});
    return machine.read();
  };
  const auto site_of = [&](const char* instruction) {
    for (const LoggedRecord& record : run()) {
      if (machine.site_of(record).instruction.starts_with(instruction)) {
        return static_cast<std::uint32_t>(machine.site_of(record).id);
      }
    }
    FAIL("no such instruction");
    return 0U;
  };
  const std::uint32_t store = site_of("st.global"), load = site_of("ld.global.u32");
  SECTION("the store") {
    set_owned(machine, {.address = arrays.base, .bytes = 128, .site = store});
    const auto records = run();
    CHECK(lanes_of(records, machine, "st.global") == 0);
    CHECK(lanes_of(records, machine, "ld.global.u32") == ~0U);
    CHECK(machine.unlogged().written == 0);
  }
  SECTION("the load") {
    set_owned(machine, {.address = arrays.values, .bytes = kThreads * 4, .site = load});
    const auto records = run();
    CHECK(lanes_of(records, machine, "ld.global.u32") == 0);
    CHECK(lanes_of(records, machine, "st.global") == ~0U);
    CHECK(machine.unlogged().written == 0);
  }
  SECTION("what lies outside, or with some of its bytes, is logged") {
    set_owned(machine, {.address = arrays.base + 4, .bytes = 122, .site = store});
    CHECK(lanes_of(run(), machine, "st.global") == 0x80000001);
    CHECK(machine.unlogged().written == 0);
  }
  SECTION("another site is told") {
    const std::uint32_t other = GENERATE(1U, 2U, 0x00FFFFFFU);
    set_owned(machine, {.address = arrays.base + 124, .bytes = 4, .site = store + other});
    CHECK(lanes_of(run(), machine, "st.global") == ~0U);
    CHECK(machine.unlogged().written == 1);
  }
  SECTION("a site beyond the table is told") {
    set_owned(machine, {.address = arrays.base, .bytes = 128, .site = store});
    machine.owned_sites().first = store - kMostOwnedSites;
    CHECK(lanes_of(run(), machine, "st.global") == ~0U);
    CHECK(machine.unlogged().written == 1);
  }
  SECTION("another read is told") {
    set_owned(machine, {.address = arrays.values + 124, .bytes = 4, .site = store});
    CHECK(lanes_of(run(), machine, "ld.global.u32") == ~0U);
    CHECK(machine.unlogged().written == 1);
  }
  SECTION("a read in front of it is none of it") {
    set_owned(machine, {.address = arrays.values + 128, .bytes = 4, .site = store});
    run();
    CHECK(machine.unlogged().written == 0);
  }
  SECTION("a site that was looked at for another range is told") {
    set_owned(machine, {.address = arrays.base, .bytes = 128, .site = store});
    machine.owned_sites().ranges[5] = 1 << 0;
    CHECK(lanes_of(run(), machine, "st.global") == ~0U);
    CHECK(machine.unlogged().written == 1);
  }
}

TEST_CASE("a site that has raced often enough is logged no more", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const Arrays arrays = allocate(machine, 4);
  const auto run = [&] {
    machine.launch("write_pattern", 1, kThreads, {arrays.base, arrays.offsets, arrays.values});
    return machine.read();
  };
  SiteId store{};
  for (const LoggedRecord& record : run()) {
    if (machine.site_of(record).instruction.starts_with("st.global")) {
      store = machine.site_of(record).id;
    }
  }
  machine.make_quiet(SiteId{static_cast<std::uint32_t>(store) + 1});
  CHECK(lanes_of(run(), machine, "st.global") == ~0U);
  machine.make_quiet(store);
  const std::vector<LoggedRecord> records = run();
  CHECK(lanes_of(records, machine, "st.global") == 0);
  CHECK(lanes_of(records, machine, "ld.global.u32") == ~0U);
}

TEST_CASE("volatile reads, acquires and atomics of memory that threads own are told", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const Arrays arrays = allocate(machine, 4);
  machine.unlogged() = {.count = 1, .owned = 1};
  machine.unlogged().ranges[0] = {.address = arrays.base, .bytes = 4};
  SECTION("a volatile read") {
    *LoggedMachine::at<std::uint32_t>(arrays.values) = ~0U;  // which lanes read
    const std::uint64_t sink = machine.allocate(kThreads * 4);
    machine.launch("read_pattern", 1, kThreads, {arrays.base, arrays.offsets, arrays.values, sink});
    CHECK(lanes_of(machine.read(), machine, "ld.volatile") == ~0U);
  }
  SECTION("an acquire") {
    *LoggedMachine::at<std::uint32_t>(arrays.base) = 1;  // the flag
    machine.launch("await_flag", 1, 2, {arrays.base, arrays.values});
    CHECK(machine.read("ld.volatile").size() != 0);
  }
  SECTION("an atomic") {
    machine.launch("take_tickets", 1, kThreads, {arrays.base, arrays.values});
    CHECK(lanes_of(machine.read(), machine, "atom") == ~0U);
  }
  CHECK(machine.unlogged().written == 1);
}

}  // namespace barracuda::wire
