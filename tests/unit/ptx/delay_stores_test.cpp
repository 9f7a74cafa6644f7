// What the pass that delays stores makes of each kind of instruction.
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ptx/instrument.h"
#include "ptx/parse.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

InstrumentedModule rewrite(std::string text) {
  std::vector<Module> units;
  units.push_back(parse_module(std::move(text)));
  auto rewritten = instrument(std::move(units), {.delays_stores = true});
  INFO((rewritten ? "" : rewritten.error().to_string()));
  REQUIRE(rewritten);
  return std::move(*rewritten);
}

InstrumentedModule rewrite_body(std::string_view body) {
  return rewrite(
      kernel_text(".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n"
                  ".shared .align 8 .b8 words[64];\n" +
                  std::string(body)));
}

// The hooks that the kernel calls, in the order of the text, but for those before its end.
std::string hooks_of(std::string_view body) {
  const std::string text = rewrite_body(body).text;
  std::string hooks;
  std::size_t at = text.find(".entry");
  for (at = text.find("call", at); at != std::string::npos; at = text.find("call", at + 1)) {
    const std::size_t name = text.find("__barracuda_", text.find_first_of("_", at));
    std::size_t begin = text.compare(at, 6, "call (") == 0 ? text.find("), ", at) + 3 : name;
    const std::size_t end = text.find(',', begin);
    hooks += text.substr(begin + 12, end - begin - 12) + " ";
  }
  return hooks;
}

}  // namespace

TEST_CASE("each instruction that touches memory or orders it gets its hook") {
  struct Case {
    std::string_view text, hooks;
  };

  const std::vector<Case> cases = {
      {"st.global.u32 [%rd1], %r1;", "delay"},
      {"st.global.cs.v4.f32 [%rd1+16], {%f1, %f2, %f3, %f4};", "delay"},
      {"st.volatile.u64 [%rd1], 5;", "delay"},
      {"st.relaxed.gpu.global.u32 [%rd1], %r1;", "delay"},
      {"st.shared.u8 [words+3], %r1;", "delay"},
      {"st.release.gpu.u32 [%rd1], %r1;", "drain"},
      {"st.relaxed.sys.mmio.global.u32 [%rd1], %r1;", "settle"},
      {"st.local.u32 [%rd1], %r1;", ""},
      {"ld.global.u32 %r1, [%rd1];", "overlay"},
      {"ld.acquire.gpu.u32 %r1, [%rd1];", "overlay"},
      {"ld.global.nc.u32 %r1, [%rd1];", "settle"},
      {"ld.const.u32 %r1, [%rd1];", ""},
      {"ld.global.v2.u32 {%r1, _}, [%rd1];", "settle"},
      {"atom.global.add.u32 %r1, [%rd1], 1;", "settle"},
      {"atom.acquire.gpu.global.add.u32 %r1, [%rd1], 1;", "settle"},
      {"atom.release.gpu.global.add.u32 %r1, [%rd1], 1;", "drain"},
      {"red.global.add.u32 [%rd1], 1;", "settle"},
      {"fence.acq_rel.cta;", "drain"},
      {"fence.acquire.gpu;", ""},
      {"membar.sys;", "drain"},
      {"fence.proxy.alias;", "drain"},
      {"bar.sync 0;", "drain"},
      {"barrier.arrive 1, 64;", "drain"},
      {"bar.warp.sync -1;", "drain"},
      {"shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;", ""},
      {"mbarrier.arrive.shared.b64 %rd1, [words];", "drain"},
      {"cp.async.ca.shared.global [words], [%rd1], 4;", "drain"},
      {"griddepcontrol.wait;", "drain"},
      {"discard.global.L2 [%rd1], 128;", "drain"},
      {"unheard.of.u32 [%rd1];", "drain"},
      {"@%p1 exit;", "drain"},
  };
  for (const Case& one : cases) {
    INFO(one.text);
    const std::string before = one.hooks.empty() ? "" : std::string(one.hooks) + " ";
    // Before the return, and before the end of the text.
    CHECK(hooks_of("st.global.u32 [%rd2], 1;\n" + std::string(one.text) + "\nret;") ==
          "delay " + before + "drain drain ");
  }
}

TEST_CASE("a delayed store stands under the negated answer, as it was written") {
  const std::string text = rewrite_body("@!%p1 st.global.wt.v2.u32 [%rd1+8], {%r1, 7};\nret;").text;
  CHECK(text.find("@!%__barracuda_q st.global.wt.v2.u32 [%rd1+8], {%r1, 7};") != std::string::npos);
  CHECK(text.find("@%p1 bra $__barracuda_skip0;") != std::string::npos);
  CHECK(text.find("st.local.v2.u32 [__barracuda_value], {%r1, 7};") != std::string::npos);
}

TEST_CASE("what waits is drained where a loop begins, and strong stores do not wait there") {
  CHECK(hooks_of("st.global.u32 [%rd1], 1;\nst.volatile.global.u32 [%rd2], 1;\n$L:\n"
                 "ld.volatile.global.u32 %r1, [%rd2];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra $L;\n"
                 "ret;") == "delay settle drain overlay drain drain ");
  CHECK(hooks_of("st.volatile.global.u32 [%rd2], 1;\n@%p1 bra $L;\nst.global.u32 [%rd1], 1;\n"
                 "$L:\nret;") == "delay delay drain drain ");
}

