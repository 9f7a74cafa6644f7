// Kernels as the explorer takes them: the same idioms as litmus tests, in PTX.
#include "weak_memory/memory_model/kernel_reader.h"

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ptx/parse.h"
#include "weak_memory/memory_model/models.h"
#include "weak_memory/memory_model/verdict.h"

namespace barracuda::memory_model {
namespace {

// A kernel of three buffers of four words, x, flag and out, whose addresses are in %rd1 to %rd3;
// %r1 is the thread's number, %r2 the block's.
std::string kernel_of(const std::string& body) {
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 px, .param .u64 pf, .param .u64 po)
{{
  .reg .pred %p<8>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<20>;
  .shared .align 4 .b8 tile[64];
  ld.param.u64 %rd1, [px];
  ld.param.u64 %rd2, [pf];
  ld.param.u64 %rd3, [po];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
{}
  ret;
}}
)",
                     body);
}

struct Launch {
  std::uint32_t blocks = 1, threads = 1;
  std::string exists = {};
  std::uint32_t unroll = 4;
  std::vector<KernelThread> only = {};
  bool progress = false;
};

void with_reading(const std::string& body, const Launch& launch,
                  const std::function<void(const Expected<KernelReading>&)>& look) {
  const auto module = ptx::parse(kernel_of(body));
  REQUIRE(module);
  ptx::LiteralLaunch given;
  given.grid.x = launch.blocks;
  given.block.x = launch.threads;
  given.parameters.resize(24);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::uint64_t address = ptx::literal_buffer_address(i);
    std::memcpy(given.parameters.data() + i * sizeof address, &address, sizeof address);
    given.memory.push_back({.name = i == 0   ? "x"
                                    : i == 1 ? "flag"
                                             : "out",
                            .address = address,
                            .element_bytes = 4,
                            .bytes = std::vector<std::byte>(16)});
  }
  const auto kernel =
      ptx::LiteralKernel::create(*module, *module->find_function("k"), std::move(given));
  REQUIRE(kernel);
  KernelQuestion question;
  if (!launch.exists.empty()) {
    auto condition = read_kernel_condition(launch.exists, *kernel, question.named);
    REQUIRE(condition);
    question.condition = *std::move(condition);
  }
  look(read_kernel(*kernel, question, launch.only,
                   {.unroll = launch.unroll, .progress = launch.progress}));
}

bool is_reachable(const std::string& body, const Launch& launch, Model model = Model::kPtx75) {
  bool reachable = false;
  with_reading(body, launch, [&](const Expected<KernelReading>& reading) {
    INFO((reading ? "" : reading.error().message));
    REQUIRE(reading);
    CHECK(reading->bound.empty());
    REQUIRE_FALSE(not_in_model(reading->test, model));
    const Exploration found = explore(reading->test, model, {});
    CHECK(found.is_complete());
    reachable = condition_holds(reading->test, found);
  });
  return reachable;
}

bool has_race(const std::string& body, const Launch& launch) {
  bool race = false;
  with_reading(body, launch, [&](const Expected<KernelReading>& reading) {
    REQUIRE(reading);
    ExploreOptions options;
    options.races = true;
    race = explore(reading->test, Model::kPtx75, options).race.has_value();
  });
  return race;
}

// None: a bound was hit.
std::optional<bool> always_ends(const std::string& body, Launch launch) {
  launch.progress = true;
  std::optional<bool> ends;
  with_reading(body, launch, [&](const Expected<KernelReading>& reading) {
    INFO((reading ? "" : reading.error().message));
    REQUIRE(reading);
    const Exploration found = explore(reading->test, Model::kPtx75, {.progress = true});
    if (found.violation) {
      ends = false;
    } else if (found.is_complete() && reading->bound.empty()) {
      ends = true;
    }
  });
  return ends;
}

std::string error_of(const std::string& body, const Launch& launch) {
  std::string message;
  with_reading(body, launch, [&](const Expected<KernelReading>& reading) {
    REQUIRE_FALSE(reading);
    message = reading.error().message;
  });
  return message;
}

// A flag from block 0 to block 1: the reader polls, and copies what it finds.
std::string message_passing(const std::string& before, const std::string& after,
                            const std::string& poll = "ld.relaxed.gpu.global.u32 %r5, [%rd2]") {
  return fmt::format(R"(
  setp.ne.s32 %p1, %r2, 0;
  @%p1 bra READER;
  st.global.u32 [%rd1], 42;
  {}
  st.relaxed.gpu.global.u32 [%rd2], 1;
  ret;
READER:
POLL:
  {};
  setp.eq.s32 %p2, %r5, 0;
  @%p2 bra POLL;
  {}
  ld.global.u32 %r6, [%rd1];
  st.global.u32 [%rd3], %r6;)",
                     before, poll, after);
}

