// `barracuda explore`, as a user has it.
#include <algorithm>
#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "base/file.h"
#include "tests/unit/cli/shell.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::cli {
namespace {

const std::string kCommand = BARRACUDA_COMMAND;
const std::string kLitmus = BARRACUDA_SOURCE_DIR "/tests/litmus/";

TEST_CASE("explore says what a model allows, with a witness") {
  const ShellResult found = shell(kCommand + " explore " + kLitmus + "ptx/lb_relaxed.litmus");
  CHECK(found.status == 0);
  CHECK(found.output.find("* P0:r1=1 P1:r1=1\n") != std::string::npos);
  CHECK(found.output.find("reachable\n  witness:\n") != std::string::npos);
  CHECK(
      found.output.ends_with("BARRACUDA SUMMARY: 1 test, condition holds, exploration complete\n"));
}

TEST_CASE("explore compares models") {
  const ShellResult found = shell(kCommand + " explore --compare weak,strong,ptx " + kLitmus +
                                  "thesis/both_fences.litmus");
  CHECK(found.status == 0);
  CHECK(found.output.find("  weak allows and strong does not: P1:r1=1 P2:r2=1 P2:r3=0\n") !=
        std::string::npos);
}

TEST_CASE(
    "explore: 66 for a verdict that is not the expected one, 67 for a bound, 64 for bad input") {
  const std::string spin = kLitmus + "ptx/mp_spin.litmus";
  CHECK(shell(kCommand + " explore --expect 0 " + spin).status == 0);
  CHECK(shell(kCommand + " explore --expect 1 " + spin).status == 66);
  CHECK(shell(kCommand + " explore --memory-model weak --states 5 " + kLitmus +
              "thesis/iriw_block.litmus")
            .status == 67);
  const ShellResult refused = shell(kCommand + " explore --memory-model weak " + spin);
  CHECK(refused.status == 64);
  CHECK(refused.errors.find("mp_spin.litmus:7: model weak has no") != std::string::npos);
  CHECK(shell(kCommand + " explore --memory-model tso " + spin).errors ==
        "barracuda: there is no model 'tso'; there are sc, weak, strong, device, ptx-6.0, ptx-7.5, "
        "and ptx, the newest\n");
  CHECK(shell(kCommand + " explore /does/not/exist.litmus").status == 64);
}

TEST_CASE("explore says whether a program always ends") {
  const std::string plain = kLitmus + "device/l10_plain_store_may_starve.litmus";
  const ShellResult found = shell(kCommand + " explore --progress " + plain);
  CHECK(found.status == 0);
  CHECK(found.output.find("  always ends: no, it may go on for ever\n") != std::string::npos);
  CHECK(found.output.find("    P1 goes round for ever, and reads y=0\n") != std::string::npos);
  const std::string strong = kLitmus + "device/l10_strong_store_is_seen.litmus";
  CHECK(shell(kCommand + " explore --progress --expect 1 " + strong).status == 0);
  CHECK(shell(kCommand + " explore --progress --expect 1 " + plain).status == 66);
  const ShellResult refused = shell(kCommand + " explore --progress --memory-model sc " + plain);
  CHECK(refused.status == 64);
  CHECK(refused.errors ==
        "barracuda: whether a program always ends is not asked of model sc; with "
        "--progress ask ptx-6.0 or ptx-7.5\n");
}

TEST_CASE("explore's flags for models with states") {
  const std::string magma = kLitmus + "thesis/magma_reduction.litmus";
  for (const std::string flag : {"--symmetry", "--shortest", "--exact", "--lockstep"}) {
    CHECK(
        shell(kCommand + " explore --memory-model weak --expect 1 " + flag + " " + magma).status ==
        0);
  }
  const ShellResult refused =
      shell(kCommand + " explore --lockstep --memory-model device " + magma);
  CHECK(refused.status == 64);
  CHECK(refused.errors ==
        "barracuda: model device has no lock step; with --lockstep ask sc, weak or strong\n");
}

// Bad input: one sentence that says what to do.
TEST_CASE("explore answers bad input with one sentence and status 64") {
  const ScratchFolder folder;
  const auto answer = [&](const std::string& text, const std::string& flags) {
    REQUIRE(write_file(folder / "t.litmus", text).has_value());
    const ShellResult found = shell(kCommand + " explore " + flags + " " + (folder / "t.litmus"));
    CHECK(found.status == 64);
    CHECK(found.errors.starts_with("barracuda: "));
    CHECK(std::ranges::count(found.errors, '\n') == 1);
    return found.errors;
  };
  const auto with_row = [](const std::string& row, const std::string& condition) {
    return "PTX t\n{ x=0; }\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n " + row + " ;\n" + condition;
  };
  const std::string good = with_row("st.weak x, 1 | ld.weak r1, x", "exists (P1:r1 == 1)\n");
  const auto has = [](const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  has(answer("", ""), "the file is empty");
  has(answer(with_row("st.strange x, 1 | ", "exists (x == 1)\n"), ""), "t.litmus:4: ");
  has(answer(with_row("st.weak x, r1 | ", "exists (x == 1)\n"), ""),
      "t.litmus:4: register 'r1' is read before it is set");
  has(answer(with_row("st.weak y, 1 | ", "exists (x == 1)\n"), ""),
      "t.litmus:4: there is no location 'y'");
  has(answer(with_row("st.weak x, 1 | ", "exists (y == 1)\n"), ""),
      "t.litmus:5: there is no location 'y'");
  has(answer("PTX t\n{ x=0; }\n P0@cta 0,gpu 0 | P0@cta 1,gpu 0 ;\nexists (x == 1)\n", ""),
      "two threads are named 'P0'");
  has(answer(with_row("st.weak x, 1 | ", "exists (x == 1\n"), ""),
      "a bracket of the condition is not closed");
  has(answer(with_row("bar.cta.sync 0 | bar.cta.sync 0", "exists (x == 0)\n"),
             "--memory-model weak"),
      "t.litmus:4: model weak has no 'bar.cta.sync 0'");
  std::string threads = "PTX t\n{ x=0; }\n P0";
  for (int i = 1; i < 65; ++i) {
    threads += " | P" + std::to_string(i);
  }
  has(answer(threads + " ;\nexists (x == 1)\n", ""), "65 threads; at most 16");
  has(answer(std::string(std::size_t{100} << 20, 'x'), ""), "too long");
  has(answer(good, "--memory-model tso"), "there is no model 'tso'");
  has(answer(good, "--states 0"), "--states");
  has(answer(good, "--time -1"), "--time");
  has(answer(good, "--memory none"), "--memory");
  has(answer(good, "--dot /does/not/exist/x.dot"), "/does/not/exist/x.dot");
  has(answer(good, "--json /does/not/exist/x.json --states 1"), "/does/not/exist/x.json");
  has(answer(good, "--svg /does/not/exist/x.svg"), "svg");
  has(answer(good, "--unroll 1001"), "--unroll");
  has(answer(good, "--expect 2"), "2");
}

// On a terminal: what takes a while says how far it is, and ^C keeps what was found until then.
TEST_CASE("explore says what it is at, and after ^C what it knows") {
  const ScratchFolder folder;
  std::string rows;
  for (int i = 1; i <= 5; ++i) {
    rows +=
        fmt::format("st.weak x, {0} | st.weak y, {0} | ld.weak r{0}, x | ld.weak r{0}, y ;\n", i);
  }
  REQUIRE(write_file(folder / "long.litmus",
                     "PTX long\n{ x=0; y=0; }\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0 | "
                     "P3@cta 3,gpu 0 ;\n" +
                         rows + "exists (P2:r1 == 9)\n"));
  const std::string file = folder / "long.litmus";
  const ShellResult found = shell(
      "script -qec 'timeout --foreground --preserve-status -s INT 2.5 " + kCommand +
      " explore --memory-model device --states 4000000000 " + file + " " + file + "' /dev/null");
  INFO(found.output);
  CHECK(found.status == 67);
  CHECK(found.output.find("barracuda: " + file + ": model device, 2 s of at most 60") !=
        std::string::npos);
  CHECK(found.output.find("exists (P2:r1 == 9): not found within 2 s (interrupted)") !=
        std::string::npos);
  CHECK(found.output.find("BARRACUDA SUMMARY: 1 test, 1 not explored, 1 exploration incomplete") !=
        std::string::npos);
}

TEST_CASE("explore writes results as JSON Lines and graphs, and takes a list of verdicts") {
  const ScratchFolder folder;
  REQUIRE(write_file(folder / "expected.csv", "ptx/mp_spin.litmus,0\nptx/lb_relaxed.litmus,0\n"));
  const ShellResult found =
      shell(kCommand + " explore --expect " + (folder / "expected.csv") + " --json " +
            (folder / "o.json") + " --dot " + (folder / "o.dot") + " " + kLitmus +
            "ptx/mp_spin.litmus " + kLitmus + "ptx/lb_relaxed.litmus");
  CHECK(found.status == 66);
  CHECK(read_file(folder / "o.dot")->starts_with("digraph \"lb_relaxed\""));
  CHECK(found.errors.ends_with("mp_spin.litmus: no graph is written, for there is no witness\n"));
  CHECK(read_file(folder / "o.json")->find("\"type\":\"litmus-result\"") != std::string::npos);
}

// Two blocks take a lock; `unlock` is what they end with.
std::string lock_kernel(const std::string& unlock) {
  return R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry lock(.param .u64 l, .param .u64 c)
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [l];
  ld.param.u64 %rd2, [c];
L:
  atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 0, 1;
  setp.ne.s32 %p, %r1, 0;
  @%p bra L;
  ld.global.u32 %r2, [%rd2];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%rd2], %r2;
  )" + unlock +
         "\n  ret;\n}\n";
}

