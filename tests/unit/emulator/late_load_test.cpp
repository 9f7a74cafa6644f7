// What late loads may show and what not, each a litmus test run over many seeds.
#include <fmt/format.h>

#include "tests/unit/emulator/litmus.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::count_of;
using test::Litmus;
using test::Outcomes;
using test::run_litmus;

namespace {

const std::vector<std::uint32_t> kBuffered = {1, 0, 1, 0};  // both have read the other's store

Weakness late(double loads, double stores = 0, double stale = 0) {
  Weakness weakness;
  weakness.late_loads = loads;
  weakness.delay_stores = stores;
  weakness.stale_reads = stale;
  return weakness;
}

// Load buffering: each thread reads one location, then stores to the other.
Litmus buffering(std::string_view load, std::string_view between, std::string_view store,
                 std::uint32_t other_block = 1) {
  const auto thread = [&](std::string_view from, std::string_view to) {
    return fmt::format("{} %r0, [{}];\n{}\n{} [{}], 1;", load, from, between, store, to);
  };
  return {.threads = {{0, thread("%x", "%y")}, {other_block, thread("%y", "%x")}}};
}

void check_never(const Litmus& litmus, const std::vector<std::uint32_t>& forbidden) {
  for (const Weakness& weakness : {late(1), late(0.5), late(0.5, 0.5, 0.5)}) {
    CHECK(count_of(run_litmus(litmus, weakness, {.times = 2000}), forbidden) == 0);
  }
}

}  // namespace

TEST_CASE("load buffering is seen with late loads, of strong and of plain accesses") {
  for (const auto& [load, store] :
       {std::pair("ld.relaxed.gpu.u32", "st.relaxed.gpu.u32"), std::pair("ld.u32", "st.u32"),
        std::pair("ld.volatile.u32", "st.volatile.u32"), std::pair("ld.u32", "st.relaxed.gpu.u32"),
        std::pair("ld.global.u32", "st.global.u32")}) {
    INFO(load << " " << store);
    CHECK(count_of(run_litmus(buffering(load, "", store), late(1)), kBuffered) > 5);
    CHECK(count_of(run_litmus(buffering(load, "", store, 0), late(1)), kBuffered) > 5);
    CHECK(count_of(run_litmus(buffering(load, "", store), late(0)), kBuffered) == 0);
  }
}

TEST_CASE("a dependency, an order or a branch between them forbids load buffering") {
  const std::string_view load = "ld.relaxed.gpu.u32", store = "st.relaxed.gpu.u32";
  for (const std::string_view between :
       {"fence.acq_rel.gpu;", "fence.sc.gpu;", "membar.gl;", "fence.release.gpu;",
        "fence.acquire.gpu;", "setp.eq.u32 %p0, %r0, 7;\n@%p0 bra @LON;\n@LON:",
        "and.b32 %r10, %r0, 0;\ncvt.u64.u32 %d1, %r10;\nadd.u64 %x, %x, %d1;",
        "atom.relaxed.gpu.add.u32 %r10, [%z], 1;"}) {
    INFO(between);
    check_never(buffering(load, between, store), kBuffered);
  }
  check_never(buffering("ld.acquire.gpu.u32", "", store), kBuffered);
  check_never(buffering(load, "", "st.release.gpu.u32"), kBuffered);
  check_never(buffering("ld.acquire.cta.u32", "", store, 0), kBuffered);
}

