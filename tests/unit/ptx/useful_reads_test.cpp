#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ptx/instrument.h"
#include "ptx/parse.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

constexpr std::string_view kRegisters =
    ".reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>;\n";

InstrumentedModule instrument_body(const std::string& body) {
  std::vector<Module> units;
  units.push_back(parse_module(kernel_text(std::string(kRegisters) + body + " ret;")));
  auto instrumented = instrument(std::move(units), {});
  INFO((instrumented ? "" : instrumented.error().to_string()));
  REQUIRE(instrumented);
  return std::move(*instrumented);
}

using Bytes = std::vector<std::pair<int, int>>;  // begin and size of each piece, in order

// What is logged of the only load of global memory in the body; its operand is [%rd1+64].
Bytes logged_of(const std::string& body) {
  const InstrumentedModule module = instrument_body(body);
  Bytes bytes;
  for (const Site& site : module.sites) {
    if (site.instruction.starts_with("ld.") && site.info.operation == wire::Operation::kRead) {
      bytes.emplace_back(0, site.info.element_bytes * site.info.element_count);
    }
  }
  std::size_t from = 0;
  for (auto& [begin, size] : bytes) {
    constexpr std::string_view kAdd = "add.s64 %__barracuda_a, %__barracuda_a, ";
    from = module.text.find(kAdd, from) + kAdd.size();
    begin = std::stoi(module.text.substr(from)) - 64;
  }
  return bytes;
}

// Of a load of one word into %r1.
Bytes word(const std::string& uses) {
  return logged_of("ld.global.u32 %r1, [%rd1+64]; " + uses);
}

constexpr std::string_view kStore = " st.global.u32 [%rd2], %r2;";

Bytes by(const std::string& computation) {
  return word(computation + std::string(kStore));
}

// Whether all lanes log the load of %r1 from global memory.
enum class Logged : std::uint8_t { kByAll, kBySome, kSpeculated };

Logged logged_by(const std::string& body) {
  const InstrumentedModule module = instrument_body(body);
  const auto found = std::ranges::find(module.sites, "ld.global.u32", &Site::instruction);
  REQUIRE(found != module.sites.end());
  const bool some = module.text.find("%__barracuda_u bra") != std::string::npos;
  return some ? Logged::kBySome : found->info.speculated ? Logged::kSpeculated : Logged::kByAll;
}

constexpr std::string_view kBefore =
    "mov.u32 %r10, %tid.x; setp.eq.s32 %p1, %r10, 0; ld.param.u64 %rd1, [p]; ";

Logged after_predicate(const std::string& body) {
  return logged_by(std::string(kBefore) + "ld.global.u32 %r1, [%rd1]; " + body);
}

// "mov" if the lanes in which %p1 holds log the load, "not" if the others do.
std::string logged_where(const std::string& body) {
  const std::string text =
      instrument_body(std::string(kBefore) + "ld.global.u32 %r1, [%rd1]; " + body).text;
  const std::size_t at = text.find(".pred %__barracuda_u, %p1;");
  return at == std::string::npos ? "" : text.substr(at - 3, 3);
}

}  // namespace

TEST_CASE("elements of a vector that nothing reads are not read") {
  const std::string load = "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+64]; ";
  const auto store = [](const std::string& name) { return "st.global.u32 [%rd2], " + name + "; "; };
  CHECK(logged_of(load + store("%r1") + store("%r2") + store("%r3")) == Bytes{{0, 12}});
  CHECK(logged_of(load + store("%r2") + store("%r3")) == Bytes{{4, 8}});
  CHECK(logged_of(load + store("%r1") + store("%r4")) == Bytes{{0, 4}, {12, 4}});
  CHECK(logged_of(load + store("%r1") + store("%r2") + store("%r3") + store("%r4")) ==
        Bytes{{0, 16}});
  CHECK(logged_of("ld.global.v4.u32 {%r1, _, _, %r4}, [%rd1+64]; " + store("%r1") + store("%r4")) ==
        Bytes{{0, 4}, {12, 4}});
  CHECK(logged_of("ld.global.v2.u64 {%rd3, %rd4}, [%rd1+64]; st.global.u64 [%rd2], %rd4;") ==
        Bytes{{8, 8}});
  CHECK(logged_of("ld.global.v4.u8 {%rs1, %rs2, %rs3, %rs4}, [%rd1+64]; cvt.u32.u16 %r2, %rs3; " +
                  store("%r2")) == Bytes{{2, 1}});
}

