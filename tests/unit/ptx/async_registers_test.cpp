#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

using Kind = RegisterHazard::Kind;

std::vector<RegisterHazard> hazards_of(const std::string& body,
                                       const std::string& target = "sm_90a") {
  std::vector<Module> units;
  units.push_back(
      parse_module(".version 8.0\n.target " + target +
                   "\n.address_size 64\n.visible .entry kernel(.param .u64 p)\n{\n"
                   ".reg .b32 %r<20>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<40>;\n.reg .pred %p<3>;\n"
                   "ld.param.u64 %rd1, [p];\n" +
                   body + "ret;\n}\n"));
  auto module = instrument(std::move(units), {});
  INFO((module ? "" : module.error().to_string()));
  REQUIRE(module);
  return module->register_hazards;
}

const std::string kFence = "wgmma.fence.sync.aligned;\n";
const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";

std::string wait(int left) {
  return "wgmma.wait_group.sync.aligned " + std::to_string(left) + ";\n";
}

// Sums in %f<first> to %f<first + 3>.
std::string product(int first, const std::string& a = "%rd2") {
  std::string sums;
  for (int i = 0; i < 4; ++i) {
    sums += (i == 0 ? "%f" : ", %f") + std::to_string(first + i);
  }
  const std::string majors = a.starts_with('{') ? ", 1, 1, 0;\n" : ", 1, 1, 0, 0;\n";
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" + sums + "}, " + a + ", %rd3, 1" +
         majors;
}

const std::string kRead = "st.global.f32 [%rd1], %f1;\n";
const std::string kWrite = "add.f32 %f1, %f20, %f21;\n";
const std::string kFromA = "{%r1, %r2, %r3, %r4}";

bool has_only(const std::vector<RegisterHazard>& hazards, Kind kind) {
  return hazards.size() == 1 && hazards[0].kind == kind;
}

}  // namespace

TEST_CASE("sums are there once their group has been waited for") {
  CHECK(hazards_of(kFence + product(1) + kCommit + wait(0) + kRead).empty());
  CHECK(has_only(hazards_of(kFence + product(1) + kCommit + kRead + wait(0)), Kind::kReadInFlight));
  CHECK(has_only(hazards_of(kFence + product(1) + wait(0) + kRead), Kind::kReadInFlight));
  CHECK(has_only(hazards_of(kFence + product(1) + kCommit + kWrite + wait(0)),
                 Kind::kWrittenInFlight));
}

TEST_CASE("a wait leaves the newest groups") {
  const std::string two = kFence + product(1) + kCommit + product(5) + kCommit;
  CHECK(hazards_of(two + wait(1) + kRead).empty());
  CHECK(has_only(hazards_of(two + wait(2) + kRead), Kind::kReadInFlight));
  const auto later = hazards_of(two + wait(1) + "st.global.f32 [%rd1], %f5;\n");
  REQUIRE(has_only(later, Kind::kReadInFlight));
  CHECK(later[0].register_name == "%f5");
  CHECK(later[0].touch.instruction == "st.global.f32");
  CHECK(later[0].product.instruction.starts_with("wgmma.mma_async"));
  CHECK(later[0].product.ptx_line < later[0].touch.ptx_line);
  CHECK(later[0].function == "kernel");
}

TEST_CASE("products of one shape may use the same sums, others may not") {
  CHECK(hazards_of(kFence + product(1) + product(1) + kCommit + wait(0)).empty());
  std::string wider = product(1);
  wider.replace(wider.find("k16.f32.f16.f16"), 15, "k8.f32.tf32.tf32");
  wider.replace(wider.find(", 1, 1, 0, 0"), 12, ", 1, 1");
  CHECK(has_only(hazards_of(kFence + product(1) + wider + kCommit + wait(0)),
                 Kind::kWrittenInFlight));
}

TEST_CASE("registers of A are the product's as well") {
  const std::string issue = kFence + product(1, kFromA) + kCommit;
  CHECK(has_only(hazards_of(issue + "mov.b32 %r2, 7;\n" + wait(0)), Kind::kWrittenInFlight));
  CHECK(
      has_only(hazards_of(issue + "st.global.u32 [%rd1], %r4;\n" + wait(0)), Kind::kReadInFlight));
  CHECK(hazards_of(issue + wait(0) + "mov.b32 %r2, 7;\n").empty());
  CHECK(hazards_of(kFence + product(1, kFromA) + product(5, kFromA) + kCommit + wait(0)).empty());
}

