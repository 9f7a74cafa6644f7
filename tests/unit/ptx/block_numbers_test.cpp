// What a launch may choose of the places of a program's blocks and warps, by what its kernels read.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx/parse.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

constexpr InstrumentOptions kStressed{.is_stressed = true, .permutes_warps = true};

InstrumentedModule rewrite_text(std::string text, const InstrumentOptions& options) {
  std::vector<Module> units;
  units.push_back(parse_module(std::move(text)));
  auto rewritten = instrument(std::move(units), options);
  INFO((rewritten ? "" : rewritten.error().to_string()));
  REQUIRE(rewritten);
  return std::move(*rewritten);
}

InstrumentedModule rewrite_body(std::string_view body,
                                const InstrumentOptions& options = kStressed) {
  return rewrite_text(kernel_text(".reg .b32 %r<9>; .reg .b64 %rd<9>;\n" + std::string(body) +
                                  "\nst.global.u32 [%rd1], %r1;"),
                      options);
}

Kernel facts_of(std::string_view body) {
  return rewrite_body(body).kernels.at(0);
}

}  // namespace

TEST_CASE("every coordinate of a place is read from the launch, and nothing else is") {
  const std::string text = rewrite_body(
                               "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %nctaid.y;\n"
                               "mov.u32 %r3, %clusterid.z;\nmov.u32 %r4, %nclusterid.x;\n"
                               "mov.u32 %r5, %tid.y;\nmov.u32 %r6, %ntid.x;\n"
                               "mov.u32 %r7, %cluster_ctaid.x;")
                               .text;
  const std::string kernel = text.substr(text.find(".entry"));
  for (const std::string_view gone :
       {"%ctaid.", "%nctaid.", "%clusterid.", "%nclusterid.", "%tid."}) {
    INFO(gone);
    CHECK(count(kernel, gone) == 0);
  }
  CHECK(count(kernel, "%ntid.x") == 1);
  CHECK(count(kernel, "%cluster_ctaid.x") == 1);
}

TEST_CASE("the kernel asks first whether its block is one of the program's") {
  const std::string text = rewrite_body("mov.u32 %r1, %ctaid.x;").text;
  const std::size_t entry = text.find(".entry"), asks = text.find("__barracuda_disturb", entry);
  CHECK(text.find("st.shared.v2.b64 [__barracuda_block]", entry) < asks);
  CHECK(asks < text.find("__barracuda_ctaid", entry));
  CHECK(rewrite_body("mov.u32 %r1, %ctaid.x;", {.delays_stores = true})
            .text.find("__barracuda_disturb") == std::string::npos);
}

TEST_CASE("what a kernel reads decides what a launch may choose") {
  struct Case {
    std::string_view body;
    bool numbers, resizes;
    std::uint32_t warps;
  };

  const std::vector<Case> cases = {
      {"mov.u32 %r1, %ctaid.x;", true, true, 1},
      {"mov.u32 %r1, 5;", true, true, 1},
      {"mov.v4.u32 {%r1, %r2, %r3, %r4}, %ctaid;", false, false, 1},
      {"mov.v4.u32 {%r1, %r2, %r3, %r4}, %nctaid;", true, false, 1},
      {"mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid;", true, true, 0},
      {"mov.u32 %r1, %nsmid;", true, false, 1},
      {"mov.u32 %r1, %smid;", true, false, 1},
      {"mov.u32 %r1, %warpid;", true, true, 0},
      {"setmaxnreg.inc.sync.aligned.u32 240;", true, true, 4},
      {"wgmma.fence.sync.aligned;", true, true, 4},
  };
  for (const Case& each : cases) {
    INFO(each.body);
    const Kernel kernel = facts_of(each.body);
    CHECK(kernel.renumbers_blocks == each.numbers);
    CHECK(kernel.resizes_grid == each.resizes);
    CHECK(kernel.warps_together == each.warps);
  }
}

TEST_CASE("a kernel may no more than what it calls") {
  const std::string text =
      ".version 7.8\n.target sm_90\n.address_size 64\n"
      ".func (.param .b32 out) whole() {\n.reg .b32 %r<5>;\n"
      "mov.v4.u32 {%r1, %r2, %r3, %r4}, %ctaid;\nst.param.b32 [out], %r1;\nret;\n}\n"
      ".visible .entry calls(.param .u64 a) {\n.reg .b32 %r<5>; .reg .b64 %rd<5>;\n"
      "ld.param.u64 %rd1, [a];\n{ .param .b32 r;\ncall (r), whole, ();\n"
      "ld.param.b32 %r1, [r]; }\nst.global.u32 [%rd1], %r1;\nret;\n}\n"
      ".visible .entry alone(.param .u64 a) {\n.reg .b32 %r<5>; .reg .b64 %rd<5>;\n"
      "ld.param.u64 %rd1, [a];\nmov.u32 %r1, %ctaid.x;\nst.global.u32 [%rd1], %r1;\nret;\n}\n";
  for (const bool stressed : {true, false}) {
    const InstrumentedModule module =
        rewrite_text(text, stressed ? kStressed : InstrumentOptions{.renumbers_blocks = true});
    for (const Kernel& kernel : module.kernels) {
      INFO(kernel.name);
      CHECK(kernel.renumbers_blocks == (kernel.name == "alone"));
      CHECK(kernel.resizes_grid == (stressed && kernel.name == "alone"));
    }
  }
}

TEST_CASE("logged code lets a launch choose block numbers alone") {
  const InstrumentedModule module =
      rewrite_body("mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %nctaid.x;\nmov.u32 %r3, %tid.x;",
                   {.renumbers_blocks = true});
  const std::string kernel = module.text.substr(module.text.find(".entry"));
  CHECK(count(kernel, "%ctaid.") == 0);
  CHECK(count(kernel, "%nctaid.x") == 1);
  CHECK(count(kernel, "%tid.x") == 1);
  CHECK(module.kernels.at(0).renumbers_blocks);
  CHECK_FALSE(module.kernels.at(0).resizes_grid);
  // The logger does not know of other clusters.
  CHECK_FALSE(rewrite_body("mov.u32 %r1, %clusterid.x;", {.renumbers_blocks = true})
                  .kernels.at(0)
                  .renumbers_blocks);
}

}  // namespace barracuda::ptx