TEST_CASE("a load of which nothing is read at all was written by somebody, and is logged whole") {
  CHECK(word("") == Bytes{{0, 4}});
  CHECK(logged_of("ld.global.v2.u32 {%r1, %r2}, [%rd1+64];") == Bytes{{0, 8}});
}

TEST_CASE("a volatile or atomic load, and one for which a fence stands, is made as it is written") {
  for (const std::string_view order : {".volatile", ".relaxed.gpu", ".acquire.gpu"}) {
    CHECK(logged_of("ld" + std::string(order) +
                    ".global.u32 %r1, [%rd1+64]; and.b32 %r2, %r1, 255;" + std::string(kStore)) ==
          Bytes{{0, 4}});
  }
  CHECK(logged_of("again: ld.global.u32 %r1, [%rd1+64]; and.b32 %r2, %r1, 1; setp.eq.s32 %p2, %r2,"
                  " 0; @%p2 bra again; membar.gl;") == Bytes{{0, 4}});
}

TEST_CASE("of a word the bytes are read of which bits reach something") {
  CHECK(by("and.b32 %r2, %r1, 255;") == Bytes{{0, 1}});
  CHECK(by("and.b32 %r2, %r1, 0xff0000;") == Bytes{{2, 1}});
  CHECK(by("and.b32 %r2, %r1, 0x00ff00ff;") == Bytes{{0, 1}, {2, 1}});
  CHECK(by("and.b32 %r2, %r1, 0x00ffff00;") == Bytes{{1, 2}});
  CHECK(by("mov.u32 %r3, 255; and.b32 %r2, %r3, %r1;") == Bytes{{0, 1}});
  CHECK(by("or.b32 %r2, %r1, 0xffffff00;") == Bytes{{0, 1}});
  CHECK(by("shr.u32 %r2, %r1, 16;") == Bytes{{2, 2}});
  CHECK(by("shr.s32 %r2, %r1, 24;") == Bytes{{3, 1}});
  CHECK(by("shl.b32 %r3, %r1, 24; shr.u32 %r2, %r3, 24;") == Bytes{{0, 1}});
  CHECK(by("bfe.u32 %r2, %r1, 8, 8;") == Bytes{{1, 1}});
  CHECK(by("bfi.b32 %r2, %r1, %r3, 4, 8;") == Bytes{{0, 1}});
  CHECK(by("bfi.b32 %r2, %r3, %r1, 0, 16;") == Bytes{{2, 2}});
  CHECK(by("prmt.b32 %r2, %r1, 0, 0x4441;") == Bytes{{1, 1}});
  CHECK(by("prmt.b32 %r2, %r3, %r1, 0x3216;") == Bytes{{2, 1}});
  CHECK(by("prmt.b32 %r2, %r1, 0, 0x999A;") == Bytes{{1, 2}});
  CHECK(by("cvt.u16.u32 %rs1, %r1; cvt.u32.u16 %r2, %rs1;") == Bytes{{0, 2}});
  CHECK(by("cvt.s32.s8 %r2, %r1;") == Bytes{{0, 1}});
  CHECK(by("mov.b32 {%rs1, %rs2}, %r1; cvt.u32.u16 %r2, %rs2;") == Bytes{{2, 2}});
  CHECK(word("st.global.u8 [%rd2], %r1;") == Bytes{{0, 1}});
  CHECK(logged_of("ld.global.u64 %rd3, [%rd1+64]; mov.b64 {%r1, %r2}, %rd3;" +
                  std::string(kStore)) == Bytes{{4, 4}});
  CHECK(logged_of("ld.global.s16 %r1, [%rd1+64]; shr.u32 %r2, %r1, 16;" + std::string(kStore)) ==
        Bytes{{1, 1}});
}

