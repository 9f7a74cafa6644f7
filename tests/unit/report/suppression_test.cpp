#include "report/suppression.h"

#include <utility>

#include <catch2/catch.hpp>

#include "report/coverage.h"
#include "report/library_suppressions.h"
#include "report/publish.h"
#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

bool suppresses(const std::string& text, const Finding& finding = samples::race()) {
  const auto suppressions = Suppressions::parse(text, "s.txt");
  REQUIRE(suppressions.has_value());
  return suppressions->rule_for(finding).has_value();
}

TEST_CASE("a pattern matches anywhere unless it is anchored") {
  CHECK(matches("add", "my_add_kernel"));
  CHECK(matches("a*k", "my_add_kernel"));
  CHECK_FALSE(matches("^add", "my_add"));
  CHECK(matches("^my*add$", "my_other_add"));
  CHECK_FALSE(matches("^my$", "my_add"));
  CHECK(matches("", "anything"));
  CHECK(matches("a*b*c", "xaxbxbxc"));
  CHECK_FALSE(matches("a*b*c", "acb"));
}

TEST_CASE("a field looks at what it names") {
  CHECK(suppresses("kernel:add"));
  CHECK(suppresses("function:^add"));
  CHECK(suppresses("file:^add.cu$"));
  CHECK(suppresses("kind:inter-block"));
  CHECK_FALSE(suppresses("kernel:sub"));
  CHECK_FALSE(suppresses("kind:intra"));
  CHECK_FALSE(suppresses(""));
}

TEST_CASE("the words of a line must all hold, one line suffices") {
  CHECK(suppresses("kernel:add kind:inter-block"));
  CHECK_FALSE(suppresses("kernel:add kind:intra-warp"));
  CHECK(suppresses("# a note\n\nkernel:sub\n  kind:inter-block  \r\n"));
}

TEST_CASE("every frame of the chain counts for function and file") {
  Finding finding = samples::race();
  finding.accesses[0].inlined.push_back({"detail::helper(int)", "vendor/helper.cuh", 3});
  CHECK(suppresses("file:vendor/", finding));
  CHECK(suppresses("function:helper", finding));
}

TEST_CASE("a pattern with a blank is quoted") {
  Finding finding = samples::race();
  finding.accesses[0].kernel = "void scan<int, 4>(int*)";
  CHECK(suppresses("kernel:'^void scan<int, 4>' kind:inter", finding));
}

TEST_CASE("names compare with and without what the function returns") {
  Finding finding = samples::race();
  finding.accesses[1].kernel = finding.accesses[1].place.function = "void vendor::scan<int>(int*)";
  CHECK(suppresses("function:'^vendor::scan<'", finding));
  CHECK(suppresses("function:'^void vendor::scan<'", finding));
  CHECK(suppresses("kernel:^vendor::scan", finding));
  CHECK_FALSE(suppresses("kernel:^scan", finding));
}

TEST_CASE("a module is the program, or the library that launched the kernel") {
  Finding finding = samples::race();
  CHECK(suppresses("module:^app$", finding));
  CHECK_FALSE(suppresses("module:libsolver", finding));
  finding.accesses[0].module = "libsolver.so.2";
  CHECK(suppresses("module:libsolver", finding));
}

TEST_CASE("a fingerprint names one bug") {
  CHECK(suppresses("fingerprint:0123456789abcdef0123456789abcdef"));
  CHECK_FALSE(suppresses("fingerprint:ffff"));
}

// CUB's sort in one sweep, as nvcc -lineinfo shows it.
Finding library_finding() {
  Finding finding = samples::race();
  finding.kind = "inter-block";
  finding.severity = FindingSeverity::kWarning;
  for (Access& access : finding.accesses) {
    access.kernel = "void cub::detail::radix_sort::DeviceRadixSortOnesweepKernel<int>(int*)";
    access.inlined = {
        {"cub::ThreadLoad<int>", "/usr/local/cuda/include/cccl/cub/thread/thread_load.cuh", 1},
        {access.kernel, "/usr/local/cuda/include/cccl/cub/device/dispatch/kernels.cuh", 2}};
    access.callers.clear();
    access.place = access.inlined.front();
  }
  return finding;
}

