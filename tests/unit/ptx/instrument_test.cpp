#include "ptx/instrument.h"

#include <algorithm>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "base/strong_id.h"
#include "ptx/parse.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

InstrumentedModule instrument_body(std::string_view body, const InstrumentOptions& options = {}) {
  return instrument_text(kernel_text(body), options);
}

const Site& site_of(const InstrumentedModule& module, std::string_view instruction) {
  const auto found = std::ranges::find(module.sites, instruction, &Site::instruction);
  REQUIRE(found != module.sites.end());
  return *found;
}

std::size_t accesses(const InstrumentedModule& module) {
  return static_cast<std::size_t>(std::ranges::count_if(
      module.sites, [](const Site& site) { return site.info.element_bytes > 0; }));
}

constexpr std::string_view kRegisters =
    ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n";

std::string with_registers(std::string_view body) {
  return std::string(kRegisters) + std::string(body);
}

}  // namespace

TEST_CASE("the logger is parsed once, not for each module") {
  const std::string text = kernel_text(with_registers("ld.global.u32 %r1, [%rd1]; ret;"));
  instrument_text(text);
  const std::uint64_t before = parsed_modules();
  const InstrumentedModule again = instrument_text(text);
  CHECK(parsed_modules() - before == 1);  // the program's own
  CHECK(again.text.find(".func __barracuda_access") != std::string::npos);
}

TEST_CASE("of what follows states a module has the part for the memory that it accesses") {
  for (const std::string space : {".global", ".shared", ""}) {
    INFO("space '" << space << "'");
    const std::string at = space == ".shared" ? " [tile]" : " [%rd1]";
    const InstrumentedModule module = instrument_body(
        with_registers(fmt::format(".shared .align 4 .b8 tile[64]; ld{0}.u32 %r1,{1}; bar.sync 0; "
                                   "st{0}.u32{1}, %r1; red{0}.add.u32{1}, 1; ret;",
                                   space, at)));
    const auto has = [&](std::string_view function) {
      return module.text.find(fmt::format("{}(", function)) != std::string::npos;
    };
    CHECK(has("__barracuda_follow_owners") == (space != ".shared"));
    CHECK(has("__barracuda_follow_states") == (space != ".global"));
  }
}

TEST_CASE("a launch tells where the shared variables of its kernel lie, if that is asked for") {
  const auto text = [](std::string_view target, std::string_view body) {
    return fmt::format(
        ".version 8.0\n.target {}\n.address_size 64\n"
        ".shared .align 4 .b8 used[64];\n.shared .align 4 .b8 other[64];\n"
        ".extern .shared .align 16 .b8 dynamic[];\n"
        ".func helper() {{ .reg .b32 %r<2>; ld.shared.u32 %r1, [used+4]; ret; }}\n"
        ".visible .entry kernel() {{ {} .shared .align 4 .b8 tile[128]; {} }}\n"
        ".visible .entry without() {{ {} ld.global.u32 %r1, [%rd1]; ret; }}\n",
        target, kRegisters, body, kRegisters);
  };
  const std::string body =
      "st.shared.u32 [tile], %r1; st.shared.u32 [dynamic], %r1; call helper; ret;";
  const InstrumentedModule module =
      instrument_text(text("sm_80", body), {.tells_shared_places = true});
  const Site& site = module.sites.back();
  CHECK(std::ranges::count(module.sites, wire::Operation::kSharedPlace,
                           [](const Site& each) { return each.info.operation; }) == 1);
  CHECK(site.info.operation == wire::Operation::kSharedPlace);
  CHECK(index_of(site.id) + 1 == module.sites.size());
  CHECK(site.function == "kernel");
  CHECK(site.variable == "used:64 dynamic:0 tile:128");
  for (const std::string variable : {"used", "dynamic", "tile"}) {
    CHECK(count(module.text, fmt::format("mov.u32 %__barracuda_o, {};", variable)) == 1);
  }
  const std::size_t declared = module.text.find(".b8 tile[128]");
  const std::size_t last = module.text.find("mov.u32 %__barracuda_o, tile;");
  CHECK(last > declared);
  CHECK(module.text.find("mov.u32 %__barracuda_o, used;") > last);  // who has the first, has all
  CHECK(module.text.find("mov.u32 %__barracuda_o, other;") == std::string::npos);
  // By whole warps, of which none is parted.
  CHECK(count(module.text, "shr.u32 %__barracuda_l, %__barracuda_l, 5;") == 1);
  CHECK(count(module.text, "bra.uni $__barracuda_told;") == 1);
  // Addresses of blocks of clusters have their rank in them.
  constexpr std::string_view kMasked = "tile;\nand.b32 %__barracuda_o, %__barracuda_o, 16777215;";
  CHECK(module.text.find(kMasked) == std::string::npos);
  CHECK(instrument_text(text("sm_90", body), {.tells_shared_places = true}).text.find(kMasked) !=
        std::string::npos);
  const InstrumentedModule silent = instrument_text(text("sm_80", body));
  CHECK(silent.sites.size() + 1 == module.sites.size());
  CHECK(silent.text.find("mov.u32 %__barracuda_o, tile;") == std::string::npos);
}