TEST_CASE("what reads all of a word reads all of it") {
  for (const std::string computation :
       {"and.b32 %r2, %r1, %r3;", "add.s32 %r2, %r1, 1;", "shr.s32 %r2, %r1, %r3;",
        "bfe.u32 %r2, %r1, %r3, 8;", "prmt.b32 %r2, %r1, 0, %r3;", "cvt.rn.f32.u32 %r2, %r1;",
        "and.b32 %r2, %r1, 255; add.s32 %r2, %r2, %r1;", "cvt.sat.u8.u32 %r2, %r1;",
        "or.b32 %r2, %r1, 255; xor.b32 %r2, %r1, %r2;", "not.b32 %r2, %r1;"}) {
    INFO(computation);
    CHECK(by(computation) == Bytes{{0, 4}});
  }
  // Round a loop.
  CHECK(by("again: shr.u32 %r1, %r1, 8; and.b32 %r2, %r1, 255; setp.ne.s32 %p1, %r2, 0; @%p1 bra "
           "again;") == Bytes{{0, 4}});
}

TEST_CASE("a byte that was left out is logged where it is read after all") {
  const InstrumentedModule module = instrument_body(
      "ld.global.u32 %r1, [%rd1]; and.b32 %r2, %r1, 255; st.shared.u32 [%r3], %r2;\n"
      "ld.global.u32 %r4, [%rd1]; st.shared.u32 [%r3+4], %r4;");
  CHECK(std::ranges::count(module.sites, "ld.global.u32", &Site::instruction) == 2);
}

TEST_CASE("a load is logged by the lanes in which a select or a predicate takes what it read") {
  for (const std::string use :
       {"selp.b32 %r2, %r1, 0, %p1;", "selp.b32 %r2, 0, %r1, %p1;",
        "add.s32 %r3, %r1, 1; selp.b32 %r2, %r3, 7, %p1;",
        "setp.ne.s32 %p2, %r1, 0; and.pred %p3, %p1, %p2; selp.b32 %r2, 1, 0, %p3;",
        "setp.ne.s32 %p2, %r1, 0; or.pred %p3, %p2, !%p1; selp.b32 %r2, 1, 0, %p3;",
        "setp.ne.and.s32 %p2, %r1, 0, %p1; selp.b32 %r2, 1, 0, %p2;",
        // What decides is made of what was read as well, as in `t == 0 && read > most`.
        "setp.gt.s32 %p2, %r1, 9; and.pred %p3, %p1, %p2; selp.b32 %r2, %r1, 9, %p3;",
        "setp.gt.and.s32 %p2, %r1, 9, %p1; selp.b32 %r2, %r1, 9, %p2;",
        "setp.gt.s32 %p2, %r1, 9; setp.lt.s32 %p3, %r1, 99; and.pred %p4, %p2, %p3;"
        " and.pred %p5, %p4, %p1; selp.b32 %r2, %r1, 9, %p5;",
        "setp.gt.s32 %p2, %r1, 9; setp.lt.s32 %p3, %r1, 99; and.pred %p4, %p1, %p2;"
        " and.pred %p5, %p3, %p1; or.pred %p6, %p4, %p5; selp.b32 %r2, %r1, 9, %p6;",
        "setp.gt.s32 %p2, %r1, 9; and.pred %p3, %p1, %p2; not.pred %p4, %p3; selp.b32 %r2, 9, %r1, "
        "%p4;",
        // Not known before, but what is more is.
        "ld.volatile.global.u32 %r5, [%rd3]; setp.eq.s32 %p4, %r5, 1; and.pred %p5, %p1, %p4;"
        " selp.b32 %r2, %r1, 0, %p5;",
        "selp.b32 %r3, -1, 0, %p1; and.b32 %r2, %r3, %r1;", "@%p1 mov.u32 %r2, %r1;",
        "setp.gt.s32 %p4, %r10, 7; selp.b32 %r2, %r1, 0, %p4;",
        "and.b32 %r11, %r10, 31; setp.gt.s32 %p4, %r11, 7; selp.b32 %r2, %r1, 0, %p4;"}) {
    INFO(use);
    CHECK(after_predicate(use + std::string(kStore)) == Logged::kBySome);
  }
}

