#include "report/resolve.h"

#include <fstream>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "base/strong_id.h"
#include "report/allocation_place.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::report {
namespace {

Finding resolved_race(const RunData& run) {
  const Report report = resolve(run, Options{});
  REQUIRE(report.findings.size() == 1);
  return report.findings.front();
}

TEST_CASE("a race gets its lines, names and kind") {
  const Finding race = resolved_race(samples::racy_run());
  CHECK(race.type == FindingType::kRace);
  CHECK(race.severity == FindingSeverity::kError);
  CHECK(race.kind == "inter-block");
  CHECK(race.space == "global");
  CHECK(race.count == 12);
  REQUIRE(race.accesses.size() == 2);
  CHECK(race.accesses[0].operation == AccessOperation::kWrite);
  CHECK(race.accesses[0].place == Frame{"add(int*)", "/src/add.cu", 12});
  CHECK(race.accesses[1].operation == AccessOperation::kRead);
  CHECK(race.accesses[1].place == Frame{"add(int*)", "/src/add.cu", 14});
  CHECK(race.accesses[0].kernel == "add(int*)");
  CHECK(race.accesses[0].launch == 1);
}

TEST_CASE("linear indices become coordinates of the launch") {
  const Finding race = resolved_race(samples::racy_run());
  const Access& access = race.accesses[1];
  REQUIRE(access.has_thread);
  CHECK(access.grid == Coordinates{4, 2, 1});
  CHECK(access.block == Coordinates{1, 1, 0});   // 5 in a 4×2 grid
  CHECK(access.thread == Coordinates{3, 2, 0});  // lane 3 of warp 1: 35 in a 16×4 block
  CHECK(access.warp == 1);
  CHECK(access.lane == 3);
  CHECK(race.missing.starts_with("no synchronisation between block 0 and block [1,1,0], "));
}

TEST_CASE("pairs of sites on the same pair of lines are one race") {
  RunData run = samples::racy_run();
  for (std::uint32_t copy : {2U, 3U}) {
    ptx::Site site = run.sites[copy - 2];
    site.id = wire::SiteId{copy};
    run.sites.own().push_back(site);
  }
  detector::RaceEvent unrolled = run.findings.races[0];
  std::swap(unrolled.first, unrolled.second);
  unrolled.first.site = wire::SiteId{3};
  unrolled.second.site = wire::SiteId{2};
  run.findings.races.push_back(unrolled);
  CHECK(resolved_race(run).count == 24);

  run.findings.races[0].kind = detector::RaceKind::kIntraWarp;
  run.findings.races[1].kind = detector::RaceKind::kIntraBlock;
  CHECK(resolve(run, Options{}).findings.size() == 2);
}

TEST_CASE("a location is said to be one of several where the lines race at others as well") {
  RunData run = samples::racy_run();
  const Finding alone = resolved_race(run);
  CHECK_THAT(alone.location, Catch::StartsWith("byte 16 of 256 bytes"));
  CHECK(!alone.has_other_places);
  run.findings.races.push_back(run.findings.races[0]);  // the same place again
  CHECK(!resolved_race(run).has_other_places);
  run.findings.races[1].first.address += 4;  // of another copy of the two lines
  CHECK(resolved_race(run).has_other_places);
  CHECK(resolved_race(run).location == alone.location);
  run.findings.races.pop_back();
  run.findings.races[0].is_elsewhere = true;
  CHECK(resolved_race(run).has_other_places);
  CHECK(resolved_race(run).location == alone.location);
}

TEST_CASE("an operation on an mbarrier, and a store that is logged as a copy, are writes") {
  RunData run = samples::racy_run();
  ptx::Site& site = run.sites.own()[0];
  for (const auto& [operation, instruction, is_called] :
       {std::tuple(wire::Operation::kMbarrierInit, "mbarrier.init.shared::cta.b64",
                   AccessOperation::kWrite),
        std::tuple(wire::Operation::kMbarrierArrive, "mbarrier.arrive.shared::cta.b64",
                   AccessOperation::kWrite),
        std::tuple(wire::Operation::kMbarrierWait, "mbarrier.test_wait.shared::cta.b64",
                   AccessOperation::kRead),
        std::tuple(wire::Operation::kCopy, "st.bulk.weak.shared::cta", AccessOperation::kWrite),
        std::tuple(wire::Operation::kCopy, "tensormap.replace.tile.global_address.global.b1024.b64",
                   AccessOperation::kWrite),
        std::tuple(wire::Operation::kCopy, "cp.async.bulk.global.shared::cta.bulk_group",
                   AccessOperation::kCopy)}) {
    site.info.operation = operation;
    site.instruction = instruction;
    CHECK(resolved_race(run).accesses[0].operation == is_called);
  }
}

TEST_CASE("a register of a product under way is a finding with both lines") {
  RunData run;
  ptx::RegisterHazard hazard{.kind = ptx::RegisterHazard::Kind::kReadInFlight,
                             .function = "_Z3addPi",
                             .register_name = "%f7"};
  hazard.product = {.instruction = "wgmma.mma_async",
                    .ptx_line = 40,
                    .frames = {{.function = "_Z3addPi", .file = "/src/add.cu", .line = 12}}};
  hazard.touch = {.instruction = "add.f32",
                  .ptx_line = 50,
                  .frames = {{.function = "_Z3addPi", .file = "/src/add.cu", .line = 14}}};
  run.register_hazards = {hazard};
  Report report = resolve(run, Options{});
  REQUIRE(report.findings.size() == 1);
  const Finding& finding = report.findings.front();
  CHECK(finding.type == FindingType::kAsyncRegister);
  CHECK(finding.severity == FindingSeverity::kError);
  CHECK(finding.missing ==
        "register %f7 is read before wgmma.wait_group has waited for the product that uses it");
  REQUIRE(finding.accesses.size() == 2);
  CHECK(finding.accesses[0].place.line == 12);
  CHECK(finding.accesses[1].place.line == 14);
  CHECK(finding.accesses[1].kernel == "add(int*)");
  hazard.kind = ptx::RegisterHazard::Kind::kFenceMissing;
  run.register_hazards = {hazard};
  report = resolve(run, Options{});
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].missing ==
        "register %f7 is written, and a product uses it without a wgmma.fence between the two");
  CHECK(report.findings[0].accesses[0].place.line == 14);
}