TEST_CASE("variables of shared memory lie behind the tool's word on the emulated device") {
  const auto variable_in = [](const std::string& declarations, const std::string& code = "",
                              const InstrumentOptions& options = {.is_emulated = true}) {
    const auto module = instrument_body(
        with_registers(declarations + " mov.u32 %r1, tile; st.shared.u32 [%r1+4], %r2; " + code +
                       "ret;"),
        options);
    return site_of(module, "st.shared.u32").variable;
  };
  const std::string tile = ".shared .align 4 .b8 tile[128];";
  CHECK(variable_in(tile) == "tile@32:128");
  CHECK(variable_in(".shared .align 64 .b8 tile[64];") == "tile@64:64");
  const std::string left = ".shared .align 4 .b8 left[20]; ";
  CHECK(variable_in(left + tile, "st.shared.u8 [left], %r2;") == "tile@52:128");
  CHECK(variable_in(tile + left, "st.shared.u8 [left], %r2;") == "tile@32:128");
  CHECK(variable_in(left + tile) == "tile@32:128");  // what is not used takes no room
  // On a GPU the order is the assembler's.
  CHECK(variable_in(tile, "", {}) == "tile");
}

TEST_CASE("elements that are larger than an access are told by the index") {
  const auto variable_of = [](const std::string& index) {
    const auto module = instrument_body(
        with_registers(".shared .align 4 .b8 tile[128]; mov.u32 %r1, tile; mov.u32 %r2, %tid.x;\n" +
                       index + "\nst.shared.u32 [%r1+4], %r2; ret;"));
    return site_of(module, "st.shared.u32").variable;
  };
  CHECK(variable_of("") == "tile");
  CHECK(variable_of("shl.b32 %r3, %r2, 2; add.u32 %r1, %r1, %r3;") == "tile");
  CHECK(variable_of("shl.b32 %r3, %r2, 3; add.u32 %r1, %r1, %r3;") == "tile/8");
  CHECK(variable_of("mad.lo.s32 %r1, %r2, 12, %r1;") == "tile/12");
  CHECK(variable_of("mul.lo.s32 %r3, %r2, 12; xor.b32 %r4, %r2, 32; shl.b32 %r4, %r4, 3;\n"
                    "add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;") == "tile");
  // A row and a column.
  CHECK(variable_of("mad.lo.s32 %r1, %r2, 68, %r1; shl.b32 %r3, %r3, 2; add.u32 %r1, %r1, %r3;") ==
        "tile");
  // A counter of a loop.
  CHECK(variable_of("again: add.u32 %r1, %r1, 16; setp.ne.s32 %p1, %r1, %r2; @%p1 bra again;") ==
        "tile/16");
}