TEST_CASE("the lanes that log a load are those in which its value gets through") {
  for (const auto& [use, lanes] : std::vector<std::pair<std::string, std::string>>{
           {"selp.b32 %r2, %r1, 0, %p1;", "mov"},
           {"selp.b32 %r2, 0, %r1, %p1;", "not"},
           {"@!%p1 mov.u32 %r2, %r1;", "not"},
           {"setp.ne.s32 %p2, %r1, 0; and.pred %p3, %p1, %p2; selp.b32 %r2, 1, 0, %p3;", "mov"},
           {"setp.ne.s32 %p2, %r1, 0; or.pred %p3, %p1, %p2; selp.b32 %r2, 1, 0, %p3;", "not"},
           {"setp.ne.or.s32 %p2, %r1, 0, %p1; selp.b32 %r2, 1, 0, %p2;", "not"},
           {"setp.gt.s32 %p2, %r1, 9; and.pred %p3, %p2, %p1; selp.b32 %r2, %r1, 9, %p3;", "mov"},
           {"setp.gt.s32 %p2, %r1, 9; or.pred %p3, %p2, %p1; selp.b32 %r2, 9, %r1, %p3;", "not"},
           {"@!%p1 bra done; mov.u32 %r2, %r1; st.global.u32 [%rd2], %r2; done:", "mov"},
           {"@%p1 bra done; mov.u32 %r2, %r1; st.global.u32 [%rd2], %r2; done:", "not"},
           {"@%p1 bra there; bra.uni done; there: st.global.u32 [%rd2], %r1; done:", "mov"},
           {"@!%p1 bra there; bra.uni done; there: st.global.u32 [%rd2], %r1; done:", "not"}}) {
    INFO(use);
    CHECK(logged_where(use + std::string(kStore)) == lanes);
  }
}

TEST_CASE("a load whose value is also used otherwise is logged by all lanes") {
  for (const std::string use :
       {"selp.b32 %r2, %r1, 0, %p1; add.s32 %r2, %r2, %r1;",
        "selp.b32 %r2, %r1, 0, %p1; selp.b32 %r3, 0, %r1, %p1; add.s32 %r2, %r3, %r2;",
        "setp.ne.s32 %p2, %r1, 0; and.pred %p3, %p1, %p2; @%p2 bra done; selp.b32 %r2, 1, 0, %p3;"
        " done:",
        "setp.ne.s32 %p2, %r1, 0; xor.pred %p3, %p1, %p2; selp.b32 %r2, 1, 0, %p3;",
        "setp.ne.xor.s32 %p2, %r1, 0, %p1; selp.b32 %r2, 1, 0, %p2;",
        // What decides is made of what was read.
        "setp.ne.s32 %p2, %r1, 0; selp.b32 %r2, %r1, 0, %p2;",
        "setp.gt.s32 %p2, %r1, 0; setp.lt.s32 %p3, %r1, 9; and.pred %p4, %p2, %p3;"
        " selp.b32 %r2, 1, 0, %p4;",
        "setp.gt.s32 %p2, %r1, 9; or.pred %p3, %p1, %p2; selp.b32 %r2, %r1, 9, %p3;",
        "setp.gt.s32 %p2, %r1, 9; setp.lt.s32 %p3, %r1, 99; and.pred %p4, %p1, %p2;"
        " or.pred %p6, %p4, %p3; selp.b32 %r2, %r1, 9, %p6;",
        "setp.gt.s32 %p2, %r1, 9; and.pred %p3, %p1, %p2; selp.b32 %r2, 9, %r1, %p3;",
        "setp.gt.or.s32 %p2, %r1, 9, %p1; selp.b32 %r2, %r1, 9, %p2;",
        "setp.gt.s32 %p2, %r1, 9; xor.pred %p3, %p1, %p2; selp.b32 %r2, %r1, 9, %p3;",
        "shfl.sync.idx.b32 %r3|%p5, %r1, 0, 31, -1; selp.b32 %r2, %r3, 0, %p1;"}) {
    INFO(use);
    CHECK(after_predicate(use + std::string(kStore)) == Logged::kByAll);
  }
}