TEST_CASE("library: holds where both accesses are the library's own") {
  Finding finding = library_finding();
  CHECK(suppresses("library:thread_load.cuh", finding));
  CHECK(suppresses("library:'^cub::ThreadLoad<'", finding));
  CHECK(suppresses("library:dispatch/kernels library:*", finding));
  CHECK_FALSE(suppresses("library:thread_store.cuh", finding));

  // An operator of the program's, which the library calls.
  const Frame own = {"Less::operator()(int, int) const", "/src/app.cu", 7};
  finding.accesses[1].inlined.insert(finding.accesses[1].inlined.begin(), own);
  CHECK_FALSE(suppresses("library:*", finding));
  CHECK_FALSE(suppresses("library:dispatch/kernels", finding));

  // The library, called by the program.
  finding = library_finding();
  finding.accesses[0].inlined.push_back(own);
  CHECK(suppresses("library:thread_load.cuh", finding));
  CHECK_FALSE(suppresses("library:app.cu", finding));
  CHECK_FALSE(suppresses("library:*", samples::race()));
}

TEST_CASE("library: goes by names where the library has no lines") {
  Finding finding = library_finding();
  for (Access& access : finding.accesses) {
    access.inlined.clear();
    access.place = {access.kernel, "", 0};
  }
  CHECK(suppresses("library:DeviceRadixSortOnesweepKernel", finding));
  CHECK_FALSE(suppresses("library:thread_load", finding));
}

TEST_CASE("an error is told from a warning") {
  CHECK(suppresses("severity:^warning$", library_finding()));
  CHECK_FALSE(suppresses("severity:^error$", library_finding()));
}

TEST_CASE("an operation is that of either access") {
  Finding finding = samples::race();
  finding.accesses[0].operation = AccessOperation::kRead;
  finding.accesses[1].operation = AccessOperation::kAtomic;
  CHECK(suppresses("operation:^read$", finding));
  CHECK(suppresses("operation:^atomic$", finding));
  CHECK_FALSE(suppresses("operation:^write$", finding));
}

TEST_CASE("what is missing is compared, and what is not known matches nothing") {
  Finding finding = samples::race();
  finding.missing = "fence.proxy.async is missing";
  CHECK(suppresses("missing:'^fence.proxy.async is missing$'", finding));
  CHECK_FALSE(suppresses("missing:tensormap", finding));
  finding.missing.clear();
  CHECK_FALSE(suppresses("missing:*", finding));
}

// The sum of 16-bit floating-point numbers that a GPU before compute capability 9.0 does not have.
Finding loop_of_library(AccessOperation first) {
  Finding finding = samples::race();
  finding.accesses[0].operation = first;
  finding.accesses[1].operation = AccessOperation::kAtomic;
  for (Access& access : finding.accesses) {
    access.inlined = {{"atomicAdd(__nv_bfloat162*, __nv_bfloat162)",
                       "/usr/local/cuda/include/cuda_bf16.hpp", 3804},
                      {"sum(__nv_bfloat162*)", "sum.cu", 7}};
  }
  return finding;
}

TEST_CASE("a header's look before its compare-and-swap is left out, not two sizes of atomics") {
  const auto rules = library_suppressions();
  REQUIRE(rules.has_value());
  CHECK(rules->rule_for(loop_of_library(AccessOperation::kRead)).has_value());
  CHECK_FALSE(rules->rule_for(loop_of_library(AccessOperation::kAtomic)).has_value());
  Finding own = loop_of_library(AccessOperation::kRead);
  own.accesses[0].inlined.erase(own.accesses[0].inlined.begin());
  CHECK_FALSE(rules->rule_for(own).has_value());
}

TEST_CASE("the comment right above a rule is its reason") {
  const auto suppressions = Suppressions::parse(
      "# a file of rules\n\n# two\n# lines\nkernel:a\nkernel:b\n\nkernel:c\n", "s.txt");
  REQUIRE(suppressions.has_value());
  const std::vector<SuppressionUse> rules = suppressions->rules();
  REQUIRE(rules.size() == 3);
  CHECK(rules[0].reason == "two lines");
  CHECK(rules[1].reason == "two lines");
  CHECK(rules[2].reason.empty());
}

TEST_CASE("the rules for libraries have reasons and take CUB's sort") {
  const auto rules = library_suppressions();
  REQUIRE(rules.has_value());
  for (const SuppressionUse& rule : rules->rules()) {
    CAPTURE(rule.rule);
    CHECK_FALSE(rule.reason.empty());
    // In the library's own code, or of the compiler's making.
    CHECK((rule.rule.find("library:") != std::string::npos) !=
          (rule.rule.find("Triton*compiler") != std::string::npos));
  }
  CHECK(rules->rule_for(library_finding()).has_value());
  Finding error = library_finding();
  error.severity = FindingSeverity::kError;
  CHECK_FALSE(rules->rule_for(error).has_value());
  CHECK_FALSE(rules->rule_for(samples::race()).has_value());
}