TEST_CASE("what the module has lies behind what the kernel has, and then what is dynamic") {
  const std::string code =
      ".visible .entry f(.param .u64 p)\n{\n.reg .b32 %r<5>;\n.shared .align 4 .b8 own[12];\n"
      "mov.u32 %r1, dynamic;\nst.shared.u32 [own], 1;\nst.shared.u16 [of_module], 1;\n"
      "st.shared.u8 [%r1], 1;\nCALLret;\n}\n";
  const std::string module =
      ".version 7.0\n.target sm_80\n.address_size 64\n.shared .align 4 .u32 of_module;\n"
      ".extern .shared .align 4 .b8 dynamic[];\n";
  const auto variables_of = [](const std::string& text) {
    const auto instrumented = instrument_text(text, {.is_emulated = true});
    return site_of(instrumented, "st.shared.u32").variable + " " +
           site_of(instrumented, "st.shared.u16").variable + " " +
           site_of(instrumented, "st.shared.u8").variable;
  };
  const auto with_call = [](std::string text, const std::string& call) {
    return text.replace(text.find("CALL"), 4, call);
  };
  CHECK(variables_of(module + with_call(code, "")) == "own@32:12 of_module@44:4 dynamic@48:0");
  // Behind what a function has that is called lies what is dynamic: how far, is not asked.
  const std::string callee =
      ".func g()\n{\n.shared .align 4 .b8 of_callee[12];\nst.shared.u64 [of_callee], 1;\nret;\n}\n";
  CHECK(variables_of(module + callee + with_call(code, "call.uni g, ();\n")) ==
        "own@32:12 of_module@44:4 dynamic");
}

TEST_CASE("ids are consecutive from the first") {
  const auto module = instrument_body(
      with_registers("ld.global.u32 %r1, [%rd1]; st.shared.v2.u64 [%rd2], {%rd1, %rd2}; ret;"),
      {.first_site = wire::SiteId{70}});
  REQUIRE(module.sites.size() == 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(index_of(module.sites[i].id) == 70 + i);
    CHECK(module.sites[i].in_entry);
  }
  CHECK(module.sites[1].info.element_bytes == 8);
  CHECK(module.sites[1].info.element_count == 2);
  CHECK(module.sites[2].info.operation == wire::Operation::kExit);
  CHECK(module.logged_instructions == 3);
  CHECK(module.instructions == 3);
}

TEST_CASE(".version and .target may stand more than once, and each is raised to the logger's") {
  const std::string body =
      ".address_size 64\n.visible .entry f(.param .u64 p)\n{\n.reg .b64 %a;\n"
      "ld.param.u64 %a, [p];\nst.global.u32 [%a], 1;\nret;\n}\n";
  for (const std::string head :
       {".version 6.0\n.target sm_50, debug\n.target sm_60\n",
        ".version 6.0\n.version 6.0\n.target sm_60\n.target debug\n.target sm_50\n",
        ".version 8.0\n.target sm_52\n.target sm_90\n"}) {
    CAPTURE(head);
    const auto module = instrument_text(head + body);
    const Module again = parse_module(module.text);
    CHECK(again.target_arch() >= 75);
    CHECK(std::pair(again.version_major, again.version_minor) >= std::pair(6U, 4U));
    CHECK(module.text.find("sm_5") == std::string::npos);
    CHECK(module.text.find("sm_6") == std::string::npos);
    CHECK(module.text.find(".version 6.0") == std::string::npos);
    CHECK((module.text.find("debug") != std::string::npos) ==
          (head.find("debug") != std::string::npos));
  }
}

TEST_CASE("what was instrumented is not instrumented again") {
  const auto once = instrument_body(with_registers("ld.global.u32 %r1, [%rd1]; ret;"));
  std::vector<Module> units;
  units.push_back(parse_module(once.text));
  const auto twice = instrument(std::move(units), {});
  REQUIRE(!twice);
  CHECK(twice.error().message.find("__barracuda_") != std::string::npos);
}

TEST_CASE("private memory is left alone") {
  const auto module = instrument_body(with_registers(
      "ld.local.u32 %r1, [%rd1]; st.local.u32 [%rd1], %r1; ld.const.u32 %r1, [%rd1]; ret;"));
  CHECK(accesses(module) == 0);
  CHECK(module.not_covered.empty());
}