TEST_CASE("a load is logged by the lanes that a branch leads to where it is used") {
  const std::string use = "@!%p1 bra done; st.global.u32 [%rd2], %r1; done:";
  CHECK(after_predicate(use) == Logged::kBySome);
  CHECK(after_predicate("setp.gt.s32 %p4, %r10, 7; @%p4 bra done; st.global.u32 [%rd2], %r1; "
                        "done:") == Logged::kBySome);
  CHECK(after_predicate("@!%p1 bra done; mov.u32 %r3, 1; done: st.global.u32 [%rd2], %r1;") ==
        Logged::kByAll);
  // Loaded and used behind the same branch.
  CHECK(logged_by(std::string(kBefore) + "@!%p1 bra done; ld.global.u32 %r1, [%rd1]; "
                                         "st.global.u32 [%rd2], %r1; done:") == Logged::kByAll);
  // One thread goes on with what it has stored, and the others load it for nothing.
  CHECK(logged_by(std::string(kBefore) +
                  "@%p1 bra $one; ld.global.u32 %r1, [%rd1]; bra.uni $both;\n$one: ld.shared.u32 "
                  "%r1, [%rd3]; st.global.u32 [%rd1], %r1;\n"
                  "$both: selp.b32 %r2, %r1, 0, %p1; st.global.u32 [%rd2], %r2;") ==
        Logged::kBySome);
  // What it has stored is used elsewhere, where what the others load does not come.
  CHECK(logged_by(std::string(kBefore) +
                  "@%p1 bra $one; ld.global.u32 %r1, [%rd1]; bra.uni $both;\n$one: ld.shared.u32 "
                  "%r1, [%rd3]; setp.gt.s32 %p2, %r10, 7; @%p2 bra $more; bra.uni $both;\n"
                  "$more: st.global.u32 [%rd1], %r1;\n"
                  "$both: selp.b32 %r2, %r1, 0, %p1; st.global.u32 [%rd2], %r2;") ==
        Logged::kBySome);
  CHECK(logged_by(std::string(kBefore) +
                  "@%p1 bra $one; ld.global.u32 %r1, [%rd1]; bra.uni $more;\n$one: ld.shared.u32 "
                  "%r1, [%rd3]; setp.gt.s32 %p2, %r10, 7; @%p2 bra $more; bra.uni $both;\n"
                  "$more: st.global.u32 [%rd1], %r1;\n"
                  "$both: selp.b32 %r2, %r1, 0, %p1; st.global.u32 [%rd2], %r2;") ==
        Logged::kByAll);
  // Each round anew: what is made of what never changes is the same then.
  CHECK(logged_by(std::string(kBefore) +
                  "$round: setp.eq.s32 %p2, %r10, 0; @%p2 bra $one; ld.global.u32 %r1, [%rd1]; "
                  "bra.uni $both;\n$one: ld.shared.u32 %r1, [%rd3]; st.global.u32 [%rd1], %r1;\n"
                  "$both: selp.b32 %r3, %r1, 0, %p2; add.s32 %r2, %r2, %r3; setp.lt.s32 %p3, %r2, "
                  "9; @%p3 bra $round; st.global.u32 [%rd2], %r2;") == Logged::kBySome);
  // A branch that what was read decides as well.
  CHECK(after_predicate("setp.eq.s32 %p3, %r1, 0; setp.ne.s32 %p4, %r10, 0; or.pred %p5, %p4, %p3; "
                        "@%p5 bra done; st.global.u32 [%rd2], %r1; done:") == Logged::kBySome);
  CHECK(after_predicate("setp.eq.s32 %p3, %r1, 0; setp.ne.s32 %p4, %r10, 0; and.pred %p5, %p4, "
                        "%p3; @%p5 bra done; st.global.u32 [%rd2], %r1; done:") == Logged::kByAll);
  // Joined with another value, as in if (t == 0 && last).
  CHECK(logged_by(std::string(kBefore) +
                  "@%p1 bra $one; ld.global.u32 %r1, [%rd1]; bra.uni $both;\n$one: mov.u32 %r1, 1; "
                  "st.global.u32 [%rd2], %r1;\n"
                  "$both: setp.eq.s32 %p3, %r1, 0; setp.ne.s32 %p4, %r10, 0; or.pred %p5, %p4, "
                  "%p3; @%p5 bra $done; st.global.u32 [%rd2], 1; $done:") == Logged::kBySome);
}

