// The log of weak memory: what it holds, that a run repeats, and that settings confine what is
// weak.
#include <algorithm>
#include <cstring>
#include <functional>

#include <fmt/format.h>

#include "tests/unit/emulator/litmus.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::count_of;
using test::Device;
using test::Litmus;
using test::Outcomes;
using test::run_litmus;
using test::shape;

namespace {

// Adds what is reported to a log.
std::function<void(const WeakLog&)> into(WeakLog& log) {
  return [&log](const WeakLog& more) { log.add(more); };
}

Litmus message() {
  return {.threads = {{0, "st.u32 [%x], 1;\nst.relaxed.gpu.u32 [%y], 1;"},
                      {1, "ld.relaxed.gpu.u32 %r0, [%y];\nfence.acq_rel.gpu;\nld.u32 %r1, [%x];"}}};
}

Weakness half() {
  Weakness weakness;
  weakness.delay_stores = 0.5;
  weakness.stale_reads = 0.5;
  return weakness;
}

const std::vector<std::uint32_t> kLate = {0, 0, 1, 0};

}  // namespace

TEST_CASE("the same seed repeats what was loaded and what is told; another does not") {
  WeakLog first, second, other;
  Weakness weakness = half();
  weakness.report = into(first);
  const Outcomes outcomes = run_litmus(message(), weakness);
  weakness.report = into(second);
  CHECK((run_litmus(message(), weakness) == outcomes));
  weakness.seed = 2;
  weakness.report = into(other);
  run_litmus(message(), weakness);
  REQUIRE(first.events.size() > 100);
  // Another machine has other addresses.
  for (WeakLog* log : {&first, &second}) {
    for (WeakEvent& event : log->events) {
      event.address = 0;
    }
  }
  CHECK((first.events == second.events));
  CHECK((first.drains == second.drains));
  CHECK_FALSE((first.events == other.events));
}

TEST_CASE("a log's decisions repeat the failure, and nothing else is made weak") {
  WeakLog log;
  Weakness weakness = half();
  weakness.stale_reads = 0;
  weakness.report = into(log);
  const int late = count_of(run_litmus(message(), weakness), kLate);
  REQUIRE(late > 0);
  Weakness repeated;
  repeated.has_decisions = true;
  for (const WeakEvent& event : log.events) {
    repeated.decisions.push_back(event.decision);
  }
  WeakLog again;
  repeated.report = into(again);
  CHECK(count_of(run_litmus(message(), repeated), kLate) == late);
  CHECK(again.events.size() == log.events.size());
  repeated.decisions.clear();
  CHECK(count_of(run_litmus(message(), repeated), kLate) == 0);
}

TEST_CASE("who reads the old value of a delayed store is told, and what ended the delay") {
  WeakLog log;
  Weakness weakness;
  weakness.delay_stores = 1;
  weakness.report = into(log);
  const Litmus litmus = {.threads = {{0, "st.u32 [%x], 1;\nnanosleep.u32 20;\nfence.acq_rel.gpu;"},
                                     {1, "ld.relaxed.gpu.u32 %r0, [%x];"}}};
  run_litmus(litmus, weakness);
  int read = 0, released = 0;
  for (const WeakEvent& event : log.events) {
    CHECK(event.decision.kernel == "k");
    CHECK(event.bytes == 4);
    if (event.decision.number == 1 && event.decision.block.x == 0) {
      CHECK(event.until == WeakEnd::kRelease);
      ++released;
      if (event.was_read) {
        CHECK(event.reader.block.x == 1);
        ++read;
      }
    }
  }
  CHECK(released == 400);
  CHECK(read > 5);
  CHECK(log.drains[0][1] == 400);
  CHECK(log.drains[1][0] == 400);
}

TEST_CASE("what the threads execute is counted, lane by lane") {
  const std::string text = test::kernel_text(R"(
    setp.lt.u32 %p1, %thread, 5;
    st.global.u64 [%out], 1;
    @%p1 st.shared.u32 [box], %thread;
    @%p1 fence.acq_rel.gpu;
    fence.sc.cta;)",
                                             ".shared .align 4 .b32 box;\n");
  WeakLog log;
  MachineOptions options;
  options.weakness.emplace();
  options.weakness->delay_stores = 1;
  options.weakness->report = into(log);
  Device device(text, options);
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(64, 0));
  device.run_well("k", shape({1}, {40}), out);
  CHECK(log.counts.stores == std::array<std::uint64_t, kWeakSpaces>{40, 5});
  REQUIRE(log.counts.fences.size() == 1);  // no lines: all of them are one place
  CHECK(log.counts.fences[0].count == 45);
  // Eleven of every thread, two of five, and fences again for each time that their drain let others
  // run.
  CHECK(log.counts.instructions >= 40 * 11 + 5 * 2);
  CHECK(log.counts.instructions < 40 * 32);
}

