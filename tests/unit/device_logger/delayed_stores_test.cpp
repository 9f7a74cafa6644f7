// What the delayed stores of a GPU may show and what not: litmus tests, each run many times.
#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "delaying_device.h"
#include "tests/unit/emulator/litmus.h"

namespace barracuda::wire::test {
namespace {

using emulator::test::count_of;
using emulator::test::Litmus;
using emulator::test::Outcomes;

constexpr std::uint32_t kRegisters = 4;
constexpr std::uint32_t kLocationBytes = 3 * 256;

// The first two registers of each thread.
Outcomes run(const Litmus& litmus, DelaySettings settings = {}, int times = 300) {
  std::map<std::uint32_t, std::uint32_t> warps;
  std::uint32_t most = 1;
  std::uint32_t blocks = 1;
  for (const auto& thread : litmus.threads) {
    most = std::max(most, ++warps[thread.block]);
    blocks = std::max(blocks, thread.block + 1);
  }
  settings.blocks = blocks;
  settings.threads = most * 32;
  DelayingDevice device(emulator::test::litmus_text(litmus), settings);
  const std::uint64_t x = device.allocate(kLocationBytes);
  const std::uint64_t out = device.allocate(litmus.threads.size() * kRegisters * 4);
  Outcomes outcomes;
  for (int i = 0; i < times; ++i) {
    std::memset(DelayingDevice::at<void>(x), 0, kLocationBytes);
    device.launch("k", blocks, most * 32, {x, out});
    std::vector<std::uint32_t> seen;
    for (std::size_t thread = 0; thread < litmus.threads.size(); ++thread) {
      const auto* first = DelayingDevice::at<std::uint32_t>(out) + thread * kRegisters;
      seen.insert(seen.end(), first, first + 2);
    }
    ++outcomes[seen];
  }
  return outcomes;
}

void check_never(const Litmus& litmus, const std::vector<std::uint32_t>& forbidden) {
  for (const double probability : {1.0, 0.5}) {
    for (const std::uint32_t capacity : {32U, 1U}) {
      INFO("probability " << probability << " capacity " << capacity);
      CHECK(count_of(run(litmus, {.probability = probability, .capacity = capacity}), forbidden) ==
            0);
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

const std::vector<std::uint32_t> kWeakMessage = {0, 0, 1, 0};

}  // namespace

TEST_CASE("rewritten: a message without a fence arrives before its data, with fences never") {
  CHECK(count_of(run(message("", "fence.acq_rel.gpu;"), {.probability = 0.5}, 600), kWeakMessage) >
        5);
  CHECK(count_of(run(message("", ""), {.probability = 0}), kWeakMessage) == 0);
  for (const std::string_view fence :
       {"fence.acq_rel.gpu;", "fence.sc.gpu;", "membar.gl;", "membar.sys;", "fence.acq_rel.cta;"}) {
    check_never(message(fence, fence), kWeakMessage);
  }
  check_never(message("", "", 1, "st.release.gpu.u32", "ld.acquire.gpu.u32"), kWeakMessage);
}

TEST_CASE("rewritten: a release is never delayed, an acquire alone lets stores wait") {
  CHECK(count_of(run(message("fence.acquire.gpu;", "fence.acq_rel.gpu;"), {.probability = 0.5}),
                 kWeakMessage) > 2);
  check_never(message("fence.release.gpu;", "fence.acq_rel.gpu;"), kWeakMessage);
  check_never({.threads = {{0, "st.u32 [%x], 1;\natom.release.gpu.exch.b32 %r10, [%y], 1;"},
                           {1, "atom.acquire.gpu.add.u32 %r0, [%y], 0;\nld.u32 %r1, [%x];"}}},
              kWeakMessage);
  CHECK(count_of(run({.threads = {{0, "st.u32 [%x], 1;\natom.relaxed.gpu.exch.b32 %r10, [%y], 1;"},
                                  {1,
                                   "atom.acquire.gpu.add.u32 %r0, [%y], 0;\n"
                                   "ld.u32 %r1, [%x];"}}}),
                 kWeakMessage) > 5);
}

TEST_CASE("rewritten: store buffering is seen, never with fence.sc") {
  const auto litmus = [](std::string_view fence) {
    return Litmus{.threads = {{0, fmt::format("st.relaxed.gpu.u32 [%x], 1;\n{}\n"
                                              "ld.relaxed.gpu.u32 %r0, [%y];",
                                              fence)},
                              {1, fmt::format("st.relaxed.gpu.u32 [%y], 1;\n{}\n"
                                              "ld.relaxed.gpu.u32 %r0, [%x];",
                                              fence)}}};
  };
  CHECK(count_of(run(litmus("")), {0, 0, 0, 0}) > 10);
  check_never(litmus("fence.sc.gpu;"), {0, 0, 0, 0});
}

TEST_CASE("rewritten: strong stores wait until a barrier if no lane can poll on the way there") {
  // What comes last stands for sdk_red's ticket: it passes the store, and a barrier follows.
  const auto litmus = [](std::string_view before, std::string_view between) {
    return Litmus{
        .threads = {{0, fmt::format("{}\nst.relaxed.gpu.u32 [%x], 1;\n{}\n"
                                    "atom.relaxed.gpu.exch.b32 %r10, [%y], 1;\nbar.sync 0;",
                                    before, between)},
                    {1,
                     "atom.acquire.gpu.add.u32 %r0, [%y], 0;\n"
                     "ld.relaxed.gpu.u32 %r1, [%x];"}}};
  };
  constexpr std::string_view kLoop =
      "mov.u32 %r10, 0;\n@LOOP:\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, 3;\n"
      "@%p1 bra @LOOP;";
  CHECK(count_of(run(litmus("", "")), kWeakMessage) > 5);
  const std::string loop_and_barrier = std::string(kLoop) + "\nbar.sync 0;";
  CHECK(count_of(run(litmus(loop_and_barrier, "")), kWeakMessage) > 5);
  check_never(litmus(kLoop, ""), kWeakMessage);
  check_never(litmus("", kLoop), kWeakMessage);
  check_never(litmus("", "bar.sync 0;"), kWeakMessage);
  check_never(litmus("", "fence.acq_rel.gpu;"), kWeakMessage);
}

TEST_CASE("rewritten: stores to the same bytes become visible in order") {
  const Litmus litmus = {.threads = {{0, "st.u32 [%x], 1;\nst.u32 [%x], 2;"},
                                     {1,
                                      "ld.relaxed.gpu.u32 %r0, [%x];\n"
                                      "ld.relaxed.gpu.u32 %r1, [%x];"}}};
  check_never(litmus, {0, 0, 2, 1});
  check_never(litmus, {0, 0, 1, 0});
}

// %r0 and %r1 of the one thread.
std::vector<std::uint32_t> alone(std::string_view text, const DelaySettings& settings) {
  const Outcomes outcomes = run({.threads = {{0, std::string(text)}}}, settings, 5);
  REQUIRE(outcomes.size() == 1);
  return outcomes.begin()->first;
}

TEST_CASE("rewritten: a thread reads its own latest store, whole or in part") {
  struct Case {
    std::string_view text;
    std::vector<std::uint32_t> reads;
  };

  const std::vector<Case> cases = {
      {"st.u32 [%x], 0x01020304;\nst.u8 [%x+1], 9;\nld.u32 %r0, [%x];\nld.u16 %r1, [%x+2];",
       {0x01020904, 0x0102}},
      {"st.v2.u32 [%x], {5, 6};\nld.u32 %r0, [%x+4];\nst.u64 [%x], 7;\nld.u32 %r1, [%x+4];",
       {6, 0}},
      {"st.global.v4.u32 [%x], {1, 2, 3, 4};\nst.u16 [%x+6], 0xffff;\n"
       "ld.global.v2.u32 {%r10, %r0}, [%x];\nld.volatile.u32 %r1, [%x+12];",
       {0xffff0002, 4}},
      {"st.u8 [%x], 0xff;\nld.s8 %r0, [%x];\nld.u8 %r1, [%x];", {0xffffffff, 0xff}},
      {"st.u8 [%x+15], 7;\nld.v2.u64 {%d1, %d2}, [%x];\nshr.u64 %d2, %d2, 56;\n"
       "cvt.u32.u64 %r0, %d2;\ncvt.u32.u64 %r1, %d1;",
       {7, 0}},
      {"st.u32 [%x], 3;\natom.add.u32 %r0, [%x], 4;\nld.u32 %r1, [%x];", {3, 7}},
      {"st.u64 [%x], 3;\nred.add.u32 [%x], 4;\nld.u32 %r0, [%x];\nld.u32 %r1, [%x+4];", {7, 0}},
      {"st.u32 [%x], 8;\nfence.sc.gpu;\nld.u32 %r0, [%x];\nst.relaxed.sys.u32 [%x], 9;\n"
       "ld.acquire.gpu.u32 %r1, [%x];",
       {8, 9}},
      {"st.u32 [%x], 8;\nsetp.eq.u32 %p1, %r0, 1;\n@%p1 st.u32 [%x], 9;\n@!%p1 ld.u32 %r0, [%x];\n"
       "mov.u32 %r1, 5;\n@%p1 ld.u32 %r1, [%x];",
       {8, 5}},
      {"cvta.to.global.u64 %d1, %x;\nst.f32 [%d1], 0f3F800000;\nld.global.u32 %r0, [%d1];\n"
       "ld.global.u64 %d1, [%d1];\ncvt.u32.u64 %r1, %d1;",
       {0x3f800000, 0x3f800000}},
      {"mov.u32 %r10, words;\nst.shared.u32 [%r10+8], 3;\nld.shared.u32 %r0, [words+8];\n"
       "cvt.u64.u32 %d1, %r10;\ncvta.shared.u64 %d1, %d1;\nst.u32 [%d1+8], 4;\n"
       "ld.shared.u32 %r1, [%r10+8];",
       {3, 4}},
      {"ld.global.nc.u32 %r10, [%x];\nst.u32 [%x], 3;\nld.global.nc.u32 %r0, [%x];", {3, 0}},
      {"st.global.v8.f32 [%x], {0f3F800000, 0f3F800000, 0f3F800000, 0f3F800000, 0f3F800000, "
       "0f3F800000, 0f3F800000, 0f00000000};\nst.u32 [%x], 2;\nld.u32 %r0, [%x];\n"
       "ld.u32 %r1, [%x+24];",
       {2, 0x3f800000}},
  };
  for (const double probability : {1.0, 0.5, 0.0}) {
    for (const std::uint32_t capacity : {1U, 2U, 32U}) {
      for (const Case& one : cases) {
        INFO(one.text << " probability " << probability << " capacity " << capacity);
        std::vector<std::uint32_t> expected = one.reads;
        CHECK(alone(one.text, {.probability = probability, .capacity = capacity}) == expected);
      }
    }
  }
}

TEST_CASE("rewritten: everything is in memory when a launch ends, whatever the capacity") {
  std::string text;
  for (int i = 0; i < 150; ++i) {
    text += fmt::format("st.u16 [%x+{}], {};\n", (i * 14) % 128 * 2, i);
  }
  std::vector<std::uint16_t> expected(128);
  for (int i = 0; i < 150; ++i) {
    expected.at((i * 14) % 128) = static_cast<std::uint16_t>(i);
  }
  const Litmus litmus = {.threads = {{0, text}}};
  for (const std::uint32_t capacity : {1U, 2U, 32U, 256U}) {
    for (const double probability : {1.0, 0.5}) {
      DelayingDevice device(
          emulator::test::litmus_text(litmus),
          {.probability = probability, .capacity = capacity, .blocks = 1, .threads = 32});
      const std::uint64_t x = device.allocate(kLocationBytes), out = device.allocate(64);
      device.launch("k", 1, 32, {x, out});
      const auto* const words = DelayingDevice::at<std::uint16_t>(x);
      CHECK(std::vector<std::uint16_t>(words, words + 128) == expected);
      const auto* const header = DelayingDevice::at<const StoreBufferHeader>(device.delays().arena);
      CHECK(header->count == 0);
      CHECK(header->serial > 100);
    }
  }
}

TEST_CASE("rewritten: a kernel without an arena, and blocks behind it, delay nothing") {
  const Litmus litmus = message("", "");
  DelayingDevice device(emulator::test::litmus_text(litmus), {.blocks = 2, .threads = 32});
  const std::uint64_t x = device.allocate(kLocationBytes), out = device.allocate(64);
  device.delays().blocks = 0;
  for (int i = 0; i < 50; ++i) {
    std::memset(DelayingDevice::at<void>(x), 0, kLocationBytes);
    device.launch("k", 2, 32, {x, out});
    const auto* const reads = DelayingDevice::at<std::uint32_t>(out);
    CHECK((reads[4] != 1 || reads[5] == 1));
  }
  device.delays() = {};
  device.launch("k", 2, 32, {x, out});
}

}  // namespace barracuda::wire::test