TEST_CASE("a kernel that passes a message needs both fences") {
  const Launch stale{.blocks = 2, .exists = "out[0] == 0"};
  const std::string fence = "membar.gl;";
  CHECK_FALSE(is_reachable(message_passing(fence, fence), stale));
  CHECK(is_reachable(message_passing("", fence), stale));
  CHECK(is_reachable(message_passing(fence, ""), stale));
  CHECK(is_reachable(message_passing(fence, "fence.acq_rel.cta;"), stale));
  CHECK(is_reachable(message_passing(fence, fence), {.blocks = 2, .exists = "out[0] == 42"}));
}

TEST_CASE("a data race of a kernel is found without a condition") {
  const Launch blocks{.blocks = 2};
  CHECK_FALSE(has_race(message_passing("membar.gl;", "membar.gl;"), blocks));
  CHECK(has_race(message_passing("membar.gl;", ""), blocks));
}

// The reader looks at x in each pass in which the flag is not set yet.
std::string looks_while_it_waits(const std::string& look) {
  return message_passing("membar.gl;", "membar.gl;",
                         "ld.relaxed.gpu.global.u32 %r5, [%rd2];\n  setp.ne.s32 %p3, %r5, 0;\n"
                         "  @%p3 bra SET;\n  " +
                             look + ";\nSET:\n  mov.u32 %r7, 0");
}

TEST_CASE("a data race that only a pass has that changes nothing is found") {
  const Launch blocks{.blocks = 2};
  CHECK(has_race(looks_while_it_waits("ld.global.u32 %r8, [%rd1]"), blocks));
  CHECK_FALSE(has_race(looks_while_it_waits("ld.global.u32 %r8, [%rd1+4]"), blocks));
  CHECK_FALSE(has_race(looks_while_it_waits("ld.global.u32 %r8, [%rd2+4]"), blocks));
  for (const std::string exists : {"out[0] == 42", "out[0] == 0"}) {
    CHECK(is_reachable(looks_while_it_waits("ld.global.u32 %r8, [%rd1]"),
                       {.blocks = 2, .exists = exists}) == (exists == "out[0] == 42"));
  }
}

TEST_CASE("polls by atomics that change nothing end") {
  const Launch stale{.blocks = 2, .exists = "out[0] == 0"};
  const std::string add = "atom.relaxed.gpu.global.add.u32 %r5, [%rd2], 0";
  const std::string cas = "atom.relaxed.gpu.global.cas.b32 %r5, [%rd2], 7, 8";
  for (const std::string& poll : {add, cas}) {
    CHECK_FALSE(is_reachable(message_passing("membar.gl;", "membar.gl;", poll), stale));
    CHECK(is_reachable(message_passing("membar.gl;", "", poll), stale));
  }
}

TEST_CASE("a loop that changes memory is cut at the bound, and the reading says so") {
  const std::string counts_until_told = R"(
  setp.ne.s32 %p1, %r2, 0;
  @%p1 bra WRITER;
LOOP:
  atom.relaxed.gpu.global.add.u32 %r6, [%rd1], 1;
  ld.relaxed.gpu.global.u32 %r5, [%rd2];
  setp.eq.s32 %p2, %r5, 0;
  @%p2 bra LOOP;
  ret;
WRITER:
  st.relaxed.gpu.global.u32 [%rd2], 1;)";
  const auto look = [&](std::uint32_t unroll, bool is_found) {
    with_reading(
        counts_until_told, {.blocks = 2, .exists = "x[0] == 4", .unroll = unroll},
        [&](const Expected<KernelReading>& reading) {
          REQUIRE(reading);
          CHECK(reading->bound == fmt::format("{} rounds of a loop, or 64 events", unroll));
          const Exploration found = explore(reading->test, Model::kPtx75, {});
          CHECK(condition_holds(reading->test, found) == is_found);
        });
  };
  look(2, false);
  look(3, true);
}

