#include "weak_memory/litmus_run.h"

#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>

#include "base/file.h"

namespace barracuda::weak_memory {
namespace {

using memory_model::LitmusTest;

LitmusTest read(const std::string& text) {
  auto test = memory_model::read_litmus(text, "test");
  REQUIRE(test);
  return *std::move(test);
}

LitmusTest threads_of(const std::string& left, const std::string& right,
                      const std::string& condition) {
  return read("PTX T\n{ x=0; y=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n" + left + " | " + right +
              " ;\n" + condition + "\n");
}

Histogram run(const LitmusTest& test, bool weak = true) {
  const auto device = LitmusDevice::emulated();
  const auto histogram = device->run(
      test, {.iterations = 40, .launches = 8, .distance = 16, .weak = weak}, [] { return false; });
  REQUIRE(histogram);
  return *histogram;
}

std::uint64_t runs_of(const Histogram& histogram) {
  std::uint64_t runs = 0;
  for (const auto& [shown, count] : histogram) {
    runs += count;
  }
  return runs;
}

}  // namespace

TEST_CASE("the emulated device shows messages out of order, and in order without delays") {
  const LitmusTest test = read(
      "PTX MP\n{ x=0; y=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n"
      " st.weak x, 1 | ld.relaxed.gpu r0, y ;\n st.relaxed.gpu y, 1 | ld.weak r1, x ;\n"
      "exists (P1:r0 == 1 /\\ P1:r1 == 0)\n");
  const Histogram weak = run(test);
  CHECK(runs_of(weak) == 320);
  CHECK(weak.contains({1, 0}));
  const Histogram strong = run(test, false);
  CHECK(runs_of(strong) == 320);
  CHECK(!strong.contains({1, 0}));
}

TEST_CASE("every instruction that a device runs does what the model says") {
  // Alone, each thread's end is known.
  const LitmusTest test = read(
      "PTX ALL\n{ x=7; y=0; }\n P0@cta 0,gpu 0 ;\n ld.relaxed.gpu r0, x ;\n"
      " atom.relaxed.gpu.add r1, x, 5 ;\n atom.relaxed.gpu.exch r2, x, 3 ;\n"
      " atom.relaxed.gpu.cas r3, x, 3, 9 ;\n atom.relaxed.gpu.cas r4, x, 3, 1 ;\n"
      " fence.sc.gpu ;\n st.release.gpu y, 4 ;\n ld.acquire.gpu r5, y ;\n"
      "exists (P0:r0 == 7 /\\ P0:r1 == 7 /\\ P0:r2 == 12 /\\ P0:r3 == 3 /\\ P0:r4 == 9 /\\ "
      "P0:r5 == 4 /\\ x == 9)\n");
  const Histogram histogram = run(test, false);
  REQUIRE(histogram.size() == 1);
  CHECK(histogram.begin()->first == memory_model::Shown{7, 7, 12, 3, 9, 4, 9});
}

TEST_CASE("whatever comes out of the tests of the suite, PTX allows") {
  std::size_t tests = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(BARRACUDA_SOURCE_DIR "/tests/litmus/ptx")) {
    const auto text = read_file(entry.path().string());
    REQUIRE(text);
    const auto test = memory_model::read_litmus(*text, entry.path().string());
    if (!test || !why_not_run(*test).empty() ||
        memory_model::not_in_model(*test, memory_model::Model::kPtx75)) {
      continue;
    }
    ++tests;
    std::vector<memory_model::Shown> allowed;
    const auto found = memory_model::explore(*test, memory_model::Model::kPtx75, {});
    for (const auto& [shown, outcome] : memory_model::shown_outcomes(*test, found)) {
      allowed.push_back(shown);
    }
    for (const auto& [shown, count] : run(*test)) {
      INFO(entry.path());
      CHECK(std::ranges::find(allowed, shown) != allowed.end());
    }
  }
  CHECK(tests >= 15);
}

TEST_CASE("what a device cannot run is named") {
  CHECK(why_not_run(threads_of("bar.cta.sync 0", "ld.weak r0, x", "exists (P1:r0 == 0)")) ==
        "has a barrier");
  CHECK(why_not_run(threads_of("st.weak x, 5000000000", "ld.weak r0, x", "exists (P1:r0 == 0)")) ==
        "has a value of more than 32 bits");
  CHECK(why_not_run(threads_of("st.weak x, 1", "ld.weak r0, x", "exists (P1:r0 == 0)")).empty());
}

TEST_CASE("a run that is over before it began has seen nothing") {
  const auto device = LitmusDevice::emulated();
  const auto histogram = device->run(
      threads_of("st.weak x, 1", "ld.weak r0, x", "exists (P1:r0 == 0)"), {}, [] { return true; });
  REQUIRE(histogram);
  CHECK(histogram->empty());
}

}  // namespace barracuda::weak_memory