TEST_CASE("without line information pairs of sites stay apart") {
  RunData run = samples::racy_run();
  for (ptx::Site& site : run.sites.own()) {
    site.frames.clear();
  }
  run.findings.races.push_back(run.findings.races[0]);
  run.findings.races[1].second.site = wire::SiteId{0};
  CHECK(resolve(run, Options{}).findings.size() == 2);
}

TEST_CASE("an access to an unknown launch has no thread") {
  RunData run = samples::racy_run();
  run.launches.clear();
  const Finding race = resolved_race(run);
  CHECK_FALSE(race.accesses[0].has_thread);
  CHECK(race.accesses[0].kernel.empty());
}

TEST_CASE("a site that does not exist leaves its fields unknown") {
  RunData run = samples::racy_run();
  run.findings.races[0].second.site = wire::SiteId{99};
  const Finding race = resolved_race(run);
  CHECK(race.accesses[1].operation == AccessOperation::kUnknown);
  CHECK(race.accesses[1].place == Frame{});
}

TEST_CASE("the place is the innermost frame outside CUDA's headers") {
  RunData run = samples::racy_run();
  run.sites.own()[0].frames = {{"_ZN4cuda3std6atomicIiE5storeEi",
                                "/usr/local/cuda-13.0/include/cccl/cuda/std/atomic", 70, 1},
                               {"_Z7publishPi", "/src/publish.h", 8, 3},
                               {"_Z3addPi", "/src/add.cu", 12, 5}};
  const Access access = resolved_race(run).accesses[0];
  CHECK(access.place == Frame{"publish(int*)", "/src/publish.h", 8});
  REQUIRE(access.inlined.size() == 3);
  CHECK(access.inlined[0].line == 70);
  CHECK(access.inlined[2] == Frame{"add(int*)", "/src/add.cu", 12});
}

