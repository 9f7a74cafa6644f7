#include "ptx/edit_order.h"

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx/opcode.h"
#include "ptx/print.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

using enum wire::MemoryOrder;
using enum wire::Scope;
using Fit = EditOutcome::Fit;

std::string text_for(const std::string& target, const std::string& body) {
  return ".version 8.0\n.target " + target +
         "\n.address_size 64\n.func (.param .b32 r) g(.param .b64 a);\n.entry kernel()\n{\n"
         ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n" +
         body + "\n}\n";
}

OrderEdit at(std::uint32_t ordinal, OrderChange change) {
  return {.at = {.function = "kernel", .ordinal = ordinal}, .change = change};
}

struct Edited {
  std::vector<EditOutcome> outcomes;
  std::string body;  // what is printed between the declarations and the last brace
};

Edited edit(const std::string& body, const std::vector<OrderEdit>& edits,
            const std::string& target = "sm_90") {
  Module module = parse_module(text_for(target, body));
  Edited edited{.outcomes = apply_edits(module, edits), .body = print(module)};
  CHECK(module.is_valid());
  // What was changed in place is what a parser makes of the text.
  const Module again = parse_module(edited.body);
  CHECK(equal(module, again));
  REQUIRE(module.statements.size() == again.statements.size());
  for (std::size_t i = 0; i < again.statements.size(); ++i) {
    CHECK(module.statements[i].instruction.opcode == again.statements[i].instruction.opcode);
    CHECK(module.statements[i].instruction.modifiers == again.statements[i].instruction.modifiers);
    CHECK(module.statements[i].instruction.mnemonic == again.statements[i].instruction.mnemonic);
  }
  constexpr std::string_view kLastDeclaration = ".reg .b64 %rd<9>;\n";
  edited.body.erase(0, edited.body.find(kLastDeclaration) + kLastDeclaration.size());
  edited.body.erase(edited.body.rfind('}'));
  std::erase(edited.body, '\t');
  return edited;
}

// One edit of the first instruction.
std::string changed(const std::string& statement, OrderChange change,
                    const std::string& target = "sm_90") {
  const Edited edited = edit(statement + "\nret;", {at(1, change)}, target);
  const EditOutcome& outcome = edited.outcomes.at(0);
  CHECK(outcome.reason.empty() == (outcome.fit == Fit::kApplied));
  return outcome.fit == Fit::kApplied ? edited.body.substr(0, edited.body.rfind("ret;"))
                                      : outcome.reason;
}

InsertFence after(Fence fence) {
  return {.fence = fence, .is_before = false};
}

}  // namespace

TEST_CASE("fences stand after and before the statements that are named, as they were counted") {
  const Edited edited =
      edit("st.global.u32 [%rd1], %r1;\n@%p1 st.global.u32 [%rd2], %r1;\nL:\nret;",
           {at(2, after({.order = kAcqRel, .scope = kCta})), at(1, after({})),
            at(3, InsertFence{.fence = {.order = kSeqCst, .scope = kSys}, .is_before = true})});
  CHECK(edited.body ==
        "st.global.u32 [%rd1], %r1;\nfence.sc.gpu;\n@%p1 st.global.u32 [%rd2], %r1;\n"
        "fence.acq_rel.cta;\nL:\nfence.sc.sys;\nret;\n");
  CHECK(edited.outcomes == std::vector<EditOutcome>(3));
}

TEST_CASE("an older target has membar, and no clusters") {
  const std::string store = "st.global.u32 [%rd1], %r1;";
  const auto fence = [&](wire::Scope scope, const std::string& target) {
    return changed(store, after({.order = kAcqRel, .scope = scope}), target).substr(store.size());
  };
  CHECK(fence(kCta, "sm_60") == "\nmembar.cta;\n");
  CHECK(fence(kCluster, "sm_60") == "\nmembar.gl;\n");
  CHECK(fence(kGpu, "sm_60") == "\nmembar.gl;\n");
  CHECK(fence(kSys, "sm_60") == "\nmembar.sys;\n");
  CHECK(fence(kCluster, "sm_75") == "\nfence.acq_rel.gpu;\n");
  CHECK(fence(kCluster, "sm_90") == "\nfence.acq_rel.cluster;\n");
}

TEST_CASE("nothing is put in after the end of a path") {
  CHECK(changed("ret;", after({})) == "nothing comes after that statement");
  CHECK(changed("L: bra L;", after({})) == "nothing comes after that statement");
  CHECK(changed("@%p1 bra L; L:", after({})) == "@%p1 bra L;\nfence.sc.gpu;\nL:\n");
  CHECK(changed("ret;", InsertFence{.fence = {}, .is_before = true}) == "fence.sc.gpu;\nret;\n");
}

