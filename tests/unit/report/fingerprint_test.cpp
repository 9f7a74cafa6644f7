#include "report/fingerprint.h"

#include <catch2/catch.hpp>

#include "base/file.h"
#include "report/resolve.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::report {
namespace {

std::string fingerprint(const Finding& finding) {
  SourceText sources;
  return fingerprint_of(finding, sources);
}

// A race between lines 12 and 14 of a file that says what line 12 and 14 of samples::race() hold.
Finding race_in(const std::string& file, std::uint32_t lower_by = 0) {
  Finding race = samples::race();
  for (Access& access : race.accesses) {
    access.place.file = file;
    access.place.line += lower_by;
  }
  return race;
}

std::string source(int lines_above) {
  return std::string(static_cast<std::size_t>(lines_above), '\n') +
         "__global__ void add(int* p) {\n" + std::string(10, '\n') + "  p[0] = 1;\n\n  r = p[0];\n";
}

TEST_CASE("it is 32 hexadecimal digits") {
  const std::string text = fingerprint(samples::race());
  CHECK(text.size() == 32);
  CHECK(text.find_first_not_of("0123456789abcdef") == std::string::npos);
}

TEST_CASE("it is the same whatever differs from run to run") {
  Finding other = samples::race();
  std::swap(other.accesses[0], other.accesses[1]);
  other.kind = "intra-warp";
  other.severity = FindingSeverity::kWarning;
  other.count = 3;
  other.missing = other.location = "";
  other.accesses[0].operation = AccessOperation::kWrite;
  other.accesses[0].address = 8;
  other.accesses[1].block = {7, 0, 0};
  other.accesses[1].launch = 9;
  other.accesses[0].place.line += 10;
  other.accesses[0].place.file = "/elsewhere/add.cu";
  other.processes = {{"app", 1, 3}};
  CHECK(fingerprint(other) == fingerprint(samples::race()));
}

TEST_CASE("instances of a template share it") {
  Finding left = samples::race();
  Finding right = left;
  for (std::size_t i = 0; i < 2; ++i) {
    left.accesses[i].place.function = "void add<int>(int*)";
    right.accesses[i].place.function = "void add<float, 4>(float*)";
  }
  CHECK(fingerprint(left) == fingerprint(right));
}

TEST_CASE("another type, memory, file, function, line or variable is another bug") {
  const std::string bug = fingerprint(samples::race());
  const auto changed = [](auto&& change) {
    Finding finding = samples::race();
    change(finding, finding.accesses[0]);
    return fingerprint(finding);
  };
  CHECK(bug != changed([](Finding& f, Access&) { f.type = FindingType::kMemoryError; }));
  CHECK(bug != changed([](Finding& f, Access&) { f.space = "shared"; }));
  CHECK(bug != changed([](Finding&, Access& a) { a.place.file = "sub.cu"; }));
  CHECK(bug != changed([](Finding&, Access& a) { a.place.function = "sub(int*)"; }));
  CHECK(bug != changed([](Finding&, Access& a) { a.statement = "ld.global.u32"; }));
  CHECK(bug != changed([](Finding&, Access& a) { a.order = 1; }));
  CHECK(bug != changed([](Finding&, Access& a) { a.variable = 1; }));
}

TEST_CASE("with the sources it is made of the lines' text, wherever they are") {
  const ScratchFolder folder;
  const std::string file = folder / "add.cu";
  REQUIRE(write_file(file, source(0)).has_value());
  const std::string bug = fingerprint(race_in(file));
  CHECK(bug != fingerprint(samples::race()));
  REQUIRE(write_file(file, source(10)).has_value());
  CHECK(bug == fingerprint(race_in(file, 10)));
  CHECK(bug != fingerprint(race_in(file)));  // which are other lines now
  Finding other = race_in(file, 10);
  other.accesses[0].statement = "what it was compiled to";
  other.accesses[0].order = 5;
  CHECK(bug == fingerprint(other));
}

TEST_CASE("of a memory error what is wrong counts, sizes and seconds do not") {
  Finding error = samples::race();
  error.type = FindingType::kMemoryError;
  error.accesses.pop_back();
  error.missing = "the kernel was ended after 5 s";
  Finding later = error;
  later.missing = "the kernel was ended after 50 s";
  CHECK(fingerprint(error) == fingerprint(later));
  later.missing = "out-of-bounds write of 4 bytes";
  CHECK(fingerprint(error) != fingerprint(later));
}

TEST_CASE("threads more or less at the places of a divergence are the same divergence") {
  Finding divergence = samples::race();
  divergence.type = FindingType::kBarrierDivergence;
  Finding more = divergence;
  more.accesses.push_back(more.accesses[0]);
  CHECK(fingerprint(divergence) == fingerprint(more));
}

TEST_CASE("two variables on one pair of lines are two bugs, in every run") {
  RunData run = samples::racy_run();
  run.sites.own().push_back(run.sites[0]);
  run.sites.own().push_back(run.sites[1]);
  run.sites.own()[2].variable = run.sites.own()[3].variable = "_Z3addPi_param_1";
  for (std::uint32_t i = 0; i < run.sites.size(); ++i) {
    run.sites.own()[i].id = wire::SiteId{i};
  }
  detector::RaceEvent other = run.findings.races[0];
  other.first.site = wire::SiteId{3};
  other.second.site = wire::SiteId{2};
  run.findings.races.push_back(other);
  const Report both = resolve(run, Options{});
  REQUIRE(both.findings.size() == 2);
  CHECK(both.findings[0].fingerprint != both.findings[1].fingerprint);
  run.findings.races.erase(run.findings.races.begin());
  const Report one = resolve(run, Options{});
  REQUIRE(one.findings.size() == 1);
  CHECK(one.findings[0].fingerprint == both.findings[1].fingerprint);
}

}  // namespace
}  // namespace barracuda::report
