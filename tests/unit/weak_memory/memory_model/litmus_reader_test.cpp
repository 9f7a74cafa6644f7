#include "weak_memory/memory_model/litmus_reader.h"

#include <string>

#include <catch2/catch.hpp>

#include "weak_memory/memory_model/litmus_text.h"

namespace barracuda::memory_model {
namespace {

constexpr const char* kEverything = R"(PTX every-thing+1
"a comment"
(* and another *)
{ x=0; y=-2; shared s=3; z @ generic aliases x; t @ surface aliases y; P0:r9=7; P1:p=x; }
 P0@cta 0,gpu 0 | P1@cta 1,cluster 4,gpu 0 ;
 LC0: ld.relaxed.gpu r0, x | st.weak p, 1 // through a register
 ;
 bne r0, 1, LC0 | atom.acq_rel.gpu.cas r1, y, 0, 5 ;
 ld r1, r9 | red.relaxed.sys.add x, 2 ;
 add r2, r1, -1 | fence.sc.cluster ;
 st.volatile s, r2 | fence.proxy.alias ;
 goto LC1 | bar.cta.sync 0, 1, 2 ;
 bar.cta.arrive 0, r1 | suld.weak r2, t ;
 LC1: | ld.acquire.sys r3, s ;
locations [x; 0:r0;]
filter (P0:r1 != 4)
always (P1:r1 == 0 \/ P1:r1 == 5)
~exists (0:r0 == 1 /\ ~(P1:r3 = 3 \/ x == 2))
)";

std::string error_of(const std::string& text) {
  const auto test = read_litmus(text, "t.litmus");
  REQUIRE_FALSE(test.has_value());
  return test.error().to_string();
}

std::string with_rows(const std::string& rows, const std::string& condition = "exists (x == 1)") {
  return "PTX t\n{ x=0; }\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n" + rows + "\n" + condition + "\n";
}

TEST_CASE("everything that a litmus test may have is read, and printed so that it is read again") {
  const auto test = read_litmus(kEverything, "t.litmus");
  INFO((test ? "" : test.error().to_string()));
  REQUIRE(test.has_value());
  CHECK(test->name == "every-thing+1");
  CHECK(test->threads == std::vector<std::string>{"P0", "P1"});
  CHECK(test->quantifier == Quantifier::kNever);
  CHECK(test->filter.has_value());
  CHECK(test->always.has_value());
  CHECK(test->program.locations == 4);  // x, y, s of each CTA
  CHECK(test->program.threads[0].instructions.size() == 7);
  CHECK(test->program.threads[0].instructions[5].destination == 7);
  CHECK(test->program.threads[1].instructions[0].location == 0);
  CHECK(test->program.threads[1].cluster == 4);
  const std::string text = litmus_text(*test);
  const auto again = read_litmus(text, "again");
  INFO(text << (again ? "" : again.error().to_string()));
  REQUIRE(again.has_value());
  CHECK(litmus_text(*again) == text);
}

TEST_CASE("what is wrong with a litmus file is said with its line") {
  CHECK(error_of("") == "t.litmus:1: the file is empty; a litmus test begins with 'PTX NAME'");
  CHECK(error_of("AArch64 x\n").starts_with("t.litmus:1: a litmus test for PTX begins with"));
  CHECK(error_of(with_rows("mul.wide x | ;"))
            .starts_with("t.litmus:4: there is no instruction 'mul.wide'"));
  CHECK(error_of(with_rows("st.weak x, r1 | ;")) ==
        "t.litmus:4: register 'r1' is read before it is set");
  CHECK(error_of(with_rows("mov r1, 0 | ; st.weak r1, 1 | ;")) ==
        "t.litmus:4: 'r1' is a register that holds no address");
  CHECK(error_of(with_rows("st.acquire.gpu x, 1 | ;")).starts_with("t.litmus:4: there is no"));
  CHECK(error_of(with_rows("st.relaxed x, 1 | ;")).find("needs a scope") != std::string::npos);
  CHECK(error_of(with_rows("goto L | ;")) == "t.litmus:4: thread P0 has no label 'L'");
  CHECK(error_of(with_rows(" | | ;")) == "t.litmus:4: this row has more than 2 columns");
  CHECK(error_of(with_rows("st.weak x, 1 | ;", "exists (x == 1"))
            .starts_with("t.litmus:5: a bracket of the condition is not closed"));
  CHECK(error_of(with_rows("st.weak x, 1 | ;", "exists (y == 1)")) ==
        "t.litmus:5: there is no location 'y'");
  CHECK(error_of(with_rows("st.weak x, 1 | ;", "exists (P0:r1 == 1)")) ==
        "t.litmus:5: thread P0 has no register 'r1'");
  CHECK(error_of(with_rows("st.weak x, 1 | ;", "")).find("a condition is missing") !=
        std::string::npos);
  CHECK(error_of("PTX t\n{}\nP0 | P0 ;\nexists (true)")
            .starts_with("t.litmus:3: two threads are named 'P0'"));
  CHECK(error_of("PTX\n{ x=0; }\nP0 ;\nexists (true)") ==
        "t.litmus:2: a name is expected behind 'PTX', before '{'");
}

TEST_CASE("what follows the condition is refused for what it is") {
  const auto of_condition = [](const std::string& condition) {
    return error_of(with_rows("st.weak x, 1 | ;", condition));
  };
  CHECK(of_condition("exists (x == 1))") ==
        "t.litmus:5: the file should end behind the condition; there is still ')'");
  CHECK(of_condition("exists (x == 1) garbage here") ==
        "t.litmus:5: the file should end behind the condition; there is still 'garbage'");
  CHECK(of_condition("exists (x == 1)\nforall (x == 1)") ==
        "t.litmus:6: the file should end behind the condition; there is still 'forall'");
  CHECK(of_condition("exists (x == 1 /\\ )") ==
        "t.litmus:5: a register, a location or a number is expected here, not ')'");
  CHECK(of_condition("exists") ==
        "t.litmus:5: a register, a location or a number is expected here, not the end of the file");
}

TEST_CASE("a number that does not fit is refused, not cut") {
  const auto with_place = [](const std::string& place) {
    return "PTX t\n{ x=0; }\nP0@cta 0,gpu 0 | P1@" + place +
           " ;\nst.weak x, 1 | ;\nexists (true)\n";
  };
  const std::string expected = "t.litmus:3: a number from 0 to 4294967295 is expected here, not ";
  CHECK(error_of(with_place("cta 4294967296")) == expected + "'4294967296'");
  CHECK(error_of(with_place("cta -1")) == expected + "'-1'");
  CHECK(error_of(with_place("cta 0,gpu -7")) == expected + "'-7'");
  CHECK(read_litmus(with_place("cta 4294967295"), "t")->program.threads[1].cta == 4294967295);
  CHECK(error_of(with_rows("bar.cta.sync 4294967296 | ;"))
            .starts_with("t.litmus:4: a number from 0 to 4294967295"));
  CHECK(error_of(with_rows("st.weak x, 99999999999999999999 | ;"))
            .starts_with("t.litmus:4: '99999999999999999999' does not fit into 64 bits: numbers "));
  CHECK(error_of(with_rows("div r1, 4, 0 | ;")).starts_with("t.litmus:4: division by zero"));
  CHECK(error_of(with_rows("atom.relaxed.gpu.div r1, x, 0 | ;"))
            .starts_with("t.litmus:4: division by zero"));
}

TEST_CASE(
    "a location that only accesses name begins as zero in Dat3M's dialect, and is refused in "
    "ours") {
  CHECK(error_of(with_rows("st.weak y, 2 | ;")) ==
        "t.litmus:4: there is no location 'y'; write 'y=0;' between the braces (Dat3M's files may "
        "do without: --dat3m)");
  const auto test = read_litmus(
      "PTX t\n{ x=1; z @ generic aliases x; }\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n"
      "st.weak y, 2 | ld.weak r1, y ;\nexists (P1:r1 == 0 /\\ y == 2 /\\ x == 1)\n",
      "t", Dialect::kDat3m);
  REQUIRE(test.has_value());
  CHECK(test->undeclared == std::vector<std::string>{"y"});
  CHECK(test->program.locations == 2);
  CHECK(test->program.threads[0].instructions[0].location == 1);
  CHECK(test->program.threads[1].instructions[0].location == 1);
  CHECK(test->program.location(1).initial == 0);
}

TEST_CASE("too much of anything is refused in one sentence") {
  std::string threads = "T0";
  for (int i = 1; i < 65; ++i) {
    threads += " | T" + std::to_string(i);
  }
  CHECK(error_of("PTX t\n{}\n" + threads + " ;\nexists (true)") ==
        "t.litmus:3: 65 threads; at most 16 can be explored");
  CHECK(error_of(std::string(std::size_t{100} << 20, 'x')).find("too long") != std::string::npos);
  const std::string brackets(100000, '(');
  CHECK(error_of(with_rows("st.weak x, 1 | ;", "exists " + brackets)).find("too many brackets") !=
        std::string::npos);
}

}  // namespace
}  // namespace barracuda::memory_model