TEST_CASE("a kernel of nothing but returns is left as it is") {
  const std::string head = ".version 7.0\n.target sm_75\n.address_size 64\n";
  const std::string empty = ".visible .entry empty(.param .u32 p)\n{\nret;\n}\n";
  const auto alone = instrument_text(head + empty);
  REQUIRE(alone.kernels.size() == 1);
  CHECK(alone.kernels[0].is_empty);
  CHECK_FALSE(alone.kernels[0].instrumented);
  CHECK(alone.kernels[0].reason.empty());
  CHECK(alone.sites.empty());
  CHECK(alone.not_covered.empty());
  CHECK(alone.text.find("__barracuda_") == std::string::npos);

  const auto beside =
      instrument_text(head + empty + ".visible .entry full()\n{\nbar.sync 0;\nret;\n}\n");
  CHECK(beside.kernels[0].is_empty);
  CHECK(beside.kernels[1].instrumented);
  CHECK(beside.text.find("empty(.param .u32 p)") != std::string::npos);
  for (const std::string_view body : {"trap;", "bar.sync 0; ret;", "$l: bra $l;", ""}) {
    INFO(body);
    CHECK(instrument_body(with_registers(body)).kernels[0].is_empty == body.empty());
  }
}

TEST_CASE("a kernel's own static shared memory ends where its dynamic part may begin") {
  const auto shared_bytes = [](std::string_view declarations, std::string_view used) {
    const std::string head = ".version 7.0\n.target sm_75\n.address_size 64\n";
    return instrument_text(head + std::string(declarations) +
                           ".visible .entry k()\n{\n.reg .b32 %r<3>;\n" + std::string(used) +
                           "bar.sync 0;\nret;\n}\n")
        .kernels[0]
        .shared_bytes;
  };
  const std::string fixed = ".shared .align 4 .b8 fixed[20];\n";
  CHECK(shared_bytes(fixed, "mov.u32 %r1, fixed;\n") == 20);
  // Compiled fast, it has what other kernels use as well.
  CHECK(shared_bytes(fixed, "") == 20);
  CHECK(shared_bytes(fixed, ".shared .align 8 .b8 inside[40];\n") == 60);
  CHECK(shared_bytes("", ".shared .align 8 .b8 inside[40];\n") == 40);
  const std::string both = "mov.u32 %r1, fixed;\nmov.u32 %r2, dynamic;\n";
  const std::string dynamic = "dynamic[];\n";
  CHECK(shared_bytes(fixed + ".extern .shared .align 4 .b8 " + dynamic, both) == 32);
  CHECK(shared_bytes(fixed + ".extern .shared .align 1024 .b8 " + dynamic, both) == 1024);
  CHECK(shared_bytes(".extern .shared .align 1024 .b8 " + dynamic, "mov.u32 %r2, dynamic;\n") == 0);
}

TEST_CASE("shared memory that is swizzled by its address stays where it was, modulo 1024") {
  const std::string head =
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".extern .shared .align 16 .b8 global_smem[];\n"
      ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
      "mov.b32 %r1, global_smem;\nst.shared.b32 [%r1], %r2;\n";
  const std::string word = ".shared .align 1024 .b8 __barracuda_block[1024];";
  for (const std::string_view swizzling :
       {"wgmma.fence.sync.aligned;\n",
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, "
        "{%r2}], [%r3];\n"}) {
    const InstrumentedModule module = instrument_text(head + std::string(swizzling) + "ret;\n}\n");
    CHECK(module.text.find(word) != std::string::npos);
    CHECK(module.kernels[0].shared_bytes == 0);
  }
  CHECK(instrument_text(head + "ret;\n}\n").text.find(word) == std::string::npos);
}

TEST_CASE("shared memory that comes first is aligned as without our words") {
  CHECK(instrument_text(".version 8.0\n.target sm_90\n.address_size 64\n"
                        ".shared .align 2 .b8 tile[768];\n"
                        ".visible .entry k()\n{\nbar.sync 0;\nret;\n}\n")
            .text.find(".shared .align 32 .b8 __barracuda_block[32];") != std::string::npos);
}

TEST_CASE("stores to the shared memory of Triton's compiler are replicated") {
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  const auto is_replicated = [&](const std::string& memory, const std::string& store) {
    const InstrumentedModule module =
        instrument_text(head + ".extern .shared .align 16 .b8 " + memory +
                        "[];\n.visible .entry k()\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" +
                        store + " [%r1], %r2;\nret;\n}\n");
    return site_of(module, store).info.is_replicated;
  };
  CHECK(is_replicated("global_smem", "st.shared.b32"));
  CHECK_FALSE(is_replicated("global_smem", "st.volatile.shared.b32"));
  CHECK_FALSE(is_replicated("tile", "st.shared.b32"));
}