TEST_CASE("a function of CUDA's own is placed at its caller") {
  RunData run = samples::racy_run();
  run.sites.own()[0].frames = {{"sync", "/usr/local/cuda/include/cooperative_groups.h", 400, 1}};
  run.sites.own().push_back(
      samples::site(2, wire::Operation::kCall, {{"_Z3addPi", "/src/add.cu", 30, 1}}));
  run.findings.races[0].first.call_stack = {wire::SiteId{2}};
  const Access access = resolved_race(run).accesses[0];
  CHECK(access.place == Frame{"add(int*)", "/src/add.cu", 30});
  REQUIRE(access.callers.size() == 1);
  CHECK(access.callers[0].line == 30);
}

TEST_CASE("without line information the function and its PTX line remain") {
  RunData run = samples::racy_run();
  run.sites.own()[0].frames.clear();
  const Access access = resolved_race(run).accesses[0];
  CHECK(access.place == Frame{"add(int*)", "", 0});
  CHECK(access.ptx_line == 40);
  CHECK(access.instruction == "st.global.u32");
}

TEST_CASE("the outermost frame takes the function's name where .loc has none") {
  RunData run = samples::racy_run();
  run.sites.own()[0].frames[0].function.clear();
  CHECK(resolved_race(run).accesses[0].place.function == "add(int*)");
}

TEST_CASE("an address falls into the allocation that is live there") {
  RunData run = samples::racy_run();
  run.allocations = {{.address = 0x1000, .bytes = 64, .description = "cudaMalloc", .freed = true},
                     {.address = 0x1000, .bytes = 256, .description = "managed memory"},
                     {.address = 0x2000, .bytes = 256, .description = "elsewhere"}};
  CHECK(resolved_race(run).location == "byte 16 of 256 bytes at 0x1000 (managed memory)");
  run.allocations.resize(1);
  CHECK(resolved_race(run).location == "byte 16 of 64 bytes at 0x1000 (cudaMalloc, freed since)");
  run.allocations.clear();
  CHECK(resolved_race(run).location.empty());
}

TEST_CASE("shared memory is located in its block") {
  RunData run = samples::racy_run();
  detector::RaceEvent& race = run.findings.races[0];
  race.kind = detector::RaceKind::kIntraBlock;
  race.first.space = race.second.space = wire::AddressSpace::kShared;
  race.first.address = race.second.address = 20;
  const Finding finding = resolved_race(run);
  CHECK(finding.space == "shared");
  CHECK(finding.location == "byte 20 of the shared memory of block 0");
  race.shared_of = 1;  // of a cluster's other block
  CHECK(resolved_race(run).location == "byte 20 of the shared memory of block 1");
  CHECK(finding.accesses[0].object.empty());  // a parameter's name says nothing
}

TEST_CASE("what the logger has of a block's shared memory is not counted") {
  RunData run = samples::racy_run();
  run.launches[0].logger_bytes = 32;
  detector::RaceEvent& race = run.findings.races[0];
  race.first.space = race.second.space = wire::AddressSpace::kSharedCluster;
  race.first.address = race.second.address = std::uint64_t{3} << 32 | 52;
  const Finding finding = resolved_race(run);
  CHECK(finding.location == "byte 20 of the shared memory of the block with rank 3 in the cluster");
  CHECK(finding.accesses[1].address == (std::uint64_t{3} << 32 | 20));
  race.first.address = race.second.address = 8;  // of none of the program's
  CHECK(resolved_race(run).accesses[0].address == 8);
}