TEST_CASE("what is written before a product needs a fence before it") {
  const std::string load = "ld.global.f32 %f1, [%rd1];\n";
  const auto missing = hazards_of(kFence + load + product(1) + kCommit + wait(0));
  REQUIRE(has_only(missing, Kind::kFenceMissing));
  CHECK(missing[0].touch.instruction == "ld.global.f32");
  CHECK(missing[0].touch.ptx_line < missing[0].product.ptx_line);
  CHECK(hazards_of(kWrite + kFence + product(1) + kCommit + wait(0)).empty());
  CHECK(has_only(
      hazards_of(kFence + "ld.global.u32 %r3, [%rd1];\n" + product(1, kFromA) + kCommit + wait(0)),
      Kind::kFenceMissing));
  // Between two products of a loop, too.
  CHECK(has_only(
      hazards_of(kFence + "loop:\n" + product(1) + kCommit + wait(0) + kWrite + "@%p1 bra loop;\n"),
      Kind::kFenceMissing));
  CHECK(
      hazards_of("loop:\n" + kFence + product(1) + kCommit + wait(0) + kWrite + "@%p1 bra loop;\n")
          .empty());
}

TEST_CASE("what is computed may stand behind the fence that the source has after it") {
  CHECK(hazards_of(kFence + kWrite + product(1) + kCommit + wait(0)).empty());
  CHECK(hazards_of(kFence + "cvt.u32.u64 %r3, %rd4;\n" + product(1, kFromA) + kCommit + wait(0))
            .empty());
  CHECK(has_only(hazards_of(kWrite + product(1) + kCommit + wait(0)), Kind::kFenceMissing));
  const std::string zero = "mov.f32 %f1, 0f00000000;\n";
  CHECK(hazards_of(kFence + zero + product(1) + kCommit + wait(0)).empty());
  CHECK(has_only(hazards_of(zero + product(1) + kCommit + wait(0)), Kind::kFenceMissing));
  CHECK(has_only(
      hazards_of("@%p1 bra past;\n" + kFence + "past:\n" + zero + product(1) + kCommit + wait(0)),
      Kind::kFenceMissing));
}

TEST_CASE("a move renames") {
  CHECK(hazards_of(kFence + product(1) + kCommit + "mov.f32 %f9, %f1;\n" + wait(0) +
                   "st.global.f32 [%rd1], %f9;\n")
            .empty());
  const auto moved = hazards_of(kFence + product(1) + kCommit + "mov.f32 %f9, %f1;\n" +
                                "st.global.f32 [%rd1], %f9;\n" + wait(0));
  REQUIRE(has_only(moved, Kind::kReadInFlight));
  CHECK(moved[0].register_name == "%f9");
  CHECK(has_only(hazards_of(kFence + product(1) + kCommit + "mov.f32 %f1, %f30;\n" + wait(0)),
                 Kind::kWrittenInFlight));
  CHECK(has_only(hazards_of(kFence + "ld.global.f32 %f9, [%rd1];\nmov.f32 %f1, %f9;\n" +
                            product(1) + kCommit + wait(0)),
                 Kind::kFenceMissing));
  // Where two ways meet, a copy gets another value: nothing that is under way is touched.
  CHECK(hazards_of(kFence + product(1) + kCommit + "mov.f32 %f9, %f1;\nmov.f32 %f9, %f30;\n" +
                   wait(0))
            .empty());
}

TEST_CASE("one way without the wait is enough") {
  CHECK(has_only(
      hazards_of(kFence + product(1) + kCommit + "@%p1 bra past;\n" + wait(0) + "past:\n" + kRead),
      Kind::kReadInFlight));
  // A pipeline that leaves one group under way from round to round.
  CHECK(hazards_of(kFence + product(1) + kCommit + "loop:\n" + kFence + product(1) + kCommit +
                   wait(1) + "@%p1 bra loop;\n" + wait(0) + kRead)
            .empty());
}

TEST_CASE("one finding for each product and kind, and none of code that is not optimised") {
  const std::string early =
      kFence + product(1) + kCommit + kRead + "st.global.f32 [%rd1+4], %f2;\n" + wait(0);
  CHECK(hazards_of(early).size() == 1);
  CHECK(hazards_of(early, "sm_90a, debug").empty());
  CHECK(hazards_of(kRead + kWrite).empty());
}

}  // namespace barracuda::ptx
