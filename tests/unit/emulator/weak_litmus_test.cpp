// What delayed stores and stale reads may show and what not: L1 to L12 of
// docs/decisions/delayed-stores.md, each a litmus test run over many seeds.
#include <algorithm>

#include <fmt/format.h>

#include "tests/unit/emulator/litmus.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::count_of;
using test::Litmus;
using test::LitmusThread;
using test::Outcomes;
using test::run_litmus;

namespace {

Weakness delays(double stores, double stale = 0) {
  Weakness weakness;
  weakness.delay_stores = stores;
  weakness.stale_reads = stale;
  return weakness;
}

// Plain delays, delays with stale reads, and the levels, one after the other.
std::vector<Weakness> all_settings() {
  std::vector<Weakness> all = {delays(1), delays(0.5), delays(0.5, 0.5), delays(0, 1)};
  Weakness threads_only = delays(0.5, 0.5);
  threads_only.block_level = false;
  Weakness small = delays(0.7, 0.5);
  small.capacity = 1;
  Weakness weak_loads = delays(0.5, 0.5);
  weak_loads.weak_coherence = true;
  Weakness bugaroo = delays(0.5);
  bugaroo.shape = WeakShape::kBugaroo;
  all.insert(all.end(), {threads_only, small, weak_loads, bugaroo});
  return all;
}

void check_never(const Litmus& litmus, const std::vector<std::vector<std::uint32_t>>& forbidden,
                 int times = 2000) {
  for (const Weakness& weakness : all_settings()) {
    const Outcomes outcomes = run_litmus(litmus, weakness, {.times = times});
    for (const auto& outcome : forbidden) {
      INFO("stores " << weakness.delay_stores << " stale " << weakness.stale_reads);
      CHECK(count_of(outcomes, outcome) == 0);
    }
  }
}

Litmus message(std::string_view writer, std::string_view reader, std::uint32_t reader_block = 1,
               std::string_view flag_store = "st.relaxed.gpu.u32",
               std::string_view flag_load = "ld.relaxed.gpu.u32") {
  return {.threads = {{0, fmt::format("st.u32 [%x], 1;\n{}\n{} [%y], 1;", writer, flag_store)},
                      {reader_block,
                       fmt::format("{} %r0, [%y];\n{}\nld.u32 %r1, [%x];", flag_load, reader)}}};
}

constexpr auto kWeakMessage = {0U, 0U, 1U, 0U};

}  // namespace

TEST_CASE("a message without a release is seen late, with both fences never") {
  CHECK(count_of(run_litmus(message("", "fence.acq_rel.gpu;"), delays(0.5)), kWeakMessage) > 20);
  for (const std::string_view fence :
       {"fence.acq_rel.gpu;", "fence.sc.gpu;", "membar.gl;", "membar.sys;"}) {
    check_never(message(fence, fence), {kWeakMessage});
  }
  check_never(message("fence.acq_rel.cta;", "fence.acq_rel.cta;", 0), {kWeakMessage});
}

TEST_CASE("a message whose reader does not acquire is seen late with stale reads alone") {
  const Litmus litmus = message("fence.acq_rel.gpu;", "");
  CHECK(count_of(run_litmus(litmus, delays(0, 1)), kWeakMessage) > 10);
  CHECK(count_of(run_litmus(litmus, delays(1)), kWeakMessage) == 0);
}

TEST_CASE("a release and an acquire carry a message, also where the release is delayed") {
  check_never(message("", "", 1, "st.release.gpu.u32", "ld.acquire.gpu.u32"), {kWeakMessage});
  check_never(message("", "", 0, "st.release.cta.u32", "ld.acquire.cta.u32"), {kWeakMessage});
  Litmus atomics = {.threads = {{0, "st.u32 [%x], 1;\natom.release.gpu.exch.b32 %r10, [%y], 1;"},
                                {1, "atom.acquire.gpu.add.u32 %r0, [%y], 0;\nld.u32 %r1, [%x];"}}};
  check_never(atomics, {kWeakMessage});
}

TEST_CASE("a fence that is too narrow lets another block see a message late") {
  CHECK(count_of(run_litmus(message("fence.acq_rel.cta;", "fence.acq_rel.gpu;"), delays(0.5)),
                 kWeakMessage) > 10);
}