class LockFile {
 public:
  explicit LockFile(const std::string& unlock) {
    REQUIRE(write_file(folder_ / "lock.ptx", lock_kernel(unlock)).has_value());
  }

  [[nodiscard]] ShellResult explore(const std::string& flags) const {
    return shell(kCommand + " explore " + (folder_ / "lock.ptx") +
                 " --grid 2 --arg 'u32[1]=0' --arg 'u32[1]=0' " + flags);
  }

 private:
  ScratchFolder folder_;
};

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

TEST_CASE("explore --progress of a kernel asks whether it always ends, and nothing else") {
  const LockFile plain("st.global.u32 [%rd1], 0;");
  has(plain.explore("").output, "data race: reachable");
  const ShellResult ends = plain.explore("--progress");
  CHECK(ends.status == 0);
  has(ends.output, "  always ends: yes\n");
  CHECK(ends.output.find("data race") == std::string::npos);
  has(LockFile("").explore("--progress").output, "  always ends: no, it may go on for ever\n");
  for (const std::string flag : {"--races", "--final", "--exists 'arg1[0] != 2'"}) {
    const ShellResult refused = plain.explore("--progress " + flag);
    CHECK(refused.status == 64);
    CHECK(refused.errors ==
          "barracuda: --progress asks nothing but whether the program always ends; ask --exists, "
          "--final or --races in another run\n");
  }
}

