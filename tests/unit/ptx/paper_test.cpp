// What model=paper needs of the rewriter: branches and their meetings, and the acquires and
// releases that fences next to accesses make.
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx/parse.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

using wire::FenceScope;
using wire::Operation;

InstrumentedModule instrument_body(const std::string& body, bool for_paper = true) {
  std::vector<Module> units;
  units.push_back(parse_module(kernel_text(
      ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n" + body)));
  auto instrumented = instrument(std::move(units), {.for_paper = for_paper});
  INFO((instrumented ? "" : instrumented.error().to_string()));
  REQUIRE(instrumented);
  return std::move(*instrumented);
}

std::vector<wire::SiteInfo> sites_of(const InstrumentedModule& module, Operation operation) {
  std::vector<wire::SiteInfo> found;
  for (const Site& site : module.sites) {
    if (site.info.operation == operation) {
      found.push_back(site.info);
    }
  }
  return found;
}

// The only access of the body.
wire::SiteInfo access_of(const std::string& body, Operation operation) {
  const auto found = sites_of(instrument_body(body + " ret;"), operation);
  REQUIRE(found.size() == 1);
  return found[0];
}

bool has_role(const wire::SiteInfo& site, FenceScope acquires, FenceScope releases) {
  const bool is_sync = acquires != FenceScope::kNone || releases != FenceScope::kNone;
  return site.acquires == acquires && site.releases == releases && (site.numbered || !is_sync);
}

constexpr auto kNone = FenceScope::kNone;
constexpr auto kBlock = FenceScope::kBlock;
constexpr auto kGlobal = FenceScope::kGlobal;

}  // namespace

TEST_CASE("a branch says where its ways meet") {
  const auto module = instrument_body(
      "setp.eq.u32 %p1, %r1, 0; @%p1 bra $else; st.global.u32 [%rd1], 1; bra.uni $end;\n"
      "$else: st.global.u32 [%rd1], 2;\n$end: ret;");
  const auto branches = sites_of(module, Operation::kBranch);
  const auto meetings = sites_of(module, Operation::kMeet);
  REQUIRE(branches.size() == 1);
  REQUIRE(meetings.size() == 1);
  CHECK(branches[0].constant == meetings[0].constant);
  CHECK(module.text.find("call __barracuda_meet") != std::string::npos);
  CHECK(module.not_covered.empty());
}

TEST_CASE("ways that end the function apart have no meeting") {
  const auto module = instrument_body(
      "setp.eq.u32 %p1, %r1, 0; @%p1 bra $else; st.global.u32 [%rd1], 1; ret;\n"
      "$else: st.global.u32 [%rd1], 2; ret;");
  const auto branches = sites_of(module, Operation::kBranch);
  REQUIRE(branches.size() == 1);
  CHECK(branches[0].constant == wire::kNoMeeting);
  CHECK(sites_of(module, Operation::kMeet).empty());
}

TEST_CASE("branches that lanes take together, and those of model=ptx, are not logged") {
  const std::string body =
      "setp.eq.u32 %p1, %r1, 0; @%p1 bra{} $end; st.global.u32 [%rd1], 1;\n$end: ret;";
  const auto with = [&](const std::string& modifier) {
    std::string text = body;
    return text.replace(text.find("{}"), 2, modifier);
  };
  CHECK(sites_of(instrument_body(with(".uni")), Operation::kBranch).empty());
  CHECK(sites_of(instrument_body(with(""), false), Operation::kBranch).empty());
  CHECK(sites_of(instrument_body(with("")), Operation::kBranch).size() == 1);
}

TEST_CASE("a fence before a store makes a release of it, one behind a load an acquire") {
  CHECK(has_role(
      access_of("membar.gl; add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1;", Operation::kWrite),
      kNone, kGlobal));
  CHECK(has_role(access_of("membar.cta; st.volatile.global.u32 [%rd1], %r1;", Operation::kWrite),
                 kNone, kBlock));
  CHECK(has_role(access_of("st.global.u32 [%rd1], %r1; membar.gl;", Operation::kWrite), kNone,
                 kNone));
  CHECK(has_role(access_of("ld.global.u32 %r1, [%rd1]; membar.sys;", Operation::kRead), kGlobal,
                 kNone));
  CHECK(
      has_role(access_of("membar.gl; ld.global.u32 %r1, [%rd1];", Operation::kRead), kNone, kNone));
  CHECK(has_role(access_of("membar.gl; bar.sync 0; st.global.u32 [%rd1], %r1;", Operation::kWrite),
                 kNone, kNone));
}

TEST_CASE("a fence is next to an access over branches as well") {
  CHECK(has_role(access_of("$spin: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0;\n"
                           "@%p1 bra $spin; membar.gl;",
                           Operation::kRead),
                 kGlobal, kNone));
  CHECK(has_role(access_of("membar.gl; setp.eq.u32 %p1, %r1, 0; @%p1 bra $end;\n"
                           "st.global.u32 [%rd1], %r1;\n$end:",
                           Operation::kWrite),
                 kNone, kGlobal));
}

TEST_CASE("a CAS obtains and an exchange frees, other atomics do both") {
  const std::string cas = "atom.global.cas.b32 %r1, [%rd1], 0, 1; ";
  const std::string exchange = "atom.global.exch.b32 %r1, [%rd1], 0; ";
  const std::string add = "atom.global.add.u32 %r1, [%rd1], 1; ";
  const std::string fence = "membar.gl; ";
  const auto role = [&](const std::string& body, FenceScope acquires, FenceScope releases) {
    return has_role(access_of(body, Operation::kAtomic), acquires, releases);
  };
  CHECK(role(cas + fence, kGlobal, kNone));
  CHECK(role(fence + cas, kNone, kNone));
  CHECK(role(fence + exchange, kNone, kGlobal));
  CHECK(role(exchange + fence, kNone, kNone));
  CHECK(role(fence + cas + "membar.cta; ", kBlock, kGlobal));
  CHECK(role(add + fence, kGlobal, kGlobal));
  CHECK(role(fence + add, kGlobal, kGlobal));
  CHECK(role(add, kNone, kNone));
}

TEST_CASE("what an instruction says itself it is, without a fence") {
  CHECK(has_role(access_of("ld.acquire.gpu.global.u32 %r1, [%rd1];", Operation::kRead), kGlobal,
                 kNone));
  CHECK(has_role(access_of("st.release.cta.global.u32 [%rd1], %r1;", Operation::kWrite), kNone,
                 kBlock));
  CHECK(has_role(access_of("atom.acq_rel.gpu.global.add.u32 %r1, [%rd1], 1;", Operation::kAtomic),
                 kGlobal, kGlobal));
}

}  // namespace barracuda::ptx
