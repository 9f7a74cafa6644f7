// Launches that are run in pieces: who only polls stands aside, and who does anything else does
// not.
#include <atomic>
#include <cstdint>
#include <vector>

#include "tests/unit/emulator/device.h"

namespace barracuda::emulator::test {

namespace {

// Every schedule: with a seed, with several host threads, with one, and from the last block on.
std::vector<MachineOptions> schedules() {
  std::vector<MachineOptions> all(4);
  all[0].seed = 5;
  all[1].workers = 2;
  all[2].workers = 1;
  all[3].is_reversed = true;
  return all;
}

void write(std::uint64_t address, std::uint32_t value) {
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(address)).store(value);
}

std::uint64_t buffer(Device& device) {
  return device.buffer(std::vector<std::uint64_t>(2048, 0));
}

// Thread 0 of each block polls [base + 4096] and tells the others through shared memory.
constexpr const char* kPollForBlock = R"(
AGAIN:
  mov.u32 %r9, %tid.x;
  setp.ne.u32 %p1, %r9, 0;
  @%p1 bra MEET;
  ld.volatile.global.u32 %r1, [%base+4096];
  st.shared.u32 [told], %r1;
MEET:
  bar.sync 0;
  ld.shared.u32 %r2, [told];
  bar.sync 0;
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra AGAIN;
  cvt.u64.u32 %d1, %r2;
  st.global.u64 [%out], %d1;)";

}  // namespace

TEST_CASE("a launch whose threads only poll stands aside until what they poll changes") {
  const std::string poll = GENERATE(
      "ld.volatile.global.u32 %r1, [%base+4096];", "ld.global.u32 %r1, [%base+4096]; membar.gl;",
      "atom.global.add.u32 %r1, [%base+4096], 0;",
      "atom.global.cas.b32 %r1, [%base+4096], 7, 8; nanosleep.u32 20;",
      "mov.u32 %r9, %r8; ld.relaxed.gpu.global.u32 %r1, [%base+4096]; st.global.u32 [%base+8192], "
      "0;");
  for (const MachineOptions& options : schedules()) {
    CAPTURE(poll, options.seed.has_value(), options.workers, options.is_reversed);
    Device device(kernel_text("AGAIN:\n" + poll + R"(
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra AGAIN;
  cvt.u64.u32 %d1, %r1;
  st.global.u64 [%out], %d1;)"),
                  options);
    const std::uint64_t cells = buffer(device);
    const auto launch = device.begin("k", shape({3}, {64}), cells);
    REQUIRE(launch->run({}) == RunResult::kPolling);
    REQUIRE_FALSE(launch->is_woken());
    REQUIRE(launch->run({.polls_on = true}) == RunResult::kPolling);
    write(cells + 4100, 1);  // beside it
    REQUIRE_FALSE(launch->is_woken());
    write(cells + 4096, 3);
    REQUIRE(launch->is_woken());
    REQUIRE(launch->run({}) == RunResult::kEnded);
    REQUIRE(launch->finish().code == DeviceErrorCode::kNone);
    REQUIRE(device.read<std::uint64_t>(cells, 192) == std::vector<std::uint64_t>(192, 3));
  }
}

TEST_CASE("a block in which one thread polls for the others stands aside too") {
  for (const MachineOptions& options : schedules()) {
    CAPTURE(options.seed.has_value(), options.workers, options.is_reversed);
    Device device(kernel_text(kPollForBlock, ".shared .align 4 .u32 told;\n"), options);
    const std::uint64_t cells = buffer(device);
    const auto launch = device.begin("k", shape({2}, {96}), cells);
    REQUIRE(launch->run({}) == RunResult::kPolling);
    write(cells + 4096, 9);
    REQUIRE(launch->is_woken());
    REQUIRE(launch->run({}) == RunResult::kEnded);
    REQUIRE(device.read<std::uint64_t>(cells, 192) == std::vector<std::uint64_t>(192, 9));
  }
}