TEST_CASE(
    "an element of an array has its index, in shared memory and of a variable of the module") {
  const ScratchFolder folder;
  const std::string file = folder / "add.cu";
  REQUIRE(write_file(file, "__global__ void add(int* p) {\n  tile[i] = 1;\n  p[0] = tile[j];\n}\n")
              .has_value());
  RunData run = samples::racy_run();
  detector::RaceEvent& race = run.findings.races[0];
  race.first.space = race.second.space = wire::AddressSpace::kShared;
  race.first.address = race.second.address = 136;
  race.first.size = race.second.size = 4;
  std::uint32_t line = 2;
  for (ptx::Site& site : run.sites.own()) {
    site.frames = {{.function = "_Z3addPi", .file = file, .line = line++, .column = 1}};
    site.variable = "_ZZ3addPiE4tile@8:256";
  }
  CHECK_THAT(resolved_race(run).location,
             Catch::EndsWith("byte 136 of the shared memory of block 0 (tile[32])"));
  CHECK(resolved_race(run).accesses[0].object == "tile");
  run.sites.own()[1].variable += "/8";  // a member of a structure
  CHECK_THAT(resolved_race(run).location, Catch::EndsWith("of block 0 (tile)"));
  for (ptx::Site& site : run.sites.own()) {
    site.variable = "_ZZ3addPiE4tile@128:0";  // dynamic
  }
  CHECK_THAT(resolved_race(run).location, Catch::EndsWith("of block 0 (tile[2])"));
  race.first.space = race.second.space = wire::AddressSpace::kGlobal;
  race.first.address = race.second.address = 0x1010;
  run.allocations = {{.address = 0x1000,
                      .bytes = 64,
                      .description = describe_variable("__device__", "ns::tile"),
                      .freed = false}};
  CHECK(resolved_race(run).location ==
        "byte 16 of 64 bytes at 0x1000 (__device__ variable ns::tile[4])");
  run.sites.own()[0].variable = "_ZN2ns4tileE/12";
  CHECK(resolved_race(run).location ==
        "byte 16 of 64 bytes at 0x1000 (__device__ variable ns::tile)");
}

TEST_CASE("on a GPU the element of shared memory is named by what a launch has told") {
  const ScratchFolder folder;
  const std::string file = folder / "add.cu";
  REQUIRE(write_file(file, "__global__ void add(int* p) {\n  tile[i] = 1;\n  p[0] = tile[j];\n}\n")
              .has_value());
  RunData run = samples::racy_run();
  detector::RaceEvent& race = run.findings.races[0];
  race.first.space = race.second.space = wire::AddressSpace::kShared;
  race.first.address = race.second.address = 1160;
  race.first.size = race.second.size = 4;
  std::uint32_t line = 2;
  for (ptx::Site& site : run.sites.own()) {
    site.frames = {{.function = "_Z3addPi", .file = file, .line = line++, .column = 1}};
    site.variable = "_ZZ3addPiE4tile";
  }
  const auto add_list = [&](const std::string& kernel, const std::string& variables) {
    ptx::Site list;
    list.id = wire::SiteId{static_cast<std::uint32_t>(run.sites.size())};
    list.info.operation = wire::Operation::kSharedPlace;
    list.function = kernel;
    list.variable = variables;
    run.sites.own().push_back(list);
    return list.id;
  };
  const auto other_kernel = add_list("_Z3subPi", "_ZZ3addPiE4tile:64");
  const auto own = add_list("_Z3addPi", "_ZZ3addPiE3til:8 _ZZ3addPiE4tile:256");
  const auto later_module = add_list("_Z3addPi", "_ZZ3addPiE4tile:64");
  const auto location = [&](std::vector<detector::SharedPlace> places) {
    run.findings.shared_places = std::move(places);
    return resolved_race(run).location;
  };
  const std::string begin = "byte 1160 of the shared memory of block 0 ";
  CHECK(location({}) == begin + "(tile)");
  CHECK(location({{other_kernel, 0, 1100}, {own, 0, 1024}, {own, 1, 1032}, {later_module, 0, 8}}) ==
        begin + "(tile[32])");
  CHECK(location({{own, 0, 1024}}) == begin + "(tile)");                  // of another variable
  CHECK(location({{own, 1, 1032}, {own, 1, 2056}}) == begin + "(tile)");  // or on another device
  run.sites.own()[index_of(own)].variable = "_ZZ3addPiE4tile:0";          // dynamic
  CHECK(location({{own, 0, 1152}}) == begin + "(tile[2])");
  run.launches[0].kernel = "_Z3mulPi";
  CHECK(location({{own, 0, 1152}}) == begin + "(tile)");
}