TEST_CASE("store buffering is seen without fence.sc and never with it") {
  const auto litmus = [](std::string_view fence) {
    return Litmus{.threads = {{0, fmt::format("st.relaxed.gpu.u32 [%x], 1;\n{}\n"
                                              "ld.relaxed.gpu.u32 %r0, [%y];",
                                              fence)},
                              {1, fmt::format("st.relaxed.gpu.u32 [%y], 1;\n{}\n"
                                              "ld.relaxed.gpu.u32 %r0, [%x];",
                                              fence)}}};
  };
  CHECK(count_of(run_litmus(litmus(""), delays(0.7)), {0, 0, 0, 0}) > 10);
  check_never(litmus("fence.sc.gpu;"), {{0, 0, 0, 0}});
}

TEST_CASE("fence.sc of mixed scopes acts in one order") {
  const Litmus litmus = {
      .threads = {
          {0, "st.relaxed.gpu.u32 [%x], 1;\nfence.sc.cta;\nld.relaxed.gpu.u32 %r0, [%z];"},
          {0, "st.relaxed.gpu.u32 [%z], 1;\nfence.sc.gpu;\nld.relaxed.gpu.u32 %r0, [%y];"},
          {1, "st.relaxed.gpu.u32 [%y], 1;\nfence.sc.gpu;\nld.relaxed.gpu.u32 %r0, [%x];"}}};
  check_never(litmus, {{0, 0, 0, 0, 0, 0}}, 1500);
}

TEST_CASE(
    "loads of one address go back in time only where coherence is weak, and only plain ones") {
  const auto litmus = [](std::string_view load) {
    return Litmus{.threads = {{0, "st.u32 [%x], 1;\nst.u32 [%x], 2;"},
                              {1, fmt::format("{0} %r0, [%x];\n{0} %r1, [%x];", load)}}};
  };
  const std::vector<std::vector<std::uint32_t>> back = {{0, 0, 1, 0}, {0, 0, 2, 0}, {0, 0, 2, 1}};
  for (Weakness weakness : all_settings()) {
    const bool is_weak = weakness.weak_coherence;
    int plain = 0, strong = 0;
    for (const auto& outcome : back) {
      plain += count_of(run_litmus(litmus("ld.u32"), weakness), outcome);
      strong += count_of(run_litmus(litmus("ld.relaxed.gpu.u32"), weakness), outcome);
    }
    CHECK((is_weak || plain == 0));
    CHECK(strong == 0);
  }
  Weakness weakness = delays(0, 1);
  weakness.weak_coherence = true;
  int seen = 0;
  for (const auto& outcome : back) {
    seen += count_of(run_litmus(litmus("ld.u32"), weakness), outcome);
  }
  CHECK(seen > 5);
}

TEST_CASE("a thread reads its own latest store, whole or in part") {
  const Litmus litmus = {
      .threads = {{0,
                   "st.u32 [%x], 0x01020304;\nst.u8 [%x+1], 9;\nld.u32 %r0, [%x];\n"
                   "st.u64 [%y], 7;\nst.u32 [%y+4], 5;\nld.v2.u32 {%r1, %r2}, [%y];"},
                  {1, "st.u32 [%z], 1;"}}};
  for (const Weakness& weakness : all_settings()) {
    const Outcomes outcomes = run_litmus(litmus, weakness, {.times = 50, .registers = 3});
    CHECK(outcomes == Outcomes{{{0x01020904, 7, 5, 0, 0, 0}, 50}});
  }
}

TEST_CASE("stores to overlapping bytes become visible in their order") {
  // The byte is later than the word it lies in: who sees it in the word sees the word's rest.
  const Litmus litmus = {.threads = {{0, "st.u32 [%x], 0x11111111;\nst.u8 [%x+2], 0x22;"},
                                     {1, "ld.relaxed.gpu.u32 %r0, [%x];"}}};
  check_never(litmus, {{0, 0, 0x00220000, 0}});
}