TEST_CASE("strong accesses are numbered only in kernels that synchronise") {
  const std::string body = with_registers("st.relaxed.gpu.global.u32 [%rd1], %r1; ");
  CHECK_FALSE(site_of(instrument_body(body + "ret;"), "st.relaxed.gpu.global.u32").info.numbered);
  const auto with_fence = instrument_body(body + "membar.gl; ret;");
  CHECK(site_of(with_fence, "st.relaxed.gpu.global.u32").info.numbered);
  CHECK(with_fence.kernels[0].numbered);
}

TEST_CASE("an atomic of a packed type is one of each of its halves") {
  const auto shape = [](const std::string& atomic) {
    const InstrumentedModule module = instrument_text(kernel_text(
        ".reg .b32 %r<4>;\n.reg .b16 %h<4>;\n.reg .b64 %rd<3>;\n" + atomic + " ret;\n"));
    return std::pair(module.sites[0].info.element_bytes, module.sites[0].info.element_count);
  };
  using Shape = std::pair<std::uint8_t, std::uint8_t>;
  CHECK(shape("atom.global.add.noftz.f16x2 %r1, [%rd1], %r2;") == Shape{2, 2});
  CHECK(shape("red.global.add.noftz.bf16x2 [%rd1], %r2;") == Shape{2, 2});
  CHECK(shape("red.global.add.noftz.v2.f16x2 [%rd1], {%r1, %r2};") == Shape{2, 4});
  CHECK(shape("atom.global.add.noftz.f16 %h1, [%rd1], %h2;") == Shape{2, 1});
  CHECK(shape("atom.global.add.u32 %r1, [%rd1], %r2;") == Shape{4, 1});
}

TEST_CASE("a function called by a kernel that synchronises and by one that does not is numbered") {
  const std::string head = ".version 7.0\n.target sm_75\n.address_size 64\n";
  const std::string function =
      ".func f(.param .b64 p)\n{\n.reg .b32 %r<3>; .reg .b64 %rd;\nld.param.u64 %rd, [p];\n"
      "atom.add.u32 %r1, [%rd], 1;\nret;\n}\n";
  const std::string call = "{ .param .b64 p0; st.param.b64 [p0], 0; call.uni f, (p0); }\n";
  const auto module =
      instrument_text(head + function + ".visible .entry quiet()\n{\n" + call +
                      "ret;\n}\n.visible .entry loud()\n{\nmembar.gl;\n" + call + "ret;\n}\n");
  CHECK(site_of(module, "atom.add.u32").info.numbered);
  CHECK_FALSE(module.kernels[0].numbered);
  CHECK(module.kernels[1].numbered);
}

TEST_CASE("the first scalar store after a fence is a flag store") {
  const auto module = instrument_body(with_registers(
      "membar.cta; add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; st.global.u16 [%rd1], %r1;\n"
      "fence.acq_rel.sys; ld.global.u32 %r2, [%rd2]; st.global.u64 [%rd1], %rd1;\n"
      "membar.gl; st.volatile.shared.u32 [%r1], 1; membar.gl; st.global.v2.u32 [%rd1], {%r1, "
      "%r2};\n"
      "membar.gl; st.relaxed.gpu.global.u32 [%rd1], 1; ret;"));
  const Site& plain = site_of(module, "st.global.u32");
  CHECK(plain.info.flag_store);
  CHECK(plain.info.numbered);
  CHECK(plain.info.idiom_scope == wire::Scope::kCta);
  CHECK_FALSE(site_of(module, "st.global.u16").info.flag_store);
  CHECK_FALSE(site_of(module, "st.global.u64").info.flag_store);
  CHECK(site_of(module, "st.volatile.shared.u32").info.flag_store);
  CHECK(site_of(module, "st.volatile.shared.u32").info.idiom_scope == wire::Scope::kGpu);
  CHECK_FALSE(site_of(module, "st.global.v2.u32").info.flag_store);
  CHECK_FALSE(site_of(module, "st.relaxed.gpu.global.u32").info.flag_store);
}