TEST_CASE("a late load keeps to what its own thread stores and loads of the bytes") {
  const Litmus own = {.threads = {{0,
                                   "ld.u32 %r0, [%x];\nst.u32 [%x], 1;\nst.u32 [%x+4], 1;\n"
                                   "ld.v2.u32 {%r1, %r2}, [%x];\nst.u8 [%x+5], 2;"}}};
  for (const Weakness& weakness : {late(1), late(0.5, 0.5), late(0.5, 0.5, 0.5)}) {
    CHECK(run_litmus(own, weakness, {.times = 100, .registers = 3}) == Outcomes{{{0, 1, 1}, 100}});
  }
  // Loads of one location do not go back in time, unless both are plain and coherence is weak.
  const auto twice = [](std::string_view load) {
    return Litmus{.threads = {{0, fmt::format("{0} %r0, [%x];\nst.u32 [%y], 1;\n{0} %r1, [%x];\n"
                                              "st.u32 [%y+4], 1;",
                                              load)},
                              {1, "st.u32 [%x], 1;"}}};
  };
  check_never(twice("ld.u32"), {1, 0, 0, 0});
  check_never(twice("ld.relaxed.gpu.u32"), {1, 0, 0, 0});
  Weakness weak = late(0.5);
  weak.weak_coherence = true;
  CHECK(count_of(run_litmus(twice("ld.u32"), weak, {.times = 2000}), {1, 0, 0, 0}) > 5);
  CHECK(count_of(run_litmus(twice("ld.relaxed.gpu.u32"), weak, {.times = 2000}), {1, 0, 0, 0}) ==
        0);
}

TEST_CASE("late loads read no value from nowhere") {
  const Litmus copies = {.threads = {{0, "ld.u32 %r0, [%x];\nst.u32 [%y], %r0;"},
                                     {1, "ld.u32 %r0, [%y];\nst.u32 [%x], %r0;"}}};
  for (const Weakness& weakness : {late(1), late(0.5, 0.5, 0.5)}) {
    CHECK(run_litmus(copies, weakness) == Outcomes{{{0, 0, 0, 0}, 400}});
  }
}

TEST_CASE("a late load keeps its place among what else a thread does") {
  // Lanes that do not load, a loop, narrow and wide values, registers that are used in between.
  const Litmus litmus = {
      .threads = {{0,
                   "st.u64 [%z], 0x1122334455667788;\nmov.u32 %r10, 3;\n"
                   "@LAGAIN: ld.s8 %r0, [%z];\nld.u64 %d1, [%z];\nsetp.eq.u32 %p0, %r10, 9;\n"
                   "@%p0 ld.u32 %r1, [%z+8];\nst.u32 [%x], 5;\nmov.u32 %r11, 4;\n"
                   "st.u32 [%x+4], %r11;\nsub.u32 %r10, %r10, 1;\n"
                   "setp.ne.u32 %p1, %r10, 0;\n@%p1 bra @LAGAIN;\n"
                   "cvt.u32.u64 %r2, %d1;\nadd.u32 %r3, %r10, %r11;"}}};
  const std::uint32_t byte = static_cast<std::uint32_t>(static_cast<std::int8_t>(0x88));
  for (const Weakness& weakness : {late(1), late(0.5), late(0.5, 0.5, 0.5)}) {
    CHECK(run_litmus(litmus, weakness, {.times = 60, .registers = 4}) ==
          Outcomes{{{byte, 0, 0x55667788, 4}, 60}});
  }
}

TEST_CASE("late loads are the same for a seed, are logged, and can be repeated") {
  const Litmus litmus = buffering("ld.u32", "", "st.u32");
  Weakness weakness = late(0.5);
  std::vector<Decision> decisions;
  weakness.report = [&](const WeakLog& log) {
    for (const WeakEvent& event : log.events) {
      CHECK(event.decision.kind == WeakKind::kLate);
      CHECK(event.until == WeakEnd::kRead);
      CHECK(event.bytes == 4);
      decisions.push_back(event.decision);
    }
  };
  const Outcomes once = run_litmus(litmus, weakness);
  CHECK(count_of(once, kBuffered) > 0);
  CHECK(decisions.size() >= static_cast<std::size_t>(count_of(once, kBuffered)));
  const std::vector<Decision> first = std::move(decisions);
  decisions.clear();
  CHECK(run_litmus(litmus, weakness) == once);
  CHECK(decisions == first);
  Weakness repeated;
  repeated.has_decisions = true;
  repeated.decisions = first;
  CHECK(run_litmus(litmus, repeated) == once);
}