TEST_CASE(
    "what its block was shown of a thread's store enters memory before the thread's next one") {
  // A wide drain takes what waits in any order, but these two.
  const Litmus litmus = {.threads = {{0,
                                      "st.u32 [%x], 1;\nfence.acq_rel.cta;\nst.u32 [%x], 2;\n"
                                      "fence.acq_rel.gpu;\nld.relaxed.gpu.u32 %r0, [%x];"},
                                     {1, "ld.relaxed.gpu.u32 %r0, [%x];\nfence.acq_rel.gpu;"}}};
  check_never(litmus, {{1, 0, 0, 0}, {1, 0, 1, 0}, {1, 0, 2, 0}});
}

TEST_CASE("a store that overlaps one that overlaps another comes behind both") {
  // The first and the last have no byte in common, but both have with the second.
  const Litmus litmus = {
      .threads = {{0,
                   "mov.u16 %h0, 0x1111;\nmov.u16 %h1, 0x3333;\nst.u16 [%x], %h0;\n"
                   "st.u32 [%x], 0x22222222;\nst.u16 [%x+2], %h1;\nfence.acq_rel.gpu;\n"
                   "ld.relaxed.gpu.u32 %r0, [%x];"},
                  {1, "st.u32 [%z], 1;"}}};
  for (const Weakness& weakness : all_settings()) {
    CHECK(run_litmus(litmus, weakness, {.times = 300}) == Outcomes{{{0x33332222, 0, 0, 0}, 300}});
  }
}

TEST_CASE("a block mate reads nothing older than what it was shown, also after all others saw it") {
  // The store becomes visible to the block and later to all; who acquired in between sees it.
  const Litmus litmus = {
      .threads = {{0,
                   "st.u32 [%x], 1;\nfence.acq_rel.cta;\nst.relaxed.cta.u32 [%y], 1;\n"
                   "fence.acq_rel.gpu;"},
                  {0,
                   "ld.relaxed.cta.u32 %r0, [%y];\nfence.acq_rel.cta;\nst.u32 [%z], 1;\n"
                   "fence.release.gpu;\nnanosleep.u32 20;\nld.u32 %r1, [%x];"}}};
  check_never(litmus, {{0, 0, 1, 0}}, 4000);
}

TEST_CASE("causality is carried on through a third thread, by scope") {
  const auto wrc = [](std::uint32_t second, std::string_view fence) {
    return Litmus{.threads = {{0, "st.relaxed.gpu.u32 [%x], 1;"},
                              {second, fmt::format("ld.relaxed.gpu.u32 %r0, [%x];\n{}\n"
                                                   "st.relaxed.gpu.u32 [%y], 1;",
                                                   fence)},
                              {1,
                               "ld.relaxed.gpu.u32 %r0, [%y];\nfence.acq_rel.gpu;\n"
                               "ld.relaxed.gpu.u32 %r1, [%x];"}}};
  };
  check_never(wrc(0, "fence.acq_rel.gpu;"), {{0, 0, 1, 0, 1, 0}});
  check_never(wrc(2, "fence.acq_rel.gpu;"), {{0, 0, 1, 0, 1, 0}});
  // ISA2: what a narrow fence has shown to a block mate, that one's wide fence shows to all.
  const Litmus isa2 = {
      .threads = {{0, "st.u32 [%x], 1;\nfence.acq_rel.cta;\nst.relaxed.gpu.u32 [%y], 1;"},
                  {0,
                   "ld.relaxed.gpu.u32 %r0, [%y];\nfence.acq_rel.gpu;\n"
                   "st.relaxed.gpu.u32 [%z], 1;"},
                  {1, "ld.relaxed.gpu.u32 %r0, [%z];\nfence.acq_rel.gpu;\nld.u32 %r1, [%x];"}}};
  check_never(isa2, {{0, 0, 1, 0, 1, 0}}, 1000);
}