TEST_CASE("a plain flag that somebody polls is a starvation") {
  WeakLog log;
  Weakness weakness;
  weakness.delay_stores = 1;
  weakness.report = into(log);
  const Litmus litmus = {
      .threads = {{0, "st.u32 [%y], 1;"},
                  {1,
                   "@LAGAIN: ld.volatile.u32 %r0, [%y];\nsetp.eq.u32 %p0, %r0, 0;\n"
                   "@%p0 bra @LAGAIN;"}}};
  run_litmus(litmus, weakness, {.times = 3});
  REQUIRE(log.starvations.size() == 3);
  CHECK(log.starvations[0].until == WeakEnd::kPoll);
  CHECK(log.starvations[0].reader.block.x == 1);
}

TEST_CASE("a strong store becomes visible by its age, and a plain one as old does not") {
  WeakLog log;
  Weakness weakness;
  weakness.delay_stores = 1;
  weakness.strong_age = 16;
  weakness.report = into(log);
  // Nobody polls, and nothing is released meanwhile.
  const Litmus litmus = {
      .threads = {{0,
                   "st.u32 [%x], 1;\nst.relaxed.gpu.u32 [%y], 1;\nmov.u32 %r10, 0;\n"
                   "@LAGAIN: add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p0, %r10, 100000;\n"
                   "@%p0 bra @LAGAIN;"}}};
  run_litmus(litmus, weakness, {.times = 10});
  int strong = 0, plain = 0;
  for (const WeakEvent& event : log.events) {
    const bool is_strong = event.decision.number == 2;
    CHECK((event.decision.number > 2 ||
           event.until == (is_strong ? WeakEnd::kAge : WeakEnd::kLaunchEnd)));
    CHECK((!is_strong || (event.turns >= 16 && event.turns < 64)));
    strong += is_strong ? 1 : 0;
    plain += event.decision.number == 1 ? 1 : 0;
  }
  CHECK(strong == 10);
  CHECK(plain == 10);
}

TEST_CASE("spaces and kernels that are not asked for stay strong, and do not shift the draws") {
  WeakLog all, some;
  Weakness weakness;
  weakness.delay_stores = 0.5;
  weakness.report = into(all);
  const Litmus litmus = {
      .threads = {{0, "st.u32 [%x], 1;\nst.u32 [%y], 1;"}, {0, "st.u32 [%z], 1;"}},
      .is_shared = true};
  run_litmus(litmus, weakness, {.times = 50});
  weakness.spaces = {true, false};
  weakness.report = into(some);
  run_litmus(litmus, weakness, {.times = 50});
  std::vector<Decision> global, left;
  for (const WeakEvent& event : all.events) {
    if (event.space == WeakSpace::kGlobal) {
      global.push_back(event.decision);
    }
  }
  for (const WeakEvent& event : some.events) {
    CHECK(event.space == WeakSpace::kGlobal);
    left.push_back(event.decision);
  }
  CHECK(global.size() == left.size());
  for (const Decision& decision : global) {
    CHECK(std::ranges::find(left, decision) != left.end());
  }
  WeakLog none;
  weakness.report = into(none);
  weakness.takes_kernel = [](std::string_view) { return false; };
  run_litmus(litmus, weakness, {.times = 50});
  CHECK(none.events.empty());
}