TEST_CASE("explore --final lists how a kernel may end, without a condition") {
  const ShellResult found = LockFile("st.release.gpu.global.u32 [%rd1], 0;").explore("--final");
  CHECK(found.status == 0);
  has(found.output, "\n  arg0=0 arg1=2\n");
  CHECK(found.output.ends_with("\nBARRACUDA SUMMARY: 1 test, exploration complete\n"));
  CHECK(found.output.find("true") == std::string::npos);
  CHECK(found.output.find('*') == std::string::npos);
}

TEST_CASE("explore refuses what would do nothing") {
  const std::string test = kLitmus + "ptx/lb_relaxed.litmus";
  const auto error = [&](const std::string& flags) {
    const ShellResult found = shell(kCommand + " explore " + flags + " " + test);
    CHECK(found.status == 64);
    CHECK(std::ranges::count(found.errors, '\n') == 1);
    return found.errors;
  };
  for (const std::string flag : {"--symmetry", "--shortest", "--exact", "--memory 9"}) {
    has(error(flag), " is of models with states; leave it out, or ask sc, weak, strong or device");
  }
  has(error("--compare sc,ptx --memory-model weak"), "name all models behind --compare");
  has(error("--grid 2"), "--grid is of kernels, and this is a litmus test; leave it out");
  has(error("--exists 'x == 1'"), "--exists is of kernels");
  has(error("--races --memory-model sc"), "without --races its own condition is asked");
  CHECK(shell(kCommand + " explore --compare sc,ptx --exact " + test).status == 0);
}