TEST_CASE("mbarriers, cluster barriers and copies number nothing by themselves") {
  const std::string body =
      "mbarrier.init.shared.b64 [%r1], 1; fence.mbarrier_init.release.cluster;\n"
      "barrier.cluster.arrive.relaxed; barrier.cluster.wait; fence.proxy.async;\n"
      "cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.wait_all;\n"
      "mbarrier.arrive.shared.b64 _, [%r1]; mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;\n"
      "atom.global.add.u32 _, [%rd1], 1; st.global.u32 [%rd1], %r1;\n";
  const auto quiet = instrument_body(with_registers(body + "ret;"));
  CHECK_FALSE(quiet.kernels[0].numbered);
  CHECK_FALSE(site_of(quiet, "atom.global.add.u32").info.numbered);
  CHECK_FALSE(site_of(quiet, "st.global.u32").info.flag_store);
  CHECK(quiet.not_covered.empty());
  const auto loud = instrument_body(with_registers(body + "fence.acq_rel.gpu; ret;"));
  CHECK(site_of(loud, "atom.global.add.u32").info.numbered);
  for (const Site& site : loud.sites) {
    CHECK((!site.info.numbered || site.instruction == "atom.global.add.u32"));
  }
}

TEST_CASE("a store is no flag behind an asynchronous or matrix access, nor are these flags") {
  for (const std::string_view between :
       {"cp.async.ca.shared.global [%r1], [%rd1], 4;", "mbarrier.arrive.shared.b64 _, [%r1];",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};",
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;"}) {
    INFO(between);
    const auto module = instrument_body(
        with_registers("membar.gl; " + std::string(between) + " st.global.u32 [%rd1], %r1; ret;"));
    for (const Site& site : module.sites) {
      CHECK_FALSE(site.info.flag_store);
    }
  }
  const auto between_groups = instrument_body(with_registers(
      "membar.gl; cp.async.commit_group; barrier.cluster.arrive; st.global.u32 [%rd1], %r1; ret;"));
  CHECK(site_of(between_groups, "st.global.u32").info.flag_store);
}

TEST_CASE("a logged access stands for none behind a barrier, a wait, a commit or a copy") {
  for (const std::string_view between :
       {"barrier.cluster.arrive;", "barrier.cluster.wait;", "fence.proxy.async;",
        "mbarrier.init.shared.b64 [%r1], 1;", "mbarrier.arrive.shared.b64 _, [%r1];",
        "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0;", "cp.async.commit_group;",
        "cp.async.wait_group 0;", "cp.async.bulk.wait_group.read 0;",
        "cp.async.ca.shared.global [%r1], [%rd1], 4;", "cp.async.mbarrier.arrive.shared.b64 [%r1];",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];"}) {
    INFO(between);
    const auto module = instrument_body(with_registers(
        "ld.global.u32 %r3, [%rd1]; " + std::string(between) + " ld.global.u32 %r4, [%rd1]; ret;"));
    CHECK(std::ranges::count(module.sites, "ld.global.u32", &Site::instruction) == 2);
  }
  // Nor does an asynchronous or matrix access stand for one.
  const auto module = instrument_body(with_registers(
      "cp.async.ca.shared.global [%r1], [%rd1], 4; ld.global.u32 %r3, [%rd1];\n"
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r1], {%r2,%r3,%r4,%r5}; ld.shared.u32 %r4, [%r1];"
      " ret;"));
  CHECK(std::ranges::count(module.sites, "ld.global.u32", &Site::instruction) == 1);
  CHECK(std::ranges::count(module.sites, "ld.shared.u32", &Site::instruction) == 1);
}

