// Flag stores and polls across basic blocks and calls; those within one block are in
// instrument_test.cpp.
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx/parse.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

constexpr std::string_view kHead = ".version 7.0\n.target sm_75\n.address_size 64\n";
constexpr std::string_view kRegisters = ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n";

// Which of the sites of that instruction are what is asked for, in the order of the text.
std::vector<bool> ask(const std::string& text, std::string_view instruction,
                      bool wire::SiteInfo::* what) {
  std::vector<Module> units;
  units.push_back(parse_module(text));
  const auto instrumented = instrument(std::move(units), {});
  INFO((instrumented ? "" : instrumented.error().to_string()));
  REQUIRE(instrumented);
  std::vector<bool> answers;
  for (const Site& site : instrumented->sites) {
    if (site.instruction == instruction) {
      answers.push_back(site.info.*what);
    }
  }
  return answers;
}

std::string in_kernel(const std::string& body) {
  return std::string(kHead) + ".visible .entry kernel(.param .u64 p)\n{\n" +
         std::string(kRegisters) + body + "\nret;\n}\n";
}

std::string function(const std::string& header, const std::string& body) {
  return ".func " + header + "\n{\n" + std::string(kRegisters) + body + "\nret;\n}\n";
}

bool is_flag_store(const std::string& text) {
  const auto answers = ask(text, "st.volatile.global.u32", &wire::SiteInfo::flag_store);
  REQUIRE(answers.size() == 1);
  return answers[0];
}

bool is_poll(const std::string& text) {
  const auto answers = ask(text, "ld.volatile.global.u32", &wire::SiteInfo::poll);
  REQUIRE(answers.size() == 1);
  return answers[0];
}

const std::string kFlag = "st.volatile.global.u32 [%rd1], 1;";
const std::string kCall = "{ call.uni f; }\n";

}  // namespace

TEST_CASE("a fence on every way to a store makes it a flag store") {
  CHECK(is_flag_store(in_kernel("membar.gl; bar.sync 0; @%p1 bra done; " + kFlag + " done:")));
  CHECK(is_flag_store(
      in_kernel("@%p1 bra other; membar.gl; bra both; other: membar.cta; both: " + kFlag)));
  CHECK(is_flag_store(in_kernel("membar.gl; again: bar.sync 0; @%p1 bra again; " + kFlag)));
  // One way has none.
  CHECK_FALSE(is_flag_store(in_kernel("@%p1 bra both; membar.gl; both: " + kFlag)));
  // An access on one way.
  CHECK_FALSE(is_flag_store(
      in_kernel("membar.gl; @%p1 bra both; ld.global.u32 %r1, [%rd2]; both: " + kFlag)));
  // The store itself, of the round before.
  CHECK_FALSE(is_flag_store(in_kernel("membar.gl; again: " + kFlag + " @%p1 bra again;")));
  CHECK(is_flag_store(
      in_kernel("again: membar.gl; bar.sync 0; @%p2 bra on; " + kFlag + " on: @%p1 bra again;")));
}

TEST_CASE("of fences on several ways the narrowest is the scope of a flag store") {
  std::vector<Module> units;
  units.push_back(parse_module(in_kernel(
      "@%p1 bra other; membar.gl; bra both; other: membar.cta; both: st.global.u32 [%rd1], 1;")));
  const auto module = instrument(std::move(units), {});
  REQUIRE(module);
  const auto found = std::ranges::find(module->sites, "st.global.u32", &Site::instruction);
  REQUIRE(found != module->sites.end());
  CHECK(found->info.idiom_scope == wire::Scope::kCta);
}

TEST_CASE("a flag store may stand in a function, and its fence in another") {
  const std::string head(kHead);
  const std::string kernel = ".visible .entry kernel()\n{\n" + std::string(kRegisters);
  const std::string store = function("f()", kFlag);
  CHECK(is_flag_store(head + store + kernel + "membar.gl;\n" + kCall + "ret;\n}\n"));
  CHECK(is_flag_store(head + store + kernel + "membar.gl;\n@%p1 bra done;\n" + kCall +
                      "done: ret;\n}\n"));
  // One of two calls has no fence before it.
  CHECK_FALSE(is_flag_store(head + store + kernel + "membar.gl;\n" + kCall + kCall + "ret;\n}\n"));
  // Somebody else may call it.
  CHECK_FALSE(
      is_flag_store(head + store + kernel + "mov.u64 %rd5, f; membar.gl;\n" + kCall + "ret;\n}\n"));
  // The function fences, with something before that.
  const std::string fence = function("f()", "ld.global.u32 %r1, [%rd2]; membar.gl; bar.sync 0;");
  CHECK(is_flag_store(head + fence + kernel + kCall + kFlag + "ret;\n}\n"));
  const std::string unfenced = function("f()", "membar.gl; ld.global.u32 %r1, [%rd2];");
  CHECK_FALSE(is_flag_store(head + unfenced + kernel + kCall + kFlag + "ret;\n}\n"));
  // The function does nothing of the kind.
  const std::string quiet = function("f()", "bar.sync 0;");
  CHECK(is_flag_store(head + quiet + kernel + "membar.gl;\n" + kCall + kFlag + "ret;\n}\n"));
  CHECK_FALSE(is_flag_store(head + quiet + kernel + kCall + kFlag + "membar.gl;\nret;\n}\n"));
  // Nobody knows what it does.
  CHECK_FALSE(is_flag_store(
      head + ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n" + kernel +
      "membar.gl;\n{ .param .b32 r; .param .b64 a; .param .b64 b; call.uni (r), vprintf, (a, b); "
      "}\n" +
      kFlag + "ret;\n}\n"));
}