TEST_CASE(
    "a list of verdicts that names no test is refused, and a test that it leaves out is named") {
  const ScratchFolder folder;
  const std::string tests = kLitmus + "ptx/lb_relaxed.litmus " + kLitmus + "ptx/mp_spin.litmus";
  REQUIRE(write_file(folder / "misspelt.csv", "ptx/lb_relaxd.litmus,1\n").has_value());
  const ShellResult refused =
      shell(kCommand + " explore --expect " + (folder / "misspelt.csv") + " " + tests);
  CHECK(refused.status == 64);
  has(refused.errors, "misspelt.csv: no row of this list names a test");
  REQUIRE(write_file(folder / "one.csv", "ptx/lb_relaxed.litmus,1\n").has_value());
  const ShellResult found =
      shell(kCommand + " explore --expect " + (folder / "one.csv") + " " + tests);
  CHECK(found.status == 0);
  has(found.output,
      "2 tests, 1 verdict holds, 1 does not hold, 1 has no expected verdict, exploration complete");
}

TEST_CASE("explore draws witnesses") {
  const ScratchFolder folder;
  const std::string tests =
      kLitmus + "ptx/lb_relaxed.litmus " + kLitmus + "ptx/sb_fence_acq_rel.litmus";
  CHECK(shell(kCommand + " explore --dot " + (folder / "o.dot") + " " + tests).errors.empty());
  const std::string dot = *read_file(folder / "o.dot");
  CHECK(dot.starts_with("digraph \"explore\""));
  has(dot, "subgraph cluster1");
  const ShellResult steps =
      shell(kCommand + " explore --memory-model device --dot " + (folder / "steps.dot") + " " +
            kLitmus + "ptx/mp_reader_without_fence.litmus");
  has(steps.errors, "no graph is written, for a witness of model device is steps");
  const std::string draw = kCommand + " explore --svg " + (folder / "o.svg") + " " + tests;
  const ShellResult without = shell("PATH=/does/not/exist " + draw);
  CHECK(without.status == 64);
  has(without.errors, "--svg needs Graphviz");
  if (std::system("dot -V 2>/dev/null") != 0) {
    WARN("skipped: there is no Graphviz here");
    return;
  }
  CHECK(shell(draw).status == 0);
  const std::string svg = *read_file(folder / "o.svg");
  has(svg, "<svg ");
  has(svg, "lb_relaxed");
  has(svg, "sb_fence_acq_rel");
  CHECK(svg.find("<svg ") == svg.rfind("<svg "));
}

// The ways of its threads have no end.
TEST_CASE("the reading of a kernel keeps to --time and ^C, and names its line") {
  const LockFile endless("st.release.gpu.global.u32 [%rd1], 0; bra L;");
  const ShellResult late = endless.explore("--time 0.2");
  CHECK(late.status == 67);
  has(late.errors, "the ways of its threads were not all found within 0.2 s; a smaller launch");
  const ShellResult many = endless.explore("");
  CHECK(many.status == 64);
  has(many.errors, "lock.ptx:");
  has(many.errors, "has too many ways to explore");
}

TEST_CASE("explore ends on ^C while nvcc compiles, and says what it is at") {
  const ScratchFolder folder;
  REQUIRE(write_file(folder / "k.cu", "__global__ void k(int* x) { *x = 1; }\n").has_value());
  REQUIRE(write_file(folder / "nvcc", "#!/bin/sh\nsleep 30\n").has_value());
  const std::string command = "chmod +x " + (folder / "nvcc") + "\nNVCC=" + (folder / "nvcc") +
                              " script -qec 'timeout --foreground --preserve-status -s INT 3 " +
                              kCommand + " explore " + (folder / "k.cu") +
                              " --arg s32[1]=0' /dev/null";
  const ShellResult found = shell(command);
  INFO(found.output);
  CHECK(found.status == 67);
  has(found.output, "k.cu: reading the kernel, 2 s of at most 60");
  has(found.output, "BARRACUDA SUMMARY: 0 tests, 1 not explored");
  CHECK(found.output.find("nvcc failed") == std::string::npos);
}

}  // namespace
}  // namespace barracuda::cli
