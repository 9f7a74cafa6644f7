#include "session/ptx_changes.h"

#include <catch2/catch.hpp>

#include "base/file.h"
#include "ptx/fence_text.h"
#include "ptx/parse.h"
#include "ptx/print.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::session {
namespace {

using Catch::Contains;

// Cases run beside each other, each in a process of its own.
const std::string& scratch_file() {
  static const ScratchFolder folder;
  static const std::string file = folder / "file";
  return file;
}

PtxChanges changes_of(const std::string& fences, bool lists_places = false) {
  REQUIRE(write_file(scratch_file(), fences));
  Options options;
  options.fences = scratch_file();
  options.fence_places = lists_places ? "somewhere" : "";
  auto changes = PtxChanges::read(options);
  REQUIRE(changes);
  return std::move(*changes);
}

std::vector<ptx::Module> units_of(const std::vector<std::string>& bodies) {
  std::vector<ptx::Module> units;
  for (const std::string& body : bodies) {
    auto unit = ptx::parse(".version 8.0\n.target sm_90\n.address_size 64\n" + body);
    REQUIRE(unit);
    units.push_back(std::move(*unit));
  }
  return units;
}

std::string stores(const std::string& header) {
  return header +
         " {\n.reg .b64 %rd<2>;\nst.global.u32 [%rd1], 1;\nst.shared.u32 [%rd1], 1;\nret;\n}\n";
}

}  // namespace

TEST_CASE("without changes the units stay as they are") {
  const auto changed = PtxChanges().apply(units_of({stores(".entry a()"), stores(".entry b()")}));
  REQUIRE(changed);
  CHECK(changed->units.size() == 2);
  CHECK(changed->fences.places.empty());
  CHECK(changed->outcomes.empty());
}

TEST_CASE("fences are put into the linked units, by the names that functions have there") {
  const PtxChanges changes = changes_of("+f__unit1#1 acq_rel cta\n+b#2 sc gpu # why\n-b#1\n", true);
  auto changed = changes.apply(units_of(
      {stores(".func f()") + stores(".entry a()"), stores(".func f()") + stores(".entry b()")}));
  REQUIRE(changed);
  REQUIRE(changed->units.size() == 1);
  const std::string text = ptx::print(changed->units[0]);
  CHECK(text.find("fence.acq_rel.cta;") > text.find("f__unit1("));
  CHECK(text.find("fence.sc.gpu;") > text.rfind("st.shared.u32"));
  CHECK(changed->fences.places.size() == 8);
  const auto unfit = changes.unfit({{changed->outcomes}});
  REQUIRE(unfit.size() == 1);
  CHECK(unfit[0] == "option fences: " + scratch_file() +
                        ":3: b#1 does not fit the program: that statement is no fence");
}

TEST_CASE("a change that one image takes fits, of the others the nearest one says why not") {
  const PtxChanges changes = changes_of("+a#1 sc gpu\n+a#9 sc gpu\n+c#1 sc gpu\n");
  const auto first = changes.apply(units_of({stores(".entry a()")}));
  const auto second = changes.apply(units_of({stores(".entry b()")}));
  REQUIRE(first);
  REQUIRE(second);
  const auto unfit = changes.unfit({{first->outcomes, {}, second->outcomes}});
  REQUIRE(unfit.size() == 2);
  CHECK_THAT(unfit[0], Contains("a#9") && Contains("has fewer instructions"));
  CHECK_THAT(unfit[1], Contains("c#1") && Contains("no module that was loaded"));
  std::string many;
  for (int i = 1; i <= 20; ++i) {
    many += "-x#" + std::to_string(i) + "\n";
  }
  CHECK(changes_of(many).unfit({}).size() == 9);
  CHECK(changes_of(many).unfit({}).back() == "12 more lines do not fit the program");
}

TEST_CASE("a file that cannot be understood is an error of the option") {
  Options options;
  options.fences = "/no/such/file";
  CHECK_THAT(PtxChanges::read(options).error().to_string(),
             Contains("option fences: ") && Contains("/no/such/file"));
  REQUIRE(write_file(scratch_file(), "# a\n+f sc gpu\n"));
  options.fences = scratch_file();
  CHECK_THAT(PtxChanges::read(options).error().to_string(),
             Contains("option fences: " + scratch_file() + ":2: 'f' is not FUNCTION#STATEMENT"));
}

TEST_CASE("the places of launched kernels are listed once, and are what fences= takes") {
  const PtxChanges changes = changes_of("", true);
  const auto changed = changes.apply(units_of({stores(".entry a()") + stores(".entry b()")}));
  REQUIRE(changed);
  const std::string text = fence_places_text({{changed->fences, changed->fences}}, {"a"});
  const auto lines = ptx::parse_fences(text, "places");
  REQUIRE(lines);
  REQUIRE(lines->size() == 2);
  CHECK((*lines)[0].place->place == 1);
  CHECK((*lines)[1].place->place == 2);
  CHECK((*lines)[1].place->space == ptx::StateSpace::kShared);
  CHECK_THAT(text, Contains("+a#1 sc gpu  # place=1") && Contains("+a#2 sc cta  # place=2"));
}

TEST_CASE("the fences of the launched kernels are listed as the lines that take them out") {
  const PtxChanges changes = changes_of("", true);
  const std::string fenced = ".entry a()\n{\nmembar.gl;\nfence.proxy.alias;\nret;\n}\n";
  const auto changed = changes.apply(units_of({fenced + stores(".entry b()")}));
  REQUIRE(changed);
  const std::string text = fence_places_text({{changed->fences, changed->fences}}, {"a", "b"});
  const auto own = ptx::parse_own_fences(text);
  REQUIRE(own.size() == 1);
  CHECK(own[0].at == ptx::StatementName{.function = "a", .ordinal = 1});
  CHECK_THAT(text, Contains("\n# -a#1  # fence=sc.gpu kernel=a\n"));
  CHECK(ptx::parse_own_fences(fence_places_text({{changed->fences}}, {"b"})).empty());
}

}  // namespace barracuda::session