TEST_CASE("a lock keeps its sum") {
  const auto lock = [](const std::string& acquire, const std::string& release) {
    return fmt::format(R"(
SPIN:
  atom.relaxed.gpu.global.cas.b32 %r5, [%rd2], 0, 1;
  setp.ne.s32 %p2, %r5, 0;
  @%p2 bra SPIN;
  {}
  ld.global.u32 %r6, [%rd1];
  add.s32 %r7, %r6, 1;
  st.global.u32 [%rd1], %r7;
  {}
  atom.relaxed.gpu.global.exch.b32 %r8, [%rd2], 0;)",
                       acquire, release);
  };
  const std::string fence = "fence.acq_rel.gpu;";
  CHECK_FALSE(is_reachable(lock(fence, fence), {.blocks = 2, .exists = "x[0] == 1"}));
  CHECK(is_reachable(lock(fence, fence), {.blocks = 2, .exists = "x[0] == 2"}));
  CHECK(is_reachable(lock("", fence), {.blocks = 2, .exists = "x[0] == 1"}));
  CHECK(is_reachable(lock(fence, ""), {.blocks = 2, .exists = "x[0] == 1"}));
}

// Thread t writes word t of shared memory and reads its neighbour's.
std::string exchange(const std::string& between) {
  return fmt::format(R"(
  mov.u32 %r3, tile;
  shl.b32 %r4, %r1, 2;
  add.s32 %r5, %r3, %r4;
  add.s32 %r6, %r1, 1;
  st.shared.u32 [%r5], %r6;
  {}
  xor.b32 %r7, %r4, 4;
  add.s32 %r8, %r3, %r7;
  ld.shared.u32 %r9, [%r8];
  cvt.u64.u32 %rd4, %r4;
  add.s64 %rd5, %rd3, %rd4;
  st.global.u32 [%rd5], %r9;)",
                     between);
}

TEST_CASE("barriers order shared memory, in models with states too") {
  const Launch stale{.threads = 2, .exists = "out[0] == 0 || out[1] == 0"};
  CHECK(is_reachable(exchange(""), stale));
  CHECK(is_reachable(exchange(""), stale, Model::kSc));
  for (const Model model : {Model::kPtx75, Model::kSc}) {
    CHECK_FALSE(is_reachable(exchange("bar.sync 0;"), stale, model));
    CHECK(is_reachable(exchange("bar.sync 0;"),
                       {.threads = 2, .exists = "out[0] == 2 && out[1] == 1"}, model));
    CHECK_FALSE(is_reachable(exchange("bar.warp.sync -1;"), stale, model));
  }
  CHECK(has_race(exchange(""), {.threads = 2}));
  CHECK_FALSE(has_race(exchange("bar.sync 0;"), {.threads = 2}));
}

std::string exchange_lock(const std::string& unlock) {
  return R"(
SPIN:
  atom.acquire.gpu.global.exch.b32 %r5, [%rd2], 1;
  setp.ne.s32 %p2, %r5, 0;
  @%p2 bra SPIN;
  ld.global.u32 %r6, [%rd1];
  add.s32 %r7, %r6, 1;
  st.global.u32 [%rd1], %r7;
  )" + unlock;
}

TEST_CASE("an exchange that puts back what it read is left out if nothing comes in between") {
  const Launch lost{.blocks = 2, .exists = "x[0] != 2"};
  CHECK_FALSE(is_reachable(exchange_lock("st.release.gpu.global.u32 [%rd2], 0;"), lost));
  // A plain store may.
  with_reading(exchange_lock("st.global.u32 [%rd2], 0;"), lost, [](const auto& reading) {
    REQUIRE(reading);
    CHECK(reading->bound == "4 rounds of a loop, or 64 events");
  });
}

TEST_CASE("a plain store behind which all threads of the block meet comes in between nothing") {
  const std::string polls_shared_flag = R"(
  mov.u32 %r3, tile;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra ALL;
  st.shared.u32 [%r3], 0;
ALL:
  bar.sync 0;
  @%p1 bra POLL;
  atom.release.cta.shared.exch.b32 %r4, [%r3], 1;
  ret;
POLL:
  atom.acquire.cta.shared.add.u32 %r5, [%r3], 0;
  setp.eq.s32 %p2, %r5, 0;
  @%p2 bra POLL;
  st.global.u32 [%rd3], %r5;)";
  CHECK_FALSE(is_reachable(polls_shared_flag, {.threads = 2, .exists = "out[0] != 1"}));
}