TEST_CASE("what decides only behind the load is waited for, if nothing orders the thread between") {
  const std::string decides =
      "ld.shared.u32 %r5, [%r6]; setp.gt.s32 %p4, %r5, 7; selp.b32 %r2, %r1, 0, %p4;";
  CHECK(after_predicate(decides + std::string(kStore)) == Logged::kBySome);
  for (const std::string_view between :
       {"bar.sync 0; ", "bar.warp.sync -1; ", "atom.global.add.u32 %r7, [%rd2], 1; ",
        "add.s64 %rd1, %rd1, 4; ", "next: "}) {
    INFO(between);
    CHECK(after_predicate(std::string(between) + decides + std::string(kStore)) ==
          Logged::kSpeculated);
  }
  // One of two that may let it through is not known.
  const std::string later =
      "bar.sync 0; ld.volatile.shared.u32 %r5, [%r6]; setp.gt.s32 %p4, %r5, 7; ";
  CHECK(after_predicate(later + "or.pred %p5, %p1, %p4; selp.b32 %r2, %r1, 0, %p5;" +
                        std::string(kStore)) == Logged::kSpeculated);
  CHECK(after_predicate(later + "setp.gt.or.s32 %p5, %r5, 9, %p1; selp.b32 %r2, %r1, 0, %p5;" +
                        std::string(kStore)) == Logged::kSpeculated);
  // A branch that is not known before leaves it as it is.
  CHECK(after_predicate("bar.sync 0; ld.shared.u32 %r5, [%r6]; setp.gt.s32 %p4, %r5, 7; @%p4 bra "
                        "done; st.global.u32 [%rd2], %r1; done:") == Logged::kByAll);
}

TEST_CASE("a value that goes through several selects or branches needs all of them") {
  const std::string other =
      "ld.volatile.global.u16 %rs1, [%rd1+8]; "
      "setp.gt.s16 %p4, %rs1, 2; ";
  const std::string load = std::string(kBefore) + other + "ld.global.u32 %r1, [%rd1]; ";
  const auto condition = [&](const std::string& use) {
    const std::string text = instrument_body(load + use + std::string(kStore)).text;
    const std::size_t begin = text.find("%__barracuda_u, %p");
    const std::size_t end = text.find("@!%__barracuda_u");
    return begin == std::string::npos ? "" : text.substr(begin, end - begin);
  };
  // As nvcc for compute_100 and clang have it: if (t == 0 && in[t] > 2) acc += m; if (t == 0) ...
  const std::string both = condition("selp.b32 %r3, %r1, 0, %p4; selp.b32 %r2, %r3, 0, %p1;");
  CHECK(both.find("%p4;") != std::string::npos);
  CHECK(both.find("and.pred %__barracuda_u") != std::string::npos);
  CHECK(both.find("%p1;") != std::string::npos);
  // One of two ways needs less: the other says no more.
  const std::string one = condition(
      "selp.b32 %r3, %r1, 0, %p4; selp.b32 %r4, %r3, 0, %p1; selp.b32 %r5, %r1, 0, %p1;"
      " add.s32 %r2, %r4, %r5;");
  CHECK(one.find("%p1;") != std::string::npos);
  CHECK(one.find("%p4;") == std::string::npos);
  // Either of two.
  const std::string either =
      condition("selp.b32 %r4, %r1, 0, %p4; selp.b32 %r5, %r1, 0, %p1; add.s32 %r2, %r4, %r5;");
  CHECK(either.find("or.pred %__barracuda_u") != std::string::npos);
  // Where one does not hold the other does.
  const std::string opposite = condition(
      "selp.b32 %r3, %r1, 0, %p4; selp.b32 %r4, %r3, 0, %p1; selp.b32 %r5, 0, %r1, %p1;"
      " selp.b32 %r6, 0, %r5, %p4; selp.b32 %r7, %r5, 0, %p4; add.s32 %r2, %r4, %r6;"
      " add.s32 %r2, %r2, %r7;");
  CHECK(opposite.find("%p4;") != std::string::npos);
  // A branch, and a select behind it.
  const std::string branch = condition(
      "mov.u32 %r2, 0; @!%p4 bra $done; selp.b32 %r2, %r1, 0, "
      "%p1; $done:");
  CHECK(branch.find("%p4;") != std::string::npos);
  CHECK(branch.find("%p1;") != std::string::npos);
}