TEST_CASE("a variable in shared memory is named by the access that tells it") {
  RunData run = samples::racy_run();
  detector::RaceEvent& race = run.findings.races[0];
  race.first.space = race.second.space = wire::AddressSpace::kShared;
  run.sites.own()[0].variable = "";  // a copy
  run.sites.own()[1].variable = "_ZZ3addPiE4tile_$_2";
  CHECK_THAT(resolved_race(run).location,
             Catch::EndsWith("of the shared memory of block 0 (tile)"));
  race.first.space = wire::AddressSpace::kSharedCluster;
  race.first.address = (std::uint64_t{3} << 32) + 20;
  CHECK(resolved_race(run).location ==
        "byte 20 of the shared memory of the block with rank 3 in the cluster (tile)");
}

TEST_CASE("a variable in shared memory is named, unless it may be one of several") {
  RunData run = samples::racy_run();
  detector::RaceEvent& race = run.findings.races[0];
  race.first.space = race.second.space = wire::AddressSpace::kShared;
  run.sites.own()[0].variable = "_ZZ3addPiE4tile";
  run.sites.own()[1].variable = "_ZZ3addPiE4left, _ZZ3addPiE5right";
  const Finding finding = resolved_race(run);
  CHECK_THAT(finding.location, Catch::EndsWith("of the shared memory of block 0 (tile)"));
  CHECK(finding.accesses[0].object == "tile");
  CHECK(finding.accesses[1].object.empty());
}

TEST_CASE("the program's line has its text where the file is at hand") {
  const ScratchFolder folder;
  const std::string file = folder / "add.cu";
  std::ofstream(file) << "// one\n\n  a[i]  = 1;\n";
  RunData run = samples::racy_run();
  run.sites.own()[0].frames = {{"_Z3addPi", file, 3, 5}};
  const Finding finding = resolved_race(run);
  CHECK(finding.accesses[0].source == "a[i] = 1;");
  CHECK(finding.accesses[1].source.empty());
}

TEST_CASE("a copy has the place of its call, and the kernel's access its location") {
  RunData run = samples::racy_run();
  detector::RaceEvent& race = run.findings.races[0];
  race.kind = detector::RaceKind::kKernelCopy;
  race.first = {.site = detector::CallId{3},
                .call_stack = {},
                .thread = {.launch = detector::CopyId{9}},
                .address = 0xff0,
                .size = std::uint64_t{5} << 30};
  run.copies = {{.call = detector::CallId{3},
                 .operation = detector::HostOperation::kCopy,
                 .stream = 2,
                 .host_stack = {},
                 .place = {.function = "main()", .file = "/src/main.cu", .line = 70, .column = 0}}};
  const Finding finding = resolve(run, Options{}).findings.front();
  CHECK(finding.kind == "kernel-copy");
  CHECK_THAT(
      finding.missing,
      Catch::StartsWith("no stream order, event or synchronisation between the copy and launch 1: "
                        "both belong on one stream, or"));
  const Access& copy = finding.accesses[0];
  CHECK(copy.operation == AccessOperation::kCopy);
  CHECK(copy.place == Frame{.function = "main()", .file = "/src/main.cu", .line = 70});
  CHECK(copy.size == std::uint64_t{5} << 30);
  CHECK(copy.stream == 2);
  CHECK_FALSE(copy.has_thread);
  CHECK(finding.location == "byte 16 of 256 bytes at 0x1000 (cudaMalloc)");
}