TEST_CASE("a fence does not come between a call and its parameters") {
  const std::string call =
      "{ .param .b64 a; .param .b32 r; st.param.b64 [a], %rd1; call (r), g, (a);\n"
      "ld.param.b32 %r1, [r]; }";
  const std::string printed =
      "{\n.param .b64 a;\n.param .b32 r;\nst.param.b64 [a], %rd1;\ncall (r), g, (a);\n"
      "ld.param.b32 %r1, [r];\n}\n";
  for (const std::uint32_t ordinal : {1U, 2U, 3U}) {
    CHECK(edit(call + "ret;", {at(ordinal, after({}))}).body == printed + "fence.sc.gpu;\nret;\n");
    CHECK(edit(call + "ret;", {at(ordinal, InsertFence{.fence = {}, .is_before = true})}).body ==
          "fence.sc.gpu;\n" + printed + "ret;\n");
  }
}

TEST_CASE("fences are taken out and replaced, and nothing else is") {
  CHECK(changed("fence.acq_rel.gpu;", RemoveFence{}).empty());
  CHECK(changed("@%p1 membar.gl;", RemoveFence{}).empty());
  CHECK(changed("bar.sync 0;", RemoveFence{}) == "that statement is no fence");
  CHECK(changed("fence.proxy.async;", RemoveFence{}) == "that statement is no fence");
  CHECK(changed("@!%p1 membar.gl;", ReplaceFence{.fence = {.order = kAcqRel, .scope = kCta}}) ==
        "@!%p1 fence.acq_rel.cta;\n");
  CHECK(changed("st.global.u32 [%rd1], %r1;", ReplaceFence{.fence = {}}) ==
        "that statement is no fence");
}

TEST_CASE("the scope of fences and strong accesses is changed") {
  CHECK(changed("fence.acq_rel.cta;", ChangeScope{.scope = kGpu}) == "fence.acq_rel.gpu;\n");
  CHECK(changed("membar.cta;", ChangeScope{.scope = kSys}) == "fence.sc.sys;\n");
  CHECK(changed("membar.cta;", ChangeScope{.scope = kGpu}, "sm_60") == "membar.gl;\n");
  CHECK(changed("atom.global.add.u32 %r1, [%rd1], 1;", ChangeScope{.scope = kSys}) ==
        "atom.relaxed.sys.global.add.u32 %r1, [%rd1], 1;\n");
  CHECK(changed("atom.global.cta.add.u32 %r1, [%rd1], 1;", ChangeScope{.scope = kGpu}, "sm_60") ==
        "atom.gpu.global.add.u32 %r1, [%rd1], 1;\n");
  CHECK(changed("ld.acquire.cta.global.u32 %r1, [%rd1];", ChangeScope{.scope = kCluster}) ==
        "ld.acquire.cluster.global.u32 %r1, [%rd1];\n");
  CHECK(changed("ld.global.u32 %r1, [%rd1];", ChangeScope{}) == "that statement has no scope");
  CHECK(changed("ld.volatile.global.u32 %r1, [%rd1];", ChangeScope{}) ==
        "that statement has no scope");
}

TEST_CASE("the order of accesses is changed, and what only weak ones have goes") {
  const ChangeOrder acquire{.order = kAcquire, .scope = kGpu};
  const ChangeOrder weak{.order = kWeak, .scope = kGpu};
  CHECK(changed("@%p2 ld.global.cg.v2.u32 {%r1, %r2}, [%rd1+8];", acquire) ==
        "@%p2 ld.acquire.gpu.global.v2.u32 {%r1, %r2}, [%rd1+8];\n");
  CHECK(changed("ld.volatile.shared.u32 %r1, [%r2];", acquire) ==
        "ld.acquire.gpu.shared.u32 %r1, [%r2];\n");
  CHECK(changed("ld.global.nc.u32 %r1, [%rd1];", acquire) ==
        "ld.acquire.gpu.global.u32 %r1, [%rd1];\n");
  CHECK(changed("ld.global.nc.L1::no_allocate.u32 %r1, [%rd1];", weak) ==
        "ld.global.L1::no_allocate.u32 %r1, [%rd1];\n");
  CHECK(changed("st.relaxed.sys.u32 [%rd1], %r1;", weak) == "st.u32 [%rd1], %r1;\n");
  CHECK(changed("st.global.wt.u32 [%rd1], %r1;", ChangeOrder{.order = kRelease, .scope = kCta}) ==
        "st.release.cta.global.u32 [%rd1], %r1;\n");
  CHECK(changed("st.global.u32 [%rd1], %r1;", ChangeOrder{.order = kVolatile, .scope = kCta}) ==
        "st.volatile.global.u32 [%rd1], %r1;\n");
  CHECK(changed("atom.global.cas.b32 %r1, [%rd1], 0, 1;", acquire) ==
        "atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 0, 1;\n");
  CHECK(changed("red.global.add.u32 [%rd1], 1;", ChangeOrder{.order = kRelease, .scope = kSys}) ==
        "red.release.sys.global.add.u32 [%rd1], 1;\n");
}