TEST_CASE("one condition that is computed again for each use is one") {
  // As nvcc for compute_100 keeps a running maximum: for (...) if (t == 0 && top > best) best = top
  std::string body = std::string(kBefore) + "ld.global.u32 %r1, [%rd1]; bar.sync 0; ";
  for (int n = 0; n < 20; ++n) {
    body += fmt::format(
        "setp.ne.s32 %q{0}, %r10, 0; ld.volatile.global.u32 %s{0}, [%rd1+{1}]; setp.le.s32 %n{0}, "
        "%s{0}, "
        "%r1; or.pred %o{0}, %q{0}, %n{0}; @%o{0} bra $next{0}; st.global.u32 [%rd2], %s{0}; "
        "mov.u32 %r1, %s{0};\n$next{0}: ",
        n, 8 + 4 * n);
  }
  CHECK(logged_by(".reg .pred %q<20>, %n<20>, %o<20>; .reg .b32 %s<20>; " + body) ==
        Logged::kBySome);
}

TEST_CASE("a predicate that several instructions write says what decided about the writing") {
  const auto after = [](const std::string& body) {
    return logged_by(std::string(kBefore) +
                     "ld.global.u32 %r1, [%rd1]; bar.sync 0; "
                     "ld.volatile.shared.u32 %r5, [%r6]; " +
                     body + std::string(kStore));
  };
  CHECK(after("mov.pred %p4, 0; @%p1 setp.gt.s32 %p4, %r5, 2; selp.b32 %r2, %r1, 0, %p4;") ==
        Logged::kBySome);
  CHECK(after("mov.pred %p4, 0; @!%p1 bra $on; setp.gt.s32 %p4, %r5, 2;\n$on: selp.b32 %r2, %r1, "
              "0, %p4;") == Logged::kBySome);
  CHECK(after("mov.pred %p4, -1; @!%p1 bra $on; setp.gt.s32 %p4, %r5, 2;\n$on: selp.b32 %r2, 0, "
              "%r1, %p4;") == Logged::kBySome);
  // Kept as a number, as nvcc for compute_75 does.
  CHECK(after("mov.u16 %rs3, 0; mov.u16 %rs2, %rs3; @!%p1 bra $on; setp.gt.s32 %p5, %r5, 2;"
              " selp.u16 %rs2, 1, 0, %p5;\n$on: setp.eq.s16 %p4, %rs2, 0; selp.b32 %r2, 0, %r1, "
              "%p4;") == Logged::kBySome);
  // It is true where nothing decided.
  CHECK(after("mov.pred %p4, -1; @%p1 setp.gt.s32 %p4, %r5, 2; selp.b32 %r2, %r1, 0, %p4;") ==
        Logged::kSpeculated);
  CHECK(
      after("setp.gt.s32 %p4, %r5, 9; @%p1 setp.gt.s32 %p4, %r5, 2; selp.b32 %r2, %r1, 0, %p4;") ==
      Logged::kSpeculated);
  CHECK(after("mov.u16 %rs2, 1; @!%p1 bra $on; setp.gt.s32 %p5, %r5, 2; selp.u16 %rs2, 1, 0, %p5;\n"
              "$on: setp.eq.s16 %p4, %rs2, 0; selp.b32 %r2, 0, %r1, %p4;") == Logged::kSpeculated);
  // Each of two decides otherwise.
  CHECK(after("@%p1 bra $one; setp.gt.s32 %p4, %r5, 9; bra.uni $on;\n$one: setp.gt.s32 %p4, %r5, "
              "2;\n$on: selp.b32 %r2, %r1, 0, %p4;") == Logged::kSpeculated);
  // What decided then has changed since.
  CHECK(logged_by(std::string(kBefore) +
                  "mov.u32 %r12, 0; mov.pred %p4, 0;\n$again: setp.lt.s32 %p5, %r12, 3; "
                  "ld.global.u32 %r1, [%rd1]; bar.sync 0; ld.volatile.shared.u32 %r5, [%r6]; @%p5 "
                  "setp.gt.s32 %p4, %r5, 2; selp.b32 %r2, %r1, 0, %p4; st.global.u32 [%rd2], %r2; "
                  "add.s32 %r12, %r12, 1; setp.lt.s32 %p6, %r12, 9; @%p6 bra $again;") ==
        Logged::kSpeculated);
}