TEST_CASE("atomics on one word lose nothing, whatever stores wait there") {
  const Litmus litmus = {
      .threads = {
          {0,
           "st.relaxed.gpu.u32 [%y], 1;\nfence.acq_rel.cta;\n"
           "atom.relaxed.gpu.add.u32 %r0, [%x], 1;\natom.relaxed.gpu.add.u32 %r1, [%x], 1;"},
          {0, "atom.relaxed.gpu.add.u32 %r0, [%x], 1;\natom.relaxed.gpu.add.u32 %r1, [%x], 1;"},
          {1, "atom.relaxed.gpu.add.u32 %r0, [%x], 1;\natom.relaxed.gpu.add.u32 %r1, [%x], 1;"}}};
  for (const Weakness& weakness : all_settings()) {
    for (const auto& [outcome, count] : run_litmus(litmus, weakness)) {
      auto sorted = outcome;
      std::ranges::sort(sorted);
      CHECK(sorted == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
    }
  }
  // An atomic of a block mate acts on what the block has been shown, not on what was before it.
  const Litmus mates = {
      .threads = {
          {0, "st.relaxed.gpu.u32 [%x], 5;\nfence.acq_rel.cta;\nst.relaxed.gpu.u32 [%y], 1;"},
          {0,
           "ld.relaxed.gpu.u32 %r0, [%y];\nfence.acq_rel.cta;\n"
           "atom.relaxed.gpu.add.u32 %r1, [%x], 1;"}}};
  check_never(mates, {{0, 0, 1, 0}});
}

TEST_CASE("a barrier shows a block what its threads have stored, in every space") {
  for (const bool is_shared : {false, true}) {
    for (const std::string_view barrier : {"bar.sync 0, 64;", "barrier.cta.sync 0, 64;"}) {
      const Litmus litmus = {
          .threads = {{0, fmt::format("st.u32 [%x], 1;\n{}\nld.u32 %r0, [%y];", barrier)},
                      {0, fmt::format("st.u32 [%y], 1;\n{}\nld.u32 %r0, [%x];", barrier)}},
          .is_shared = is_shared};
      for (const Weakness& weakness : all_settings()) {
        CHECK(run_litmus(litmus, weakness, {.times = 60}) == Outcomes{{{1, 0, 1, 0}, 60}});
      }
    }
  }
}

TEST_CASE("without a barrier a block's threads see shared memory late") {
  Litmus litmus = message("", "fence.acq_rel.cta;", 0);
  litmus.is_shared = true;
  CHECK(count_of(run_litmus(litmus, delays(0.5)), kWeakMessage) > 10);
}

TEST_CASE("a store becomes visible in bounded time: a spin on a flag ends") {
  const std::string spin = "@LAGAIN: {} %r0, [%y];\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra @LAGAIN;";
  const auto litmus = [&](std::string_view store, std::string_view load) {
    return Litmus{.threads = {{0, fmt::format("{} [%y], 1;", store)},
                              {1, fmt::format("@LAGAIN: {} %r0, [%y];\nsetp.eq.u32 %p0, %r0, 0;\n"
                                              "@%p0 bra @LAGAIN;",
                                              load)}}};
  };
  for (const Weakness& weakness : all_settings()) {
    for (const auto& [store, load] : {std::pair("st.relaxed.gpu.u32", "ld.relaxed.gpu.u32"),
                                      std::pair("st.volatile.u32", "ld.volatile.u32"),
                                      std::pair("st.u32", "ld.volatile.u32")}) {
      CHECK(run_litmus(litmus(store, load), weakness, {.times = 5}) == Outcomes{{{0, 0, 1, 0}, 5}});
    }
  }
}

TEST_CASE("a release fence does not acquire, and an acquire fence does not release") {
  CHECK(count_of(run_litmus(message("fence.release.gpu;", "fence.release.gpu;"), delays(0, 1)),
                 kWeakMessage) > 5);
  CHECK(count_of(run_litmus(message("fence.acquire.gpu;", "fence.acquire.gpu;"), delays(0.5)),
                 kWeakMessage) > 5);
  check_never(message("fence.release.gpu;", "fence.acquire.gpu;"), {kWeakMessage});
}

TEST_CASE("a copy takes what its thread has stored, and is there once it was waited for") {
  const Litmus litmus = {.threads = {{0,
                                      "mov.u64 %d1, words;\nst.shared.u32 [%d1+512], 3;\n"
                                      "st.u32 [%x], 7;\ncvta.to.global.u64 %d2, %x;\n"
                                      "cp.async.ca.shared.global [%d1+512], [%d2], 4;\n"
                                      "cp.async.wait_all;\nld.shared.u32 %r0, [%d1+512];"}}};
  for (const Weakness& weakness : all_settings()) {
    CHECK(run_litmus(litmus, weakness, {.times = 50}) == Outcomes{{{7, 0}, 50}});
  }
}