TEST_CASE("a load whose value controls a branch that leads to a fence is a poll") {
  const auto module = instrument_body(with_registers(
      "ld.global.u32 %r1, [%rd1]; and.b32 %r2, %r1, 1; setp.ne.s32 %p1, %r2, 0; @%p1 bra $done;\n"
      "$again: ld.volatile.global.u32 %r3, [%rd1]; nanosleep.u32 20; setp.eq.s32 %p2, %r3, 0;\n"
      "@%p2 bra $again;\n$done: membar.gl; ld.global.u16 %r4, [%rd2]; ret;"));
  CHECK(site_of(module, "ld.global.u32").info.poll);
  CHECK(site_of(module, "ld.global.u32").info.numbered);
  CHECK(site_of(module, "ld.volatile.global.u32").info.poll);
  CHECK(site_of(module, "ld.volatile.global.u32").info.idiom_scope == wire::Scope::kGpu);
  CHECK_FALSE(site_of(module, "ld.global.u16").info.poll);
}

TEST_CASE(
    "a load is no poll if its value was overwritten, or another access comes before the fence") {
  const auto overwritten = instrument_body(with_registers(
      "$again: ld.global.u32 %r1, [%rd1]; mov.u32 %r1, %r2; setp.ne.s32 %p1, %r1, 0;\n"
      "@%p1 bra $again; membar.gl; ret;"));
  CHECK_FALSE(site_of(overwritten, "ld.global.u32").info.poll);
  const auto late = instrument_body(with_registers(
      "$again: ld.global.u32 %r1, [%rd1]; setp.ne.s32 %p1, %r1, 0; @%p1 bra $again;\n"
      "ld.global.u16 %r2, [%rd2]; membar.gl; ret;"));
  CHECK_FALSE(site_of(late, "ld.global.u32").info.poll);
}

TEST_CASE("a store of a register that only ever holds a constant stores a constant") {
  const auto module = instrument_body(with_registers(
      "mov.u32 %r1, 7; mov.f32 %f1, 0f40000000; mov.u32 %r2, 1; add.u32 %r2, %r2, 1;\n"
      "st.global.u32 [%rd1], %r1; st.global.f32 [%rd1+4], %f1; st.global.u16 [%rd1+8], -1;\n"
      "st.global.s32 [%rd1+12], %r2; ret;"));
  CHECK(site_of(module, "st.global.u32").info.constant == 7);
  CHECK(site_of(module, "st.global.f32").info.constant == 0x40000000);
  CHECK(site_of(module, "st.global.u16").info.constant == 0xFFFF);
  CHECK(site_of(module, "st.global.u16").info.stores_constant);
  CHECK_FALSE(site_of(module, "st.global.s32").info.stores_constant);
}

TEST_CASE("within a block a logged write stands for later plain accesses, a read for reads") {
  const auto count = [](std::string_view body, bool reduces = true) {
    return accesses(instrument_body(with_registers(body), {.reduce_in_block = reduces}));
  };
  constexpr std::string_view kTwice =
      "ld.global.u32 %r1, [%rd1+4]; ld.global.u32 %r2, [%rd1+4]; ret;";
  CHECK(count(kTwice) == 1);
  CHECK(count(kTwice, false) == 2);
  CHECK(count("ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1; ret;") == 2);
  CHECK(count("st.global.u32 [%rd1], %r1; ld.global.u32 %r1, [%rd1]; st.global.u16 [%rd1+2], %r1; "
              "ret;") == 1);
  CHECK(count("ld.global.u64 %rd2, [%rd1]; ld.global.u32 %r2, [%rd1+4]; ld.global.u32 %r2, "
              "[%rd1+6]; ret;") == 2);
  CHECK(count("ld.global.u32 %r1, [%rd1]; bar.sync 0; ld.global.u32 %r2, [%rd1]; ret;") == 2);
  CHECK(count("ld.global.u32 %r1, [%rd1]; membar.cta; ld.global.u32 %r2, [%rd1]; ret;") == 2);
  CHECK(
      count("ld.global.u32 %r1, [%rd1]; add.s64 %rd1, %rd1, 4; ld.global.u32 %r2, [%rd1]; ret;") ==
      2);
  CHECK(count("ld.global.u64 %rd1, [%rd1]; ld.global.u64 %rd2, [%rd1]; ret;") == 2);
  CHECK(count("ld.global.u32 %r1, [%rd1]; $l: ld.global.u32 %r2, [%rd1]; ret;") == 2);
  CHECK(count("ld.volatile.global.u32 %r1, [%rd1]; ld.volatile.global.u32 %r2, [%rd1]; ret;") == 2);
  CHECK(count("st.global.u32 [%rd1], 1; ld.volatile.global.u32 %r2, [%rd1]; ld.global.u32 %r1, "
              "[%rd1]; ret;") == 3);
  CHECK(count("@%p1 ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd1]; ret;") == 2);
  CHECK(count("ld.global.u32 %r1, [%rd1]; @%p1 ld.global.u32 %r2, [%rd1]; ret;") == 1);
  CHECK(count("ld.global.u32 %r1, [%rd1]; ld.global.nc.u32 %r2, [%rd1]; ret;") == 2);
  CHECK(count("ld.global.u32 %r1, [%rd1]; { .reg .b64 %rd1; ld.global.u32 %r2, [%rd1]; } ret;") ==
        2);
}