TEST_CASE("a launch one of whose threads works does not stand aside") {
  // Thread 0 counts in memory, or in a register without reading anything.
  const std::string work = GENERATE(
      "ld.global.u32 %r2, [%base+4104]; add.u32 %r2, %r2, 1; "
      "st.global.u32 [%base+4104], %r2;",
      "add.u32 %r2, %r2, 1;");
  for (const MachineOptions& options : schedules()) {
    CAPTURE(work, options.seed.has_value(), options.workers, options.is_reversed);
    Device device(kernel_text(R"(
  mov.u32 %r2, 0;
  setp.eq.u32 %p1, %thread, 0;
  @%p1 bra WORK;
AGAIN:
  ld.volatile.global.u32 %r1, [%base+4096];
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra AGAIN;
  bra END;
WORK:
)" + work + R"(
  setp.lt.u32 %p3, %r2, 40000;
  @%p3 bra WORK;
  st.volatile.global.u32 [%base+4096], %r2;
END:)"),
                  options);
    const std::uint64_t cells = buffer(device);
    const auto launch = device.begin("k", shape({2}, {64}), cells);
    REQUIRE(launch->run({}) == RunResult::kEnded);
    REQUIRE(device.read<std::uint32_t>(cells + 4096, 1).front() == 40000);
  }
}

TEST_CASE("blocks that wait for one that has not started do not stand aside") {
  for (const MachineOptions& options : schedules()) {
    CAPTURE(options.seed.has_value(), options.workers, options.is_reversed);
    Device device(kernel_text(R"(
  mov.u32 %r9, %nctaid.x;
  atom.global.add.u32 %r1, [%base+4096], 1;
AGAIN:
  ld.volatile.global.u32 %r1, [%base+4096];
  setp.lt.u32 %p1, %r1, %r9;
  @%p1 bra AGAIN;)"),
                  options);
    const std::uint64_t cells = buffer(device);
    const auto launch = device.begin("k", shape({64}, {1}), cells);
    REQUIRE(launch->run({}) == RunResult::kEnded);
  }
}

TEST_CASE("a loop that counts its tries stands aside, and ends when it is run on") {
  for (const MachineOptions& options : schedules()) {
    CAPTURE(options.seed.has_value(), options.workers, options.is_reversed);
    Device device(kernel_text(R"(
  mov.u32 %r2, 0;
AGAIN:
  add.u32 %r2, %r2, 1;
  ld.volatile.global.u32 %r1, [%base+4096];
  setp.eq.u32 %p1, %r1, 0;
  setp.lt.and.u32 %p1, %r2, 50000, %p1;
  @%p1 bra AGAIN;
  st.global.u32 [%out], %r2;)"),
                  options);
    const std::uint64_t cells = buffer(device);
    const auto launch = device.begin("k", shape({1}, {1}), cells);
    RunResult result = launch->run({});
    REQUIRE(result == RunResult::kPolling);
    while (result != RunResult::kEnded) {
      REQUIRE_FALSE(launch->is_woken());
      result = launch->run({.polls_on = true});
    }
    REQUIRE(device.read<std::uint32_t>(cells, 1).front() == 50000);
  }
}

TEST_CASE("with a seed the pieces that a launch is run in do not change what it does") {
  // The order of the threads is what each gets.
  const std::string text = kernel_text(R"(
  mov.u32 %r2, 0;
AGAIN:
  atom.global.add.u32 %r1, [%base+4096], 1;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 50;
  @%p1 bra AGAIN;
  cvt.u64.u32 %d1, %r1;
  st.global.u64 [%out], %d1;)");
  const auto run_by = [&](const RunLimit& limit) {
    MachineOptions options;
    options.seed = 11;
    Device device(text, options);
    const std::uint64_t cells = buffer(device);
    const auto launch = device.begin("k", shape({4}, {100}), cells);
    std::size_t pieces = 1;
    while (launch->run(limit) != RunResult::kEnded) {
      ++pieces;
    }
    REQUIRE((pieces > 1) == (limit.work < 1000));
    REQUIRE(launch->finish().code == DeviceErrorCode::kNone);
    return device.read<std::uint64_t>(cells, 400);
  };
  const auto whole = run_by({});
  REQUIRE(run_by({.work = 1}) == whole);
  REQUIRE(run_by({.work = 100, .polls_on = true}) == whole);
}

TEST_CASE("a launch can be ended where it stands") {
  for (const MachineOptions& options : schedules()) {
    Device device(kernel_text(R"(
AGAIN:
  ld.volatile.global.u32 %r1, [%base+4096];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra AGAIN;)"),
                  options);
    const auto launch = device.begin("k", shape({2}, {32}), buffer(device));
    REQUIRE(launch->run({}) == RunResult::kPolling);
    launch->end(DeviceErrorCode::kUnended, "was left alone");
    REQUIRE(launch->run({}) == RunResult::kEnded);
    const DeviceError error = launch->finish();
    REQUIRE(error.code == DeviceErrorCode::kUnended);
    REQUIRE(error.what == "was left alone");
    REQUIRE(error.message.starts_with("kernel k was left alone; block ("));
    REQUIRE(error.standing.size() == 1);
  }
}

}  // namespace barracuda::emulator::test
