// Plain reads of memory that a launch does not write leave no record; writes of it leave one and a
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
  CHECK(some.size() < all.size());
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

}  // namespace barracuda::wire