TEST_CASE("selections in place are left out where CUB both reads and overwrites, and only there") {
  const auto rules = library_suppressions();
  REQUIRE(rules.has_value());
  Finding race = library_finding();
  race.severity = FindingSeverity::kError;
  for (Access& access : race.accesses) {
    access.kernel = "void cub::detail::select::DeviceSelectSweepKernel<unsigned int>(int*)";
  }
  race.accesses[0].operation = AccessOperation::kRead;
  CHECK(rules->rule_for(race).has_value());
  Finding writes = race;
  writes.accesses[0].operation = writes.accesses[1].operation = AccessOperation::kWrite;
  CHECK_FALSE(rules->rule_for(writes).has_value());
  Finding in_block = race;
  in_block.kind = "intra-block";
  CHECK_FALSE(rules->rule_for(in_block).has_value());
  Finding by_operator = race;
  by_operator.accesses[0].inlined.insert(by_operator.accesses[0].inlined.begin(),
                                         {"IsOdd::operator()", "app.cu", 7});
  CHECK_FALSE(rules->rule_for(by_operator).has_value());
}

// The words are those of missing_order.cpp (missing_order_test.cpp has the sentence from there).
TEST_CASE("the fence that Triton's compiler leaves out is not the program's, one of CUDA C++ is") {
  const auto rules = library_suppressions();
  REQUIRE(rules);
  Finding finding = samples::race();
  finding.missing =
      "fence.proxy.async is missing, which Triton's compiler has to put there: versions from 3.7 "
      "on do";
  CHECK(rules->rule_for(finding).has_value());
  finding.missing = "fence.proxy.async is missing";
  CHECK_FALSE(rules->rule_for(finding).has_value());
}

TEST_CASE("the rules for libraries lie beside the build") {
  CHECK(library_suppressions_file() == BARRACUDA_BINARY_DIR "/share/barracuda/library.supp");
}

TEST_CASE("what is left out of libraries is told by its reason, and is none of the user's") {
  Report report;
  report.findings = {library_finding(), samples::race()};
  Options options;
  apply_filters(report, options, "kernel:sub");
  CHECK(report.findings == std::vector{samples::race()});
  CHECK(report.suppressed == 0);
  REQUIRE(report.suppressions.size() == 2);
  CHECK(report.suppressions[0] == SuppressionUse{.rule = "kernel:sub"});
  CHECK(report.suppressions[1].count == 1);
  CHECK(report.suppressions[1].reason.find("radix sort") != std::string::npos);

  report = {};
  report.findings = {library_finding()};
  options.library_suppressions = false;
  apply_filters(report, options, "");
  CHECK(report.findings.size() == 1);
  CHECK(report.suppressions.empty());
}

TEST_CASE("harmless races of a library that came too often leave no gap, those of the user do") {
  const Options options;
  const std::string gap = frequent_races_gap(options.race_limit);
  const auto gaps = [&](std::vector<Finding> findings, const std::string& suppressions = "") {
    Report report;
    report.findings = std::move(findings);
    report.coverage.gaps = {"another", gap};
    apply_filters(report, options, suppressions);
    return report.coverage.gaps;
  };
  Finding often = library_finding(), of_user = samples::race();
  often.count = of_user.count = options.race_limit;
  CHECK(gaps({often, samples::race()}) == std::vector<std::string>{"another"});
  CHECK(gaps({often, of_user}).size() == 2);
  CHECK(gaps({of_user}).size() == 2);
  CHECK(gaps({often, samples::race()}, "race:*").size() == 2);
}

TEST_CASE("ThreadSanitizer's lines mean what they mean there") {
  Finding finding = samples::race();
  finding.accesses[0].inlined.insert(finding.accesses[0].inlined.begin(),
                                     {"detail::helper(int)", "vendor/helper.cuh", 3});
  CHECK(suppresses("race:add(int*)", finding));
  CHECK(suppresses("race:^vendor/*.cuh$", finding));
  CHECK(suppresses("race:^app$", finding));
  CHECK(suppresses("race_top:helper", finding));
  CHECK_FALSE(suppresses("race:void add", finding));
  finding.accesses[1].inlined.insert(finding.accesses[1].inlined.begin(), {"copy", "copy.cuh", 3});
  CHECK_FALSE(suppresses("race_top:add", finding));
  finding.type = FindingType::kMemoryError;
  CHECK_FALSE(suppresses("race:add", finding));
}