TEST_CASE("whether a kernel always ends") {
  const Launch two{.blocks = 2};
  const std::string fence = "membar.gl;";
  CHECK(always_ends(message_passing(fence, fence), two) == true);
  const std::string plain = "ld.global.u32 %r5, [%rd2]";
  CHECK(always_ends(message_passing("", "", plain), two) == false);
  CHECK(always_ends(exchange_lock("st.release.gpu.global.u32 [%rd2], 0;"), two) == true);
  CHECK(always_ends(exchange_lock(""), two) == false);
  // Nobody writes what is polled, and nobody else sees that thread.
  const std::string poll =
      "POLL: ld.relaxed.gpu.global.u32 %r5, [%rd2]; setp.eq.s32 %p2, %r5, 0; @%p2 bra POLL;";
  CHECK(always_ends(poll, two) == false);
  // The other one waits for it at a barrier.
  const Launch block{.threads = 2};
  CHECK(always_ends("setp.ne.s32 %p1, %r1, 0; @%p1 bra ALL;" + poll + "ALL: bar.sync 0;", block) ==
        false);
  CHECK(always_ends("bar.sync 0;", block) == true);
}

TEST_CASE("the reading of a kernel that is told to end ends, and says so") {
  const auto module = ptx::parse(kernel_of(exchange_lock("bra SPIN;")));
  REQUIRE(module);
  ptx::LiteralLaunch launch;
  launch.parameters.resize(24);
  const auto kernel =
      ptx::LiteralKernel::create(*module, *module->find_function("k"), std::move(launch));
  REQUIRE(kernel);
  ExploreOptions options;
  options.stops = [] { return true; };
  const auto reading = read_kernel(*kernel, {}, {}, options);
  REQUIRE(reading);
  CHECK(reading->is_useless);
  CHECK(reading->bound == "0 s (interrupted)");
}

TEST_CASE("load buffering: what is copied comes from nowhere, a constant does not") {
  const auto swap = [](const std::string& value) {
    return fmt::format(R"(
  setp.ne.s32 %p1, %r2, 0;
  @%p1 bra OTHER;
  ld.relaxed.gpu.global.u32 %r5, [%rd1];
  st.global.u32 [%rd3], %r5;
  st.relaxed.gpu.global.u32 [%rd2], {0};
  ret;
OTHER:
  ld.relaxed.gpu.global.u32 %r5, [%rd2];
  st.global.u32 [%rd3+4], %r5;
  st.relaxed.gpu.global.u32 [%rd1], {0};)",
                       value);
  };
  const Launch both{.blocks = 2, .exists = "out[0] == 1 && out[1] == 1"};
  CHECK(is_reachable(swap("1"), both));
  CHECK_FALSE(is_reachable(swap("%r5"), both));
  CHECK_FALSE(is_reachable(swap("1"), both, Model::kSc));
}

TEST_CASE("a question and its answer: each waits for the other") {
  const std::string handshake = R"(
  setp.ne.s32 %p1, %r2, 0;
  @%p1 bra ANSWER;
  st.relaxed.gpu.global.u32 [%rd1], 1;
WAIT:
  ld.relaxed.gpu.global.u32 %r5, [%rd2];
  setp.eq.s32 %p2, %r5, 0;
  @%p2 bra WAIT;
  st.global.u32 [%rd3], %r5;
  ret;
ANSWER:
  ld.relaxed.gpu.global.u32 %r5, [%rd1];
  setp.eq.s32 %p2, %r5, 0;
  @%p2 bra ANSWER;
  st.relaxed.gpu.global.u32 [%rd2], 2;)";
  CHECK(is_reachable(handshake, {.blocks = 2, .exists = "out[0] == 2"}));
  CHECK_FALSE(is_reachable(handshake, {.blocks = 2, .exists = "out[0] != 2"}));
}

// The block with the last of three tickets adds up what all have written.
std::string last_of_three(const std::string& order) {
  std::string body = fmt::format(R"(
  mul.wide.u32 %rd4, %r2, 4;
  add.s64 %rd4, %rd1, %rd4;
  st.global.u32 [%rd4], 1;
  atom.{}.gpu.global.add.u32 %r3, [%rd2], 1;
  setp.ne.u32 %p1, %r3, 2;
  @%p1 bra END;
  ld.global.u32 %r4, [%rd3];)",
                                 order);
  for (const int offset : {0, 4, 8}) {
    body += fmt::format(
        "ld.global.u32 %r5, [%rd1+{}]; add.u32 %r4, %r4, %r5; st.global.u32 [%rd3], %r4;\n",
        offset);
  }
  return body + "END:";
}

