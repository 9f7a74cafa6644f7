#include <set>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx/parse.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

// The instructions of the body that are part of an update in place.
std::vector<std::string> updates_in(const std::string& body) {
  std::vector<Module> units;
  units.push_back(parse_module(
      kernel_text(".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n" + body + " ret;")));
  const auto instrumented = instrument(std::move(units), {});
  REQUIRE(instrumented);
  std::vector<std::string> found;
  for (const Site& site : instrumented->sites) {
    if (site.update != 0) {
      found.push_back(site.instruction);
    }
  }
  return found;
}

const std::vector<std::string> kNone, kBoth{"ld.global.u32", "st.global.u32"};

}  // namespace

TEST_CASE("what is stored where it was loaded, made of what was there, is an update") {
  CHECK(updates_in("ld.global.u32 %r1, [%rd1]; add.s32 %r2, %r1, 1; st.global.u32 [%rd1], %r2;") ==
        kBoth);
  CHECK(
      updates_in("ld.global.u32 %r1, [%rd1+4]; add.s32 %r2, %r1, 1; st.global.u32 [%rd1], %r2;") ==
      kNone);
  CHECK(updates_in("ld.global.u32 %r1, [%rd1]; add.s32 %r2, %r3, 1; st.global.u32 [%rd1], %r2;") ==
        kNone);
  CHECK(
      updates_in("ld.global.u32 %r1, [%rd1]; add.s64 %rd1, %rd1, 4; st.global.u32 [%rd1], %r1;") ==
      kNone);
  CHECK(updates_in("ld.global.u16 %r1, [%rd1]; st.global.u32 [%rd1], %r1;") == kNone);
}

TEST_CASE("a test of the value that decides about the store makes an update of it") {
  CHECK(updates_in("ld.global.u32 %r1, [%rd1]; setp.lt.s32 %p1, %r1, %r3; @!%p1 bra done;\n"
                   "st.global.u32 [%rd1], %r3; done:") == kBoth);
}

TEST_CASE("what one way of a branch loads is not what the other one stores") {
  const std::string store = "bra.uni meet; other: st.global.u32 [%rd1], %r1; meet:";
  CHECK(updates_in("@%p1 bra other; ld.global.u32 %r1, [%rd1]; " + store) == kNone);
  CHECK(updates_in("ld.global.u32 %r1, [%rd1]; @%p1 bra other; add.s32 %r2, %r1, 1; " + store) ==
        kBoth);
  // Where the jump leads to, it is there again.
  CHECK(updates_in("@%p1 bra other; ld.global.u32 %r1, [%rd1]; bra.uni meet; other: "
                   "mov.u32 %r3, 0; meet: st.global.u32 [%rd1], %r1;") == kBoth);
}

TEST_CASE("a load from which no way leads to the store is no half of an update") {
  // A reader that tries again, and a writer: the other way of the `if` is behind it in the text.
  const std::string reader =
      "again: ld.global.u32 %r1, [%rd1]; setp.ne.s32 %p2, %r1, %r3; @%p2 bra again;\n";
  const std::string writer = "other: st.global.u32 [%rd1], %r3;";
  CHECK(updates_in("@%p1 bra other;\n" + reader + "ret; " + writer) == kNone);
  CHECK(updates_in("@%p1 bra other;\n" + reader + "bra.uni done; " + writer + " done:") == kNone);
  CHECK(updates_in("@%p1 bra other;\n" + reader + writer) == kBoth);
  // In a loop around both, the way leads back.
  CHECK(updates_in("round: @%p1 bra other;\n" + reader + "@%p3 bra round; ret; " + writer) ==
        kBoth);
}

TEST_CASE(
    "a look before an atomic of the place is no half of an update, whatever is stored later") {
  CHECK(updates_in("ld.global.u32 %r1, [%rd1]; setp.ne.s32 %p1, %r1, 0; @%p1 bra done;\n"
                   "atom.global.exch.b32 %r2, [%rd1], 1; setp.ne.s32 %p2, %r2, 0; @%p2 bra done;\n"
                   "st.global.u32 [%rd1], 0; done:") == kNone);
  CHECK(updates_in("ld.global.u32 %r1, [%rd1]; setp.ne.s32 %p1, %r1, 0; @%p1 bra done;\n"
                   "atom.global.exch.b32 %r2, [%rd2], 1; setp.ne.s32 %p2, %r2, 0; @%p2 bra done;\n"
                   "st.global.u32 [%rd1], 0; done:") == kBoth);
}

TEST_CASE("two values that change places are no updates, nor are volatile accesses") {
  CHECK(updates_in("ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd2];\n"
                   "st.global.u32 [%rd1], %r2; st.global.u32 [%rd2], %r1;") == kNone);
  CHECK(updates_in("ld.volatile.global.u32 %r1, [%rd1]; add.s32 %r2, %r1, 1;\n"
                   "st.volatile.global.u32 [%rd1], %r2;") == kNone);
}

TEST_CASE("places that get what each other held are one update, places that do not are two") {
  const auto numbers_in = [](const std::string& body) {
    std::vector<Module> units;
    units.push_back(parse_module(
        kernel_text(".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n" + body + " ret;")));
    const auto instrumented = instrument(std::move(units), {});
    REQUIRE(instrumented);
    std::set<std::uint32_t> numbers;
    for (const Site& site : instrumented->sites) {
      numbers.insert(site.update);
    }
    return numbers;
  };
  const std::string loads = "ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd1+64];\n";
  const auto count = [&](const std::string& rest) {
    std::set<std::uint32_t> numbers = numbers_in(loads + rest);
    numbers.erase(0);
    return numbers.size();
  };
  CHECK(count("setp.le.s32 %p1, %r1, %r2; @%p1 bra done;\n"
              "st.global.u32 [%rd1], %r2; st.global.u32 [%rd1+64], %r1; done:") == 1);
  CHECK(count("add.s32 %r3, %r1, %r2; sub.s32 %r4, %r1, %r2;\n"
              "st.global.u32 [%rd1], %r3; st.global.u32 [%rd1+64], %r4;") == 1);
  CHECK(count("add.s32 %r3, %r1, 1; add.s32 %r4, %r2, 1;\n"
              "st.global.u32 [%rd1], %r3; st.global.u32 [%rd1+64], %r4;") == 2);
  // One takes the other's value, and gives none.
  CHECK(count("add.s32 %r3, %r1, %r2; add.s32 %r4, %r2, 1;\n"
              "st.global.u32 [%rd1], %r3; st.global.u32 [%rd1+64], %r4;") == 2);
  CHECK(count("add.s32 %r3, %r1, 1; add.s32 %r4, %r1, %r2;\n"
              "st.global.u32 [%rd1], %r3; st.global.u32 [%rd1+64], %r4;") == 2);
}

}  // namespace barracuda::ptx