TEST_CASE("what a side synchronised by last is said where it is known") {
  RunData run = samples::racy_run();
  detector::RaceEvent& race = run.findings.races[0];
  race.first.last_sync = detector::LastSync::kNone;
  race.second.last_sync = detector::LastSync::kKnown;
  race.second.last_sync_site = wire::SiteId{0};
  race.second.syncs = {{.site = wire::SiteId{0}},
                       {.site = wire::SiteId{0}, .when = detector::SyncWhen::kAfter}};
  race.first.has_all_syncs = true;
  const Finding finding = resolve(run, Options{}).findings.front();
  CHECK(finding.accesses[0].last_sync == "none");
  CHECK(finding.accesses[1].last_sync == "st.global.u32");
  CHECK(finding.accesses[1].last_sync_place.line == 12);
  CHECK(finding.accesses[0].has_all_syncs);
  CHECK(finding.accesses[0].syncs.empty());
  REQUIRE(finding.accesses[1].syncs.size() == 2);
  CHECK_FALSE(finding.accesses[1].has_all_syncs);
  // Where barriers that order nothing are not logged, none that was logged is not none.
  run.launches[0].leaves_out_barriers = true;
  CHECK(resolve(run, Options{}).findings.front().accesses[0].last_sync == "unknown");
  CHECK(finding.accesses[1].syncs[0].place == finding.accesses[1].last_sync_place);
  CHECK(finding.accesses[1].syncs[1].when == detector::SyncWhen::kAfter);
  race.second.last_sync = detector::LastSync::kUnknown;
  CHECK(resolve(run, Options{}).findings.front().accesses[1].last_sync == "unknown");
  race.second.last_sync = detector::LastSync::kNotAsked;
  CHECK(resolve(run, Options{}).findings.front().accesses[1].last_sync.empty());
}

TEST_CASE("barrier divergence says where everybody is") {
  RunData run = samples::racy_run();
  run.findings.races.clear();
  run.sites.own().push_back(
      samples::site(2, wire::Operation::kBarrier, {{"_Z3addPi", "/src/add.cu", 20, 1}}));
  run.sites.own().push_back(
      samples::site(3, wire::Operation::kExit, {{"_Z3addPi", "/src/add.cu", 22, 1}}));
  detector::BarrierDivergence divergence;
  divergence.launch = detector::LaunchId{1};
  divergence.arrived.site = wire::SiteId{2};
  divergence.arrived.thread.launch = divergence.launch;
  divergence.elsewhere = {divergence.arrived};
  divergence.elsewhere[0].site = wire::SiteId{3};
  run.findings.divergences = {divergence};
  const Finding finding = resolved_race(run);
  CHECK(finding.type == FindingType::kBarrierDivergence);
  REQUIRE(finding.accesses.size() == 2);
  CHECK(finding.accesses[0].note == "waits at barrier 0");
  CHECK(finding.accesses[1].note == "has left the kernel");
  CHECK(finding.accesses[1].place.line == 22);
  CHECK_FALSE(finding.accesses[0].has_address);
}

TEST_CASE("an address in no allocation is so far from the nearest") {
  RunData run = samples::racy_run();
  run.findings.races.clear();
  run.allocations = {
      {.address = 0x100000, .bytes = 0x100, .description = "cudaMalloc", .freed = false},
      {.address = 0x110000, .bytes = 0x10, .description = "cudaMalloc", .freed = true},
      {.address = 0x200000, .bytes = 0x40, .description = "managed memory", .freed = false}};
  MemoryErrorRecord error;
  error.what = "an out-of-bounds global write of 4 bytes";
  error.size = 4;
  run.memory_errors = {error};
  const auto location_of = [&run](std::uint64_t address) {
    run.memory_errors[0].address = address;
    return resolved_race(run).location;
  };
  CHECK(location_of(0x100010) == "byte 16 of 256 bytes at 0x100000 (cudaMalloc)");
  CHECK(location_of(0x100100) ==
        "0 bytes behind the end of the 256 bytes at 0x100000 (cudaMalloc)");
  CHECK(location_of(0x120000) ==
        "130816 bytes behind the end of the 256 bytes at 0x100000 (cudaMalloc)");
  CHECK(location_of(0x110008) == "byte 8 of 16 bytes at 0x110000 (cudaMalloc, freed since)");
  CHECK(location_of(0x110012) ==
        "2 bytes behind the end of the 16 bytes at 0x110000 (cudaMalloc, freed since)");
  CHECK(location_of(0x1fffc0) == "64 bytes before the 64 bytes at 0x200000 (managed memory)");
  CHECK(location_of(0x1ffffe) ==
        "2 bytes before the 64 bytes at 0x200000 (managed memory), into which it reaches");
  CHECK(location_of(8) == "none: byte 8 behind a null pointer");
  CHECK(location_of(0) == "none: a null pointer");
  run.allocations.clear();
  CHECK(location_of(0x100010) == "none: nothing is allocated");
  run.memory_errors[0].what = "an out-of-bounds shared write of 4 bytes";
  CHECK(location_of(0x100010).empty());
}