TEST_CASE("an order that PTX does not have is refused with a reason") {
  const ChangeOrder acquire{.order = kAcquire, .scope = kGpu};
  CHECK(changed("st.global.u32 [%rd1], %r1;", acquire) == "such an access cannot be acquire");
  CHECK(changed("red.global.add.u32 [%rd1], 1;", acquire) == "such an access cannot be acquire");
  CHECK(changed("atom.global.add.u32 %r1, [%rd1], 1;", ChangeOrder{.order = kWeak}) ==
        "such an access cannot be weak");
  CHECK(changed("ld.local.u32 %r1, [%rd1];", acquire) ==
        "that statement is no load, store or atomic of memory that other threads see");
  CHECK(changed("ld.global.u32 %r1, [%rd1];", acquire, "sm_60") ==
        "it takes a program that is compiled for sm_70 or later");
}

TEST_CASE("what does not fit is said, and the rest is applied") {
  const Edited edited = edit("st.global.u32 [%rd1], %r1;\nret;",
                             {at(3, after({})),
                              {.at = {.function = "nobody", .ordinal = 1}, .change = after({})},
                              {.at = {.function = "g", .ordinal = 1}, .change = after({})},
                              at(1, after({}))});
  CHECK(edited.body == "st.global.u32 [%rd1], %r1;\nfence.sc.gpu;\nret;\n");
  CHECK(edited.outcomes[0].fit == Fit::kNoStatement);
  CHECK(edited.outcomes[1].fit == Fit::kNoFunction);
  CHECK(edited.outcomes[2].fit == Fit::kNoFunction);  // declared only
  CHECK(edited.outcomes[3].fit == Fit::kApplied);
}

TEST_CASE("an inserted fence is instrumented like one of the program's") {
  Module module = parse_kernel(
      ".reg .b32 %r<9>; .reg .b64 %rd<9>;\nst.global.u32 [%rd1], %r1;\n"
      "st.volatile.global.u32 [%rd1+4], %r1; ret;");
  const OrderEdit edit = at(1, after({}));
  REQUIRE(apply_edits(module, {&edit, 1}).front().fit == Fit::kApplied);
  std::vector<Module> units;
  units.push_back(std::move(module));
  const auto instrumented = instrument(std::move(units), {});
  REQUIRE(instrumented);
  REQUIRE(instrumented->sites.size() >= 3);
  CHECK(instrumented->sites[1].info.operation == wire::Operation::kFence);
  CHECK(instrumented->sites[1].info.scope == kGpu);
  CHECK(instrumented->sites[2].info.flag_store);
}

TEST_CASE("barriers and waits are put in next to a statement") {
  const auto put = [](SyncKind kind, bool is_before, const std::string& target = "sm_90") {
    return changed("st.global.u32 [%rd1], %r1;", InsertSync{.kind = kind, .is_before = is_before},
                   target);
  };
  const std::string store = "st.global.u32 [%rd1], %r1;\n";
  CHECK(put(SyncKind::kWarpBarrier, true) == "bar.warp.sync -1;\n" + store);
  CHECK(put(SyncKind::kBlockBarrier, false) == store + "bar.sync 0;\n");
  CHECK(put(SyncKind::kClusterBarrier, true) ==
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n" + store);
  CHECK(put(SyncKind::kCopies, true, "sm_80") == "cp.async.wait_all;\n" + store);
  CHECK(put(SyncKind::kCopies, true, "sm_75") ==
        "the program is compiled for a GPU that has no such instruction");
  CHECK(put(SyncKind::kEarlierGrid, true, "sm_80") ==
        "the program is compiled for a GPU that has no such instruction");
}

TEST_CASE("what was put in has no line, so that names count what was parsed") {
  Module module = parse_module(text_for("sm_90", "st.global.u32 [%rd1], %r1;\nret;"));
  const std::vector<OrderEdit> edits = {
      at(1, InsertFence{.fence = {}, .is_before = true}),
      at(1, InsertSync{.kind = SyncKind::kBlockBarrier, .is_before = false})};
  apply_edits(module, edits);
  std::size_t added = 0;
  for (const Statement& statement : module.statements) {
    const bool is_instruction = statement.kind == StatementKind::kInstruction;
    added += is_instruction && statement.position.line == 0 ? 1 : 0;
  }
  CHECK(added == 2);
}

}  // namespace barracuda::ptx