TEST_CASE("a register that changes between load and use does not decide about the load") {
  // %p4 is of this round of the loop, %r1 of the one before.
  CHECK(logged_by(std::string(kBefore) +
                  "mov.u32 %r12, 0; mov.u32 %r1, 0; again: add.s32 %r12, %r12, 1; setp.gt.s32 "
                  "%p4, %r12, 7; selp.b32 %r2, %r1, 0, %p4; st.global.u32 [%rd2], %r2; bar.sync 0;"
                  " ld.global.u32 %r1, [%rd1]; setp.lt.s32 %p5, %r12, 99; @%p5 bra again;") !=
        Logged::kBySome);
  // Waited for in the round of the load, though it masks in the next one.
  CHECK(logged_by(std::string(kBefore) +
                  "mov.u32 %r12, 0; mov.u32 %r3, 0; again: ld.shared.u32 %r5, [%r6]; setp.gt.s32 "
                  "%p4, %r5, 7; ld.global.u32 %r1, [%rd1]; selp.b32 %r2, %r3, 0, %p4;"
                  " mov.u32 %r3, %r1; st.global.u32 [%rd2], %r2; add.s32 %r12, %r12, 1;"
                  " setp.lt.s32 %p5, %r12, 99; @%p5 bra again;") != Logged::kBySome);
  // By one way the value is of this round, by the other of the one before.
  CHECK(logged_by(std::string(kBefore) +
                  "mov.u32 %r12, 0; mov.u32 %r3, 0; again: add.s32 %r12, %r12, 1; setp.gt.s32 %p4, "
                  "%r12, 7; ld.global.u32 %r1, [%rd1]; bar.sync 0; add.s32 %r4, %r1, 1; selp.b32 "
                  "%r2, %r4, 0, %p4; st.global.u32 [%rd2], %r2; add.s32 %r7, %r3, 1; selp.b32 %r8, "
                  "%r7, 0, %p4; st.global.u32 [%rd2], %r8; mov.u32 %r3, %r4;"
                  " setp.lt.s32 %p5, %r12, 99; @%p5 bra again;") != Logged::kBySome);
  // Both come into one register.
  CHECK(logged_by(std::string(kBefore) +
                  "mov.u32 %r12, 0; mov.u32 %r3, 0; again: add.s32 %r12, %r12, 1; setp.gt.s32 %p4, "
                  "%r12, 7; ld.global.u32 %r1, [%rd1]; bar.sync 0; add.s32 %r4, %r1, %r3; selp.b32 "
                  "%r2, %r4, 0, %p4; st.global.u32 [%rd2], %r2; mov.u32 %r3, %r1;"
                  " setp.lt.s32 %p5, %r12, 99; @%p5 bra again;") != Logged::kBySome);
  // Of the same round.
  CHECK(logged_by(std::string(kBefore) +
                  "mov.u32 %r12, 0; again: add.s32 %r12, %r12, 1; setp.gt.s32 %p4, %r10, 7;"
                  " ld.global.u32 %r1, [%rd1]; bar.sync 0; selp.b32 %r2, %r1, 0, %p4;"
                  " st.global.u32 [%rd2], %r2; setp.lt.s32 %p5, %r12, 99; @%p5 bra again;") ==
        Logged::kBySome);
}

TEST_CASE("a predicate that is written again behind the load decides where it has its last value") {
  const std::string text =
      instrument_body(
          std::string(kBefore) +
          "ld.global.u32 %r1, [%rd1]; setp.gt.s32 %p1, %r10, 7; selp.b32 %r2, %r1, 0, %p1;" +
          std::string(kStore))
          .text;
  CHECK(text.find("setp.gt.s32 %p1") < text.find("%__barracuda_u"));
}

TEST_CASE("a load that some lanes log stands for no later one") {
  const InstrumentedModule module = instrument_body(
      std::string(kBefore) +
      "ld.global.u32 %r1, [%rd1]; selp.b32 %r2, %r1, 0, %p1; st.shared.u32 [%r3], %r2;\n"
      "ld.global.u32 %r4, [%rd1]; st.shared.u32 [%r3+4], %r4;");
  CHECK(std::ranges::count(module.sites, "ld.global.u32", &Site::instruction) == 2);
}

}  // namespace barracuda::ptx
