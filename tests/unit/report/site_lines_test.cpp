#include "report/site_lines.h"

#include <catch2/catch.hpp>

#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

using samples::site;

ptx::Site load(std::uint32_t id, std::uint32_t line, const std::string& variable) {
  ptx::Site made = site(id, wire::Operation::kRead, {{"_Z3addPi", "/src/add.cu", line, 5}});
  made.instruction = "ld.global.u32";
  made.variable = variable;
  return made;
}

TEST_CASE("variables of a line are told apart, in the order of the text") {
  const ptx::SiteTable sites = {load(0, 12, "a"), load(1, 12, "b"), load(2, 12, "a"),
                                load(3, 14, "b")};
  SiteLines lines(sites);
  CHECK(lines.part_of(sites[0]).variable == 0);
  CHECK(lines.part_of(sites[1]).variable == 1);
  CHECK(lines.part_of(sites[2]).variable == 0);
  CHECK(lines.part_of(sites[3]).variable == 0);
}

TEST_CASE("a line is told by its instructions, and among lines of the same ones by its order") {
  ptx::SiteTable sites = {load(0, 12, "a"),
                          site(1, wire::Operation::kWrite, {{"_Z3addPi", "/src/add.cu", 12, 5}}),
                          load(2, 14, "a"), load(3, 14, "a"), load(4, 15, "a")};
  SiteLines lines(sites);
  CHECK(lines.part_of(sites[0]).statement == "ld.global st.global");
  CHECK(lines.part_of(sites[1]).statement == "ld.global st.global");
  CHECK(lines.part_of(sites[2]).statement == "ld.global");
  CHECK(lines.part_of(sites[2]).order == 0);
  CHECK(lines.part_of(sites[3]).order == 0);
  CHECK(lines.part_of(sites[4]).order == 1);
}

TEST_CASE("instances of a template for other types read alike") {
  ptx::SiteTable sites = {load(0, 12, "a"), load(1, 12, "a")};
  sites[1].function = "_Z3addPf";
  sites[1].instruction = "ld.global.f32";
  SiteLines lines(sites);
  CHECK(lines.part_of(sites[0]).statement == lines.part_of(sites[1]).statement);
}

TEST_CASE("without lines each instruction is one, and a module that is loaded again has the same") {
  ptx::SiteTable sites = {load(0, 12, "a"), load(1, 12, "a")};
  for (ptx::Site& each : sites) {
    each.frames.clear();
  }
  sites.insert(sites.end(), sites.begin(), sites.end());
  sites.back().function = "other";
  SiteLines lines(sites);
  CHECK(lines.part_of(sites[0]).order == 0);
  CHECK(lines.part_of(sites[1]).order == 1);
  CHECK(lines.part_of(sites[2]).order == 0);
  CHECK(lines.part_of(sites[3]).order == 0);
}

TEST_CASE("a line of CUDA's headers is the program's line that leads there") {
  ptx::Site inlined = site(0, wire::Operation::kWrite,
                           {{"copy", "/usr/local/cuda/include/cccl/cub/copy.cuh", 60, 1},
                            {"_Z3addPi", "/src/add.cu", 12, 5}});
  const ptx::SiteTable sites = {inlined, load(1, 12, "b")};
  SiteLines lines(sites);
  CHECK(lines.part_of(sites[0]).statement == "ld.global st.global");
}

}  // namespace
}  // namespace barracuda::report