// As compute-sanitizer 2025.3.1 wrote it on an H200: racecheck with --racecheck-report analysis (of
// a program with put<T>() and a kernel race<T>() in a namespace) and hazard, and synccheck.
constexpr const char* kAnalysis =
    "  <record>\n    <kind>Analysis</kind>\n    <level>Error</level>\n    <what>\n"
    "      <text>Race condition</text>\n      <source>\n        <direction>Read</direction>\n"
    "        <where>\n          <func>race</func>\n          <path>/tmp/p.cu</path>\n"
    "          <line>9</line>\n          <pc>0xc0</pc>\n        </where>\n      </source>\n"
    "      <destination>\n        <direction>Write</direction>\n        <where>\n"
    "          <func>put</func>\n          <path>/tmp/p.cu</path>\n          <line>3</line>\n"
    "          <pc>0x1c0</pc>\n        </where>\n        <count>256</count>\n"
    "      </destination>\n    </what>\n  </record>\n";
constexpr const char* kHazard =
    "  <record>\n    <kind>Hazard</kind>\n    <what>\n"
    "      <text>Potential RAW hazard detected</text>\n      <common>\n"
    "        <gridid>1</gridid>\n        <type>RAW</type>\n        <address>0x47c</address>\n"
    "      </common>\n      <thread0>\n        <access>Write</access>\n        <threadIdx>\n"
    "          <x>31</x>\n          <y>0</y>\n          <z>0</z>\n        </threadIdx>\n"
    "        <where>\n          <func>put</func>\n          <path>/tmp/p.cu</path>\n"
    "          <line>3</line>\n          <pc>0x140</pc>\n        </where>\n      </thread0>\n"
    "      <thread1>\n        <access>Read</access>\n        <where>\n"
    "          <func>race</func>\n          <path>/tmp/p.cu</path>\n          <line>9</line>\n"
    "          <pc>0xc0</pc>\n        </where>\n      </thread1>\n    </what>\n"
    "    <hostStack>\n      <saveLocation>kernel launch time</saveLocation>\n      <frame>\n"
    "        <func>cuLaunchKernel</func>\n        <pc>0x39fb94</pc>\n"
    "        <module>/usr/local/nvidia/lib64/libcuda.so.1</module>\n      </frame>\n"
    "    </hostStack>\n  </record>\n";
constexpr const char* kSynccheck =
    "  <record>\n    <kind>Synccheck</kind>\n    <who>\n      <threadIdx>\n        <x>0</x>\n"
    "      </threadIdx>\n    </who>\n    <what>\n      <text>Barrier error</text>\n"
    "      <type>Divergent thread(s) in warp</type>\n    </what>\n    <where>\n"
    "      <func>race</func>\n      <path>/tmp/p.cu</path>\n      <line>6</line>\n"
    "      <pc>0x80</pc>\n    </where>\n  </record>\n";

std::string sanitizer_file(const std::string& records) {
  return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ComputeSanitizerOutput>\n" + records +
         "</ComputeSanitizerOutput>\n";
}