TEST_CASE("tickets of three blocks are explored, though each value of a sum is a way") {
  const Launch wrong{.blocks = 3, .exists = "out[0] != 0 && out[0] != 3"};
  CHECK_FALSE(is_reachable(last_of_three("acq_rel"), wrong));
  CHECK(is_reachable(last_of_three("release"), wrong));
  CHECK_FALSE(has_race(last_of_three("acq_rel"), {.blocks = 3}));
  CHECK(has_race(last_of_three("relaxed"), {.blocks = 3}));
}

TEST_CASE("a store that was executed before is all that a thread reads of its own") {
  const Launch two{.blocks = 2, .exists = "out[0] != 2 && out[0] != 0"};
  const std::string body =
      "setp.ne.s32 %p1, %r2, 0; @%p1 bra END;\n"
      "st.global.u32 [%rd1], 1; st.global.u32 [%rd1], 2; ld.global.u32 %r3, [%rd1];\n"
      "st.global.u32 [%rd3], %r3; ret;\nEND: {}";
  CHECK_FALSE(is_reachable(fmt::format(fmt::runtime(body), "ld.global.u32 %r4, [%rd1];"), two));
  CHECK(is_reachable(fmt::format(fmt::runtime(body), "st.global.u32 [%rd1], 1;"), two));
}

TEST_CASE("threads that nobody sees are left out") {
  with_reading(message_passing("membar.gl;", "membar.gl;"),
               {.blocks = 2, .threads = 1, .exists = "out[0] == 0"},
               [](const auto& reading) { CHECK(reading->test.threads.size() == 2); });
  with_reading("setp.ne.s32 %p1, %r1, 0; @%p1 bra END; st.global.u32 [%rd1], %r2; END:",
               {.blocks = 2, .threads = 32}, [](const auto& reading) {
                 CHECK(reading->test.threads == std::vector<std::string>{"B0T0", "B1T0"});
                 CHECK(reading->threads_left_out == 62);
               });
}

TEST_CASE("what cannot be explored is said in a sentence") {
  const Launch two{.blocks = 2};
  CHECK(error_of("add.f32 %r3, %r1, %r2;", two) == "explore does not know 'add.f32' in a kernel");
  CHECK(error_of("st.global.u32 [%rd1+64], 1;", two).starts_with("an access of 4 bytes where"));
  CHECK(error_of("st.global.u32 [%rd1], 1; ld.global.u8 %r3, [%rd1+1];", two)
            .starts_with("accesses of 4 and 1 bytes overlap"));
  CHECK(error_of("mov.u32 %r3, %clock;", two).starts_with("what %clock holds"));
  // They take place at some time of their own.
  CHECK(error_of("st.async.release.gpu.global.b32 [%rd1], 7;", two)
            .starts_with("explore does not know 'st.async"));
  CHECK(error_of("red.async.release.gpu.global.add.s32 [%rd1], 7;", two)
            .starts_with("explore does not know 'red.async"));
  CHECK(error_of("st.global.u32 [%rd1], 1;", {.blocks = 9}).starts_with("9 threads touch memory"));
  CHECK(error_of("L: bra L;", two).starts_with("a thread executes more than"));
  CHECK(
      error_of("st.global.u32 [%rd1], 1;", {.only = {{.block = {1, 0, 0}, .thread = {0, 0, 0}}}}) ==
      "a thread of --threads is not in the launch");
}

TEST_CASE("conditions on memory") {
  const auto module = ptx::parse(kernel_of(""));
  REQUIRE(module);
  ptx::LiteralLaunch launch;
  launch.parameters.resize(24);
  launch.memory.push_back({.name = "x",
                           .address = ptx::literal_buffer_address(0),
                           .element_bytes = 4,
                           .bytes = std::vector<std::byte>(16)});
  const auto kernel =
      ptx::LiteralKernel::create(*module, *module->find_function("k"), std::move(launch));
  REQUIRE(kernel);
  std::vector<ptx::LiteralElement> named;
  for (const char* const good :
       {"x[0]==1", "x == 0x10 || !(x[3] != -1 && tile[2] == 4)", "((x[1] == x[2]))"}) {
    CAPTURE(good);
    CHECK(read_kernel_condition(good, *kernel, named));
  }
  for (const char* const bad : {"", "x[0]", "x[0] = 1", "x[4] == 1", "y == 1", "(x == 1", "x == 1)",
                                "x[-1] == 1", "x[0] == 99999999999999999999", "!"}) {
    CAPTURE(bad);
    CHECK_FALSE(read_kernel_condition(bad, *kernel, named));
  }
  CHECK_FALSE(read_kernel_condition(std::string(5000, '('), *kernel, named));
}

}  // namespace
}  // namespace barracuda::memory_model
