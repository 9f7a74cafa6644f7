// Data that several tests of the report start from: a racy program as the session sees it, and the
// report of one race.
#pragma once

#include "report/race_report.h"
#include "report/run_data.h"

namespace barracuda::report::samples {

inline ptx::Site site(std::uint32_t id, wire::Operation operation,
                      std::vector<ptx::SourceFrame> frames) {
  ptx::Site site;
  site.id = wire::SiteId{id};
  site.info.operation = operation;
  site.function = "_Z3addPi";
  site.in_entry = true;
  site.instruction = "st.global.u32";
  site.ptx_line = 40 + id;
  site.variable = "_Z3addPi_param_0";
  site.frames = std::move(frames);
  return site;
}

// Kernel add(int*), 4×2 blocks of 16×4 threads; block 5's warp 1 writes what block 0 has written.
inline RunData racy_run() {
  RunData run;
  run.sites = {site(0, wire::Operation::kWrite, {{"_Z3addPi", "/src/add.cu", 12, 5}}),
               site(1, wire::Operation::kRead, {{"_Z3addPi", "/src/add.cu", 14, 5}})};
  LaunchRecord launch;
  launch.id = detector::LaunchId{1};
  launch.kernel = "_Z3addPi";
  launch.grid = {4, 2, 1};
  launch.block = {16, 4, 1};
  run.launches = {launch};
  run.launch_count = 1;
  run.kernels = {{.name = "_Z3addPi", .instrumented = true, .reason = "", .launches = 1}};
  run.allocations = {{.address = 0x1000, .bytes = 256, .description = "cudaMalloc"}};
  detector::RaceEvent race;
  race.first.site = wire::SiteId{0};
  race.first.thread = {.launch = launch.id, .cta = 0, .warp = 0, .lane = 0};
  race.first.address = 0x1010;
  race.first.size = 4;
  race.second = race.first;
  race.second.site = wire::SiteId{1};
  race.second.thread = {.launch = launch.id, .cta = 5, .warp = 1, .lane = 3};
  race.count = 12;
  run.findings.races = {race};
  run.process = {.program = "app", .pid = 42};
  run.used_cuda = true;
  run.device = "emulated device";
  return run;
}

inline Report clean_report() {
  Report report;
  report.processes = {{.program = "app", .pid = 42}};
  report.model = "ptx";
  report.coverage = {
      .launches = 3, .instrumented = {"add(int*)"}, .not_instrumented = {}, .gaps = {}};
  return report;
}

inline Access access(AccessOperation operation, std::uint32_t line, std::uint32_t block) {
  Access access;
  access.operation = operation;
  access.size = 4;
  access.address = 0x7f0010;
  access.has_address = true;
  access.place = {.function = "add(int*)", .file = "add.cu", .line = line};
  access.inlined = {access.place};
  access.kernel = "add(int*)";
  access.launch = 1;
  access.has_thread = true;
  access.thread = {3, 0, 0};
  access.block = {block, 0, 0};
  access.lane = 3;
  access.launched_from = "main() at add.cu:30";
  return access;
}

inline Finding race() {
  Finding finding;
  finding.kind = "inter-block";
  finding.space = "global";
  finding.count = 12;
  finding.missing = "no synchronisation between block 0 and block 1";
  finding.location = "byte 16 of 256 bytes at 0x7f0000 (cudaMalloc)";
  finding.accesses = {access(AccessOperation::kWrite, 12, 0),
                      access(AccessOperation::kRead, 14, 1)};
  finding.fingerprint = "0123456789abcdef0123456789abcdef";
  finding.processes = {{.program = "app", .pid = 42}};
  return finding;
}

inline Report racy_report() {
  Report report = clean_report();
  report.findings = {race()};
  return report;
}

}  // namespace barracuda::report::samples