TEST_CASE("a memory error has its place and thread, or says nothing of them") {
  RunData run = samples::racy_run();
  run.findings.races.clear();
  MemoryErrorRecord error;
  error.what = "out-of-bounds write of 4 bytes";
  error.where = {"_Z3addPi", "/src/add.cu", 12, 1};
  error.kernel = "_Z3addPi";
  error.launch = detector::LaunchId{1};
  error.address = 0x10ff;
  error.size = 4;
  error.is_write = true;
  error.has_thread = true;
  error.thread = {3, 2, 0};
  run.memory_errors = {error};
  const Access known = resolved_race(run).accesses.front();
  CHECK(known.place == Frame{"add(int*)", "/src/add.cu", 12});
  CHECK(known.operation == AccessOperation::kWrite);
  CHECK(known.warp == 1);
  CHECK(known.lane == 3);
  run.memory_errors[0].size = 0;
  const Access trap = resolved_race(run).accesses.front();
  CHECK(trap.has_thread);
  CHECK(trap.lane == 3);
  CHECK(trap.note == "ended its kernel");
  CHECK_FALSE(trap.has_address);
  run.memory_errors[0].has_thread = false;
  const Access unknown = resolved_race(run).accesses.front();
  CHECK_FALSE(unknown.has_thread);
  CHECK_FALSE(unknown.has_address);
  CHECK(unknown.operation == AccessOperation::kUnknown);
  CHECK(unknown.note.empty());
  run.memory_errors[0].where = {};
  const Access of_gpu = resolved_race(run).accesses.front();
  CHECK(of_gpu.kernel == "add(int*)");
  CHECK(of_gpu.launch == 1);
  CHECK(of_gpu.note == "ended its kernel; the GPU does not say which thread or where");
}

TEST_CASE("a kernel that did not end is a finding of its own type, with where its threads were") {
  RunData run = samples::racy_run();
  run.findings.races.clear();
  MemoryErrorRecord error;
  error.end = KernelEnd::kTimeout;
  error.what = "did not end within 2 s (launch-timeout)";
  error.kernel = "_Z3addPi";
  error.launch = detector::LaunchId{1};
  error.standing = {{.frames = {{"_Z3addPi", "/src/add.cu", 12, 1}},
                     .block = {1, 0, 0},
                     .thread = {3, 2, 0},
                     .waits = false},
                    {.frames = {{"_Z3addPi", "/src/add.cu", 14, 1}},
                     .block = {1, 0, 0},
                     .thread = {0, 0, 0},
                     .waits = true}};
  run.memory_errors = {error};
  const Finding timeout = resolved_race(run);
  CHECK(timeout.type == FindingType::kTimeout);
  CHECK(timeout.missing == "kernel add(int*) did not end within 2 s (launch-timeout)");
  REQUIRE(timeout.accesses.size() == 2);
  CHECK(timeout.accesses[0].note == "runs here");
  CHECK(timeout.accesses[0].place == Frame{"add(int*)", "/src/add.cu", 12});
  CHECK(timeout.accesses[0].warp == 1);
  CHECK(timeout.accesses[1].note == "waits here");
  run.memory_errors[0].end = KernelEnd::kDeadlock;
  run.memory_errors[0].what = "deadlock: all threads of block (1,0,0) wait";
  const Finding deadlock = resolved_race(run);
  CHECK(deadlock.type == FindingType::kDeadlock);
  CHECK(deadlock.missing == "deadlock: all threads of block (1,0,0) wait");
}

}  // namespace
}  // namespace barracuda::report