Finding shared_race() {
  Finding finding = samples::race();
  finding.space = "shared";
  finding.accesses[0].place = {"void ns::put<int, 3>(int*, int)", "p.cu", 4};
  finding.accesses[1].place = {"void ns::race<int>(int*, ns::S)", "p.cu", 10};
  for (Access& access : finding.accesses) {
    access.inlined = {access.place};
    access.kernel = "void ns::race<int>(int*, ns::S)";
  }
  return finding;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

TEST_CASE("compute-sanitizer's XML leaves out the race between the places of its record") {
  const std::string record = GENERATE(kAnalysis, kHazard);
  const Finding race = shared_race();
  CHECK(suppresses(sanitizer_file(record), race));
  Finding turned = race;
  std::swap(turned.accesses[0], turned.accesses[1]);
  CHECK(suppresses(sanitizer_file(record), turned));

  Finding other = race;
  other.accesses[0] = other.accesses[1];  // both in the kernel
  CHECK_FALSE(suppresses(sanitizer_file(record), other));
  other = race;
  other.space = "global";
  CHECK_FALSE(suppresses(sanitizer_file(record), other));
  other = race;
  other.type = FindingType::kBarrierDivergence;
  CHECK_FALSE(suppresses(sanitizer_file(record), other));
  other = race;
  other.accesses[0].place.function = "void ns::input<int>(int*)";
  other.accesses[0].inlined.clear();
  CHECK_FALSE(suppresses(sanitizer_file(record), other));
  other = race;
  other.accesses[0].place.file = other.accesses[0].inlined[0].file = "q.cu";
  CHECK_FALSE(suppresses(sanitizer_file(record), other));
}

TEST_CASE("a record of compute-sanitizer's may be made wider by hand, as there") {
  const std::string any_function = replaced(kAnalysis, "<func>put</func>", "<func>.*</func>");
  CHECK(suppresses(sanitizer_file(any_function), shared_race()));
  const std::string some_path =
      replaced(kAnalysis, "<path>/tmp/p.cu</path>", "<path>.*p.cu</path>");
  CHECK(suppresses(sanitizer_file(some_path), shared_race()));
  const std::string no_path = replaced(kAnalysis, "<path>/tmp/p.cu</path>", "");
  CHECK(suppresses(sanitizer_file(no_path), shared_race()));
  const std::string other_kind = replaced(kAnalysis, "Analysis", "Initcheck");
  CHECK_FALSE(suppresses(sanitizer_file(other_kind), shared_race()));
  CHECK(Suppressions::parse(sanitizer_file(kAnalysis), "")->rules() ==
        std::vector<SuppressionUse>{{"<record> Analysis race put", 0}});
}

TEST_CASE(
    "synccheck's record is of a barrier divergence, with the device's stack where there is one") {
  Finding finding = shared_race();
  finding.type = FindingType::kBarrierDivergence;
  finding.accesses.resize(2);
  CHECK(suppresses(sanitizer_file(kSynccheck), finding));
  CHECK_FALSE(suppresses(sanitizer_file(kSynccheck), shared_race()));
  const std::string in_put = replaced(kSynccheck, "</where>\n",
                                      "</where>\n<deviceStack><frame><func>put</func>"
                                      "<path>/tmp/p.cu</path></frame></deviceStack>\n");
  CHECK(suppresses(sanitizer_file(in_put), finding));
  finding.accesses.erase(finding.accesses.begin());
  CHECK_FALSE(suppresses(sanitizer_file(in_put), finding));
}

TEST_CASE("a record of compute-sanitizer's that leaves out nothing in particular is an error") {
  const std::string nowhere = "<record><kind>Hazard</kind><what/></record>";
  for (const std::string& text :
       {sanitizer_file(nowhere), sanitizer_file(replaced(kSynccheck, "</where>", "")),
        std::string("<other/>")}) {
    const auto parsed = Suppressions::parse(text, "s.xml");
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().to_string().starts_with("s.xml"));
  }
  // What memcheck says of a call of the API has no place on the device, and is none of ours.
  CHECK(Suppressions::parse(sanitizer_file("<record><kind>Api</kind></record>"), "").has_value());
}

TEST_CASE("what is generated leaves out the bugs that it was made of, and no others") {
  const std::string text = suppressions_for(samples::racy_report());
  CHECK(text ==
        "# race, inter-block: add(int*) at add.cu:12 and add(int*) at add.cu:14\n"
        "fingerprint:0123456789abcdef0123456789abcdef\n");
  CHECK(suppresses(text));
  Finding other = samples::race();
  other.fingerprint = "fedcba9876543210fedcba9876543210";
  CHECK_FALSE(suppresses(text, other));
}

TEST_CASE("a finding that is no race has its type as kind") {
  Finding finding = samples::race();
  finding.type = FindingType::kMemoryError;
  finding.kind.clear();
  CHECK(suppresses("kind:memory-error", finding));
}

TEST_CASE("a line that cannot be understood is an error with its number") {
  for (const char* const text : {"\nrace:", "\nthread:add", "\nkernel",
                                 "\nkernel:", "\nkernel:'add", "\nkernel:void scan<int>()"}) {
    INFO(text);
    const auto suppressions = Suppressions::parse(text, "s.txt");
    REQUIRE_FALSE(suppressions.has_value());
    CHECK(suppressions.error().to_string().starts_with("s.txt:2: "));
  }
}

TEST_CASE("the filter drops what severity leaves out and counts what is suppressed") {
  Report report = samples::racy_report();
  report.findings.push_back(samples::race());
  report.findings.push_back(samples::race());
  report.findings[1].severity = FindingSeverity::kWarning;
  report.findings[2].kind = "intra-warp";
  Report errors = report;
  filter(errors, true, {});
  CHECK(errors.findings.size() == 2);
  CHECK(errors.suppressed == 0);
  filter(report, false, *Suppressions::parse("kind:intra-warp", ""));
  CHECK(report.findings.size() == 2);
  CHECK(report.suppressed == 1);
}

TEST_CASE("each rule knows how often it was used") {
  Report report = samples::racy_report();
  filter(report, false, *Suppressions::parse("kind:none\nkernel:add kind:inter\nkernel:add", ""));
  CHECK(report.suppressions == std::vector<SuppressionUse>{{"kind:none", 0},
                                                           {"kernel:add kind:inter", 1},
                                                           {"kernel:add", 0}});
}

}  // namespace
}  // namespace barracuda::report