TEST_CASE("a poll may stand in a function that waits, or that returns the flag") {
  const std::string head(kHead);
  const std::string kernel = ".visible .entry kernel()\n{\n" + std::string(kRegisters);
  const std::string waits =
      function("f()",
               "again: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0; @%p1 bra"
               " again;");
  CHECK(is_poll(head + waits + kernel + kCall + "membar.gl;\nret;\n}\n"));
  CHECK_FALSE(
      is_poll(head + waits + kernel + kCall + "ld.global.u32 %r1, [%rd2]; membar.gl;\nret;\n}\n"));
  CHECK_FALSE(is_poll(head + waits + kernel + "membar.gl;\n" + kCall + "ret;\n}\n"));

  const std::string returns =
      function("(.param .b32 result) f()",
               "ld.volatile.global.u32 %r1, [%rd1]; st.param.b32 [result], %r1;");
  const std::string ask_flag =
      "again:\n{ .param .b32 got; call.uni (got), f; ld.param.b32 %r2, [got]; }\n"
      "setp.eq.s32 %p1, %r2, 0; @%p1 bra again;\n";
  CHECK(is_poll(head + returns + kernel + ask_flag + "membar.gl;\nret;\n}\n"));
  CHECK_FALSE(is_poll(head + returns + kernel + ask_flag + "ret;\n}\n"));
  CHECK_FALSE(is_poll(head + returns + kernel +
                      "again:\n{ .param .b32 got; call.uni (got), f; ld.param.b32 %r2, [got]; }\n"
                      "setp.eq.s32 %p1, %r3, 0; @%p1 bra again; membar.gl;\nret;\n}\n"));
  // The fence is in a function as well.
  const std::string fences = function("g()", "bar.sync 0; membar.gl;");
  CHECK(is_poll(head + fences +
                in_kernel("again: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.s32 "
                          "%p1, %r1, 0; @%p1 bra again; { call.uni g; }")
                    .substr(kHead.size())));
}

TEST_CASE("two words are polled that one loop waits for, whichever is read first") {
  const auto polls = [](const std::string& body) {
    return ask(in_kernel(body), "ld.volatile.global.u32", &wire::SiteInfo::poll);
  };
  const std::string one = "ld.volatile.global.u32 %r1, [%rd1];",
                    other = "ld.volatile.global.u32 %r2, [%rd2];", fence = " membar.gl;";
  CHECK(polls("again: " + one + other + "setp.eq.u32 %p1, %r1, %r2; @%p1 bra again;" + fence) ==
        std::vector{true, true});
  // A branch for each.
  CHECK(polls("again: " + one + "setp.eq.u32 %p1, %r1, 0; @%p1 bra again; " + other +
              "setp.eq.u32 %p2, %r2, 0; @%p2 bra again;" + fence) == std::vector{true, true});
  // The first decides nothing.
  CHECK(polls("again: " + one + other + "setp.eq.u32 %p1, %r2, 0; @%p1 bra again;" + fence) ==
        std::vector{false, true});
  // Something else stands between.
  const std::string access = "ld.global.u32 %r3, [%rd3];";
  CHECK(polls("again: " + one + access + other + "setp.eq.u32 %p1, %r1, %r2; @%p1 bra again;" +
              fence) == std::vector{false, true});
  CHECK(polls("again: " + one + "setp.eq.u32 %p1, %r1, 0; @%p1 bra again; " + access + other +
              "setp.eq.u32 %p2, %r2, 0; @%p2 bra again;" + fence) == std::vector{false, true});
}

TEST_CASE("functions that call each other have no fence behind them") {
  const std::string text = std::string(kHead) + ".func f();\n" +
                           function("g()", "membar.gl; @%p1 bra done; " + kCall + " done:") +
                           function("f()", kFlag + " { call.uni g; }") +
                           ".visible .entry kernel()\n{\n" + std::string(kRegisters) +
                           "membar.gl;\n" + kCall + "ret;\n}\n";
  CHECK(is_flag_store(text));  // a fence is before both calls of it
  const std::string unfenced =
      std::string(kHead) + ".func f();\n" + function("g()", "@%p1 bra done; " + kCall + " done:") +
      function("f()", kFlag + " { call.uni g; }") + ".visible .entry kernel()\n{\n" +
      std::string(kRegisters) + "membar.gl;\n" + kCall + "ret;\n}\n";
  CHECK_FALSE(is_flag_store(unfenced));
}

}  // namespace barracuda::ptx