TEST_CASE("texels are logged on the emulated device, and named on a GPU") {
  const std::string body = with_registers(
      "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];\n"
      "sust.b.2d.v2.b32.trap [%rd2, {%r1, %r2}], {%r3, %r4};\nret;");
  const auto module = instrument_body(body, {.is_emulated = true});
  CHECK(module.not_covered.empty());
  std::vector<std::uint32_t> bytes;
  for (const Site& site : module.sites) {
    if (site.instruction.starts_with("tex")) {
      CHECK(site.info.operation == wire::Operation::kRead);
      CHECK(site.info.proxy == wire::Proxy::kReadOnly);
      bytes.push_back(site.info.element_bytes);
    }
  }
  CHECK(bytes == std::vector<std::uint32_t>{1, 2, 4, 8, 16});
  const Site& store = site_of(module, "sust.b.2d.v2.b32.trap");
  CHECK(store.info.operation == wire::Operation::kWrite);
  CHECK(store.info.proxy == wire::Proxy::kSurface);
  CHECK(store.info.element_bytes == 8);
  CHECK(module.text.find(".extern .func __barracuda_texels") != std::string::npos);
  const auto on_gpu = instrument_body(body);
  REQUIRE(on_gpu.not_covered.size() == 2);
  CHECK(on_gpu.not_covered[0].instruction == "tex.2d.v4.f32.f32");
  CHECK(on_gpu.text.find("__barracuda_texels") == std::string::npos);
  const auto cube = instrument_body(
      with_registers("tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6, %f7, %f7}];"
                     "\nret;"),
      {.is_emulated = true});
  CHECK(cube.not_covered.size() == 1);
}

TEST_CASE("instructions that touch memory and are not logged are named, with their line") {
  const auto module = instrument_body(
      with_registers("multimem.st.global.u32 [%rd1], %r1;\nfrobnicate.u32 %r1, [%rd1];\nret;"));
  REQUIRE(module.not_covered.size() == 2);
  CHECK(module.not_covered[0].instruction == "multimem.st.global.u32");
  CHECK(module.not_covered[0].reason.find("multicast") != std::string::npos);
  CHECK(module.not_covered[0].ptx_line > 0);
  CHECK(module.not_covered[1].instruction == "frobnicate.u32");
  CHECK(module.not_covered[1].ptx_line == module.not_covered[0].ptx_line + 1);
}

TEST_CASE("what is known and not logged says why") {
  for (const auto& [instruction, reason] :
       {std::pair("multimem.ld_reduce.weak.global.add.u32 %r1, [%rd1];", "multicast address"),
        std::pair("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                  ".b128 [%r1], [%r2];",
                  "another takes their work"),
        std::pair("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                  ".multicast::cluster::all.b128 [%r1], [%r2];",
                  "all blocks of a cluster"),
        std::pair("ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%r1, %r2}, [%r3];",
                  "matrix loads and stores of this form"),
        std::pair("stmatrix.sync.aligned.m16n8.x1.shared.b8 [%r3], {%r1};",
                  "matrix loads and stores of this form")}) {
    CAPTURE(instruction);
    const auto module = instrument_body(with_registers(std::string(instruction) + "\nret;"));
    REQUIRE(module.not_covered.size() == 1);
    CHECK(module.not_covered[0].reason.find(reason) != std::string::npos);
    CHECK(std::string_view(instruction).starts_with(module.not_covered[0].instruction));
  }
}

}  // namespace barracuda::ptx