TEST_CASE("freed memory never gets what was stored there") {
  const std::string text = R"(.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 a);
.extern .func free (.param .b64 a);
.visible .entry k(.param .u64 out)
{
  .reg .b64 %d<9>;
  .reg .b32 %r<9>;
  { .param .b64 a; .param .b64 r;
    st.param.b64 [a], 64;
    call.uni (r), malloc, (a);
    ld.param.b64 %d1, [r]; }
  st.u32 [%d1], 7;
  { .param .b64 a;
    st.param.b64 [a], %d1;
    call.uni free, (a); }
  ld.param.u64 %d2, [out];
  st.u32 [%d2], 1;
  ret;
})";
  MachineOptions options;
  options.weakness.emplace();
  options.weakness->delay_stores = 1;
  Device device(text, options);
  const std::uint64_t out = device.buffer(std::vector<std::uint32_t>(1, 0));
  for (int i = 0; i < 20; ++i) {
    device.run_well("k", shape({4}, {32}), out);
  }
  CHECK(device.read<std::uint32_t>(out, 1)[0] == 1);
}

namespace {

// Block 0 stores to x in line 10 and goes on with what the writer does; block 1 is the reader.
std::string held_kernel(const std::string& writer, const std::string& reader) {
  return R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b64 %d<9>;
  .reg .b32 %r<9>;
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [out];
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra READER;
  .loc 1 10 1
  st.u32 [%d1], 1;
  .loc 1 11 1
)" + writer +
         R"(
  bra END;
READER:
)" + reader +
         R"(
END:
  ret;
}
.file 1 "/tmp/held.cu"
)";
}

MachineOptions holding_line_10() {
  MachineOptions options;
  options.weakness.emplace();
  options.weakness->delay_stores = 1;
  options.weakness->places = {{.file = "held.cu", .line = 10}};
  return options;
}

}  // namespace

TEST_CASE("a store at a given place is held until another thread has accessed its bytes") {
  const std::string text = held_kernel(R"(
  fence.acq_rel.gpu;
  st.relaxed.gpu.u32 [%d1+256], 1;
)",
                                       R"(
  .loc 1 12 1
  ld.u32 %r2, [%d1];
  st.u32 [%d2], %r2;
)");
  WeakLog log;
  MachineOptions options = holding_line_10();
  options.weakness->report = into(log);
  Device device(text, options);
  const std::uint64_t x = device.buffer(std::vector<std::uint32_t>(128, 0));
  const std::uint64_t out = device.buffer(std::vector<std::uint32_t>(1, 0));
  for (int i = 0; i < 50; ++i) {
    device.run_well("k", shape({2}, {1}), x, out);
  }
  REQUIRE(log.events.size() == 50);
  int held = 0;
  for (const WeakEvent& event : log.events) {
    CHECK(event.at == CodePlace{.file = "/tmp/held.cu", .line = 10});
    held += event.until == WeakEnd::kHeld ? 1 : 0;
  }
  CHECK(held > 20);
}

TEST_CASE("who holds a store goes on where the others only wait for it") {
  const std::string text = held_kernel(R"(
  st.volatile.u32 [%d1+256], 1;
)",
                                       R"(
  mov.u32 %r3, 0;
AGAIN:
  .loc 1 12 1
  ld.volatile.u32 %r2, [%d1+256];
  add.u32 %r3, %r3, 1;
  setp.eq.u32 %p2, %r2, 0;
  setp.lt.and.u32 %p2, %r3, 2000, %p2;
  @%p2 bra AGAIN;
  fence.acq_rel.gpu;
  ld.u32 %r4, [%d1];
  st.v2.u32 [%d2], {%r2, %r4};
)");
  Device device(text, holding_line_10());
  const std::uint64_t x = device.buffer(std::vector<std::uint32_t>(128, 0));
  const std::uint64_t out = device.buffer(std::vector<std::uint32_t>(2, 0));
  int weak = 0;
  for (int i = 0; i < 50; ++i) {
    std::memset(reinterpret_cast<void*>(x), 0, 512);
    device.run_well("k", shape({2}, {1}), x, out);
    const auto seen = device.read<std::uint32_t>(out, 2);
    CHECK(seen[0] == 1);  // it does not lose its patience
    weak += seen[1] == 0 ? 1 : 0;
  }
  CHECK(weak > 20);  // and yet the store is late
}

TEST_CASE("a launch that fails leaves nothing behind") {
  const std::string text = test::kernel_text("  st.u64 [%out], 5;\n  trap;");
  MachineOptions options;
  options.weakness.emplace();
  options.weakness->delay_stores = 1;
  Device device(text, options);
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(1, 0));
  CHECK(device.run("k", shape({1}, {1}), out).code == DeviceErrorCode::kTrap);
  CHECK(device.read<std::uint64_t>(out, 1)[0] == 0);
}
