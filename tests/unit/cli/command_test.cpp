#include <algorithm>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "base/file.h"
#include "base/options.h"
#include "tests/unit/cli/shell.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::cli {
namespace {

const std::string kCommand = BARRACUDA_COMMAND;

constexpr const char* kPtx = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry store(.param .u64 p)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

TEST_CASE("help goes to stdout and is no error") {
  const ShellResult help = shell(kCommand + " --help");
  CHECK(help.status == 0);
  CHECK(help.output.find("extract") != std::string::npos);
  CHECK(help.errors.empty());
  CHECK(shell(kCommand + " version").output.starts_with("barracuda "));
}

TEST_CASE("no command, and an unknown one, are status 64") {
  CHECK(shell(kCommand).status == 64);
  const ShellResult unknown = shell(kCommand + " rnu -- true");
  CHECK(unknown.status == 64);
  CHECK(unknown.errors.find("no command 'rnu'; did you mean 'run'?") != std::string::npos);
}

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
  CHECK(read_file(folder / "o.json")->find("\"type\":\"litmus-result\"") != std::string::npos);
}

TEST_CASE("instrument prints PTX with the logging in it, or its sites") {
  const ScratchFolder folder;
  REQUIRE(write_file(folder / "store.ptx", kPtx).has_value());
  const ShellResult text = shell(kCommand + " instrument " + (folder / "store.ptx"));
  CHECK(text.status == 0);
  CHECK(text.output.find("st.global.u32") != std::string::npos);
  CHECK(text.output.find("__barracuda_") != std::string::npos);
  const ShellResult sites = shell(kCommand + " instrument --sites " + (folder / "store.ptx"));
  CHECK(sites.status == 0);
  CHECK(sites.output.find("st.global.u32") != std::string::npos);
  CHECK(sites.output.find("instructions are logged\n") != std::string::npos);
  const std::string output = folder / "out.ptx";
  CHECK(shell(kCommand + " instrument " + (folder / "store.ptx") + " -o " + output).status == 0);
  CHECK(*read_file(output) == text.output);
}

TEST_CASE("instrument names the line of what it cannot parse") {
  const ScratchFolder folder;
  REQUIRE(write_file(folder / "bad.ptx", ".version 9.0\n.target sm_90\n.entry {\n").has_value());
  const ShellResult result = shell(kCommand + " instrument " + (folder / "bad.ptx"));
  CHECK(result.status == 1);
  CHECK(result.errors.find("bad.ptx:3") != std::string::npos);
  CHECK(shell(kCommand + " instrument " + (folder / "missing.ptx")).status == 1);
  CHECK(shell(kCommand + " instrument " + (folder / "bad.ptx") + " -o /dev/full").status == 1);
}

}  // namespace
}  // namespace barracuda::cli