TEST_CASE(
    "strong stores wait where no lane of their warp can poll: between barriers of all lanes") {
  struct Case {
    std::string_view before, behind, hook;
  };

  const std::string_view loop =
      "$L:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra $L;\n";
  const std::vector<Case> cases = {
      {"bar.sync 0;", "bar.sync 0;", "delay"},
      {"barrier.sync.aligned 0;", "bar.red.popc.u32 %r2, 0, %p1;", "delay"},
      {"bar.sync 1, 64;", "bar.sync 1, 64;", "delay"},
      {"barrier.sync 1, 64;", "bar.sync 0;", "settle"},
      {"bar.sync 0;", "@%p2 bar.sync 0;", "settle"},
      {"bar.sync 0;", "bar.warp.sync -1;", "settle"},
      {"bar.sync 0;", "barrier.cluster.arrive;\nbarrier.cluster.wait;\nbar.sync 0;", "settle"},
      {"", "bar.sync 0;", "settle"},
  };
  for (const Case& one : cases) {
    INFO(one.before << " and " << one.behind);
    const std::string hooks =
        hooks_of(fmt::format("{}{}\nst.volatile.global.u32 [%rd1], 1;\n{}\n{}ret;", loop,
                             one.before, one.behind, "$M:\n@%p2 bra $M;\n"));
    CHECK(hooks.find(fmt::format("{} ", one.hook)) != std::string::npos);
  }
  // Lanes may be on either way.
  CHECK(hooks_of("bar.sync 0;\n@%p1 bra $N;\nst.volatile.global.u32 [%rd1], 1;\nbra $O;\n$N:\n"
                 "@%p2 bra $N;\n$O:\nbar.sync 0;\nret;")
            .find("delay") == std::string::npos);
}

TEST_CASE("what waits lets others look first, but not before a release") {
  const auto how = [](std::string_view instruction) {
    const std::string text =
        rewrite_body("st.global.u32 [%rd1], 1;\n" + std::string(instruction) + "\nret;").text;
    const std::size_t entry = text.find(".entry"),
                      drain = text.find("call __barracuda_drain", entry);
    REQUIRE(drain != std::string::npos);
    return text[text.rfind(';', drain) - 1];
  };
  for (const std::string_view instruction : {"bar.sync 0;", "bar.warp.sync -1;", "exit;"}) {
    CHECK(how(instruction) == '1');
  }
  for (const std::string_view instruction :
       {"fence.acq_rel.gpu;", "st.release.gpu.u32 [%rd1], 1;", "fence.proxy.alias;",
        "mbarrier.arrive.shared.b64 %rd1, [words];"}) {
    CHECK(how(instruction) == '0');
  }
}

TEST_CASE("unknown functions find nothing waiting, known ones are rewritten themselves") {
  const std::string head =
      ".version 7.0\n.target sm_75\n.address_size 64\n"
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
      ".func near(.param .b64 a)\n{\n.reg .b64 %rd1;\nld.param.u64 %rd1, [a];\n"
      "st.u32 [%rd1], 1;\nret;\n}\n.visible .entry k(.param .u64 a)\n{\n.reg .b64 %rd1;\n"
      "ld.param.u64 %rd1, [a];\n";
  const std::string text =
      rewrite(head +
              "{\n.param .b64 x;\nst.param.b64 [x], %rd1;\ncall near, (x);\n}\n"
              "{\n.param .b64 f;\n.param .b64 v;\n.param .b32 r;\nst.param.b64 [f], %rd1;\n"
              "st.param.b64 [v], %rd1;\ncall (r), vprintf, (f, v);\n}\nret;\n}\n")
          .text;
  const std::size_t near = text.find("call near"), far = text.find("call (r), vprintf");
  REQUIRE(near != std::string::npos);
  REQUIRE(far != std::string::npos);
  const std::size_t entry = text.find(".entry k");
  CHECK(text.find("call __barracuda_drain", entry) > near);
  CHECK(text.find("call __barracuda_drain", entry) < far);
  CHECK(text.find("__barracuda_delay, (", text.find(".func near")) < entry);
}

TEST_CASE("instructions that are not known are named") {
  const InstrumentedModule module =
      rewrite_body("st.global.u32 [%rd1], 1;\nunheard.of.u32 %r1;\nret;");
  REQUIRE(module.not_covered.size() == 1);
  CHECK(module.not_covered[0].instruction == "unheard.of.u32");
  CHECK(module.sites.empty());
  CHECK(module.text.find("__barracuda_access") == std::string::npos);
}

TEST_CASE("a kernel of nothing but returns is not rewritten") {
  const InstrumentedModule module = rewrite_body("ret;");
  CHECK(module.kernels[0].is_empty);
  CHECK(module.text.find("__barracuda_") == std::string::npos);
}

}  // namespace barracuda::ptx
