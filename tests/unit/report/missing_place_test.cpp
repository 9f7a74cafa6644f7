// Where a barrier or another order belongs that is missing in a particular kind of code.
#include <string>

#include <catch2/catch.hpp>

#include "report/missing_order.h"
#include "tests/unit/report/missing_order_sample.h"

namespace barracuda::report {
namespace {

using samples::MissingOrderSample;

}  // namespace

TEST_CASE("updates of different places in the steps of a loop want its barrier, no atomic") {
  MissingOrderSample sample;
  sample.race.kind = detector::RaceKind::kIntraBlock;
  sample.sites[0].update = 1;
  sample.sites[1].update = 2;
  CHECK_THAT(sample.text(), Catch::Contains("atomicAdd()"));
  LoopRounds steps;
  steps.are_steps = steps.across = true;
  steps.within = false;
  CHECK_THAT(sample.text(steps),
             Catch::Contains("__syncthreads() is missing before the next round of their loop"));
}

TEST_CASE("no atomic operation changes two places by what both hold") {
  MissingOrderSample sample;
  sample.race.kind = detector::RaceKind::kIntraBlock;
  sample.sites.push_back(sample.sites[1]);  // it reads two places
  for (ptx::Site& site : sample.sites) {
    site.update = 1;
  }
  CHECK_THAT(sample.text(), Catch::StartsWith("__syncthreads() is missing between the two"));
  sample.sites[0].frames = sample.sites[1].frames;
  CHECK_THAT(sample.text(), Catch::Contains("each place needs one thread, or a lock"));
  LoopRounds steps;
  steps.are_steps = steps.across = true;
  steps.within = false;
  const std::string next_round = "__syncthreads() is missing before the next round of their loop";
  CHECK_THAT(sample.text(steps), Catch::StartsWith(next_round));
  sample.race.first.site = sample.race.second.site;
  CHECK_THAT(sample.text(steps), Catch::StartsWith(next_round));
  sample.race.first.site = wire::SiteId{0};
  sample.sites.push_back(sample.sites[1]);
  sample.sites.push_back(sample.sites[1]);
  for (std::size_t other : {1, 3, 4}) {
    sample.sites[other].update = 2;
  }
  sample.sites.push_back(sample.sites[2]);
  CHECK_THAT(sample.text(), Catch::StartsWith("__syncthreads() is missing between the two"));
  sample.race.kind = detector::RaceKind::kInterBlock;
  sample.sites[1].frames[0].line =
      10;  // what is read first is no array that another one can be for
  CHECK_THAT(sample.text(), Catch::Contains("a barrier of the whole grid"));
}

TEST_CASE("a function that is called twice wants the barrier between the calls") {
  MissingOrderSample sample;
  sample.race.kind = detector::RaceKind::kIntraBlock;
  sample.race.second.call_stack = {wire::SiteId{5}};
  const std::string text = "__syncthreads() is missing between the two calls of their function";
  for (ptx::Site& site : sample.sites) {
    site.in_entry = true;
  }
  CHECK_THAT(sample.text(), !Catch::Contains(text));
  for (ptx::Site& site : sample.sites) {
    site.in_entry = false;
  }
  CHECK_THAT(sample.text(), Catch::Contains(text));
  sample.race.first.call_stack = sample.race.second.call_stack;
  CHECK_THAT(sample.text(), !Catch::Contains(text));
}

TEST_CASE("who zeroes what other blocks of the cluster count in wants the cluster's barrier") {
  MissingOrderSample sample;
  sample.second.operation = AccessOperation::kAtomic;
  CHECK_THAT(sample.text(), Catch::Contains("must be atomic as well"));
  sample.race.needed_scope = wire::Scope::kCluster;
  CHECK_THAT(sample.text(), Catch::Contains("cluster.sync() is missing"));
}

TEST_CASE("in a kernel that has a barrier of the grid, one more of it is missing between blocks") {
  MissingOrderSample sample;
  sample.sites.push_back(
      samples::site(2, wire::Operation::kBarrier,
                    {{"_ZN18cooperative_groups4__v17details10sync_gridsEjPVj",
                      "/usr/local/cuda/include/cooperative_groups/details/sync.h", 90, 5},
                     {"_Z3addPi", "/src/add.cu", 13, 5}}));
  CHECK_THAT(sample.text(),
             Catch::Contains("one more grid.sync() is missing between the two accesses"));
  sample.sites[2].function = "another";
  CHECK_THAT(sample.text(), !Catch::Contains("grid.sync()"));
}

TEST_CASE("a copy and a kernel of one stream are nodes of a graph") {
  MissingOrderSample sample;
  sample.race.kind = detector::RaceKind::kKernelCopy;
  sample.first.operation = AccessOperation::kCopy;
  sample.first.is_by_host = true;
  sample.second.launch = 3;
  CHECK(sample.text() ==
        "the copy and launch 3 are nodes of a graph with no way from one to the other: a "
        "dependency between them is missing");
  sample.first.stream = 7;
  CHECK_THAT(sample.text(), Catch::Contains("no stream order, event or synchronisation"));
}

TEST_CASE("who publishes for its block wants a barrier behind what the others did") {
  MissingOrderSample sample;
  sample.race.missing = detector::MissingOrder::kBlockBarrierMissing;
  sample.race.about = wire::SiteId{1};
  CHECK_THAT(sample.text(),
             Catch::Contains("by another thread of block 0, which nothing orders behind the write: "
                             "__syncthreads() is missing between the two"));
}

TEST_CASE("who leaves out a lock that the other one takes is told to take it") {
  MissingOrderSample sample;
  const auto add = [&](const char* instruction, const char* variable) -> ptx::Site& {
    const auto id = static_cast<std::uint32_t>(sample.sites.size());
    sample.sites.push_back(
        samples::site(id, wire::Operation::kAtomic, {{"_Z3addPi", "/src/add.cu", 20 + id, 5}}));
    sample.sites.back().instruction = instruction;
    sample.sites.back().variable = variable;
    return sample.sites.back();
  };
  add("atom.global.cas.b32", "_Z3addPi_param_1").loops = {1};
  sample.sites.push_back(
      samples::site(3, wire::Operation::kRead, {{"_Z3addPi", "/src/add.cu", 14, 5}}));
  add("atom.global.exch.b32", "_Z3addPi_param_1");
  sample.race.second.site = wire::SiteId{3};
  const std::string text =
      "the write at add.cu:12 is made without the lock that is taken at /src/add.cu:22 for "
      "the read at add.cu:14: it must take it as well";
  CHECK(sample.text() == text);
  sample.race.first.site = wire::SiteId{3};  // both take it
  CHECK_THAT(sample.text(), !Catch::Contains("without the lock"));
  sample.race.first.site = wire::SiteId{0};
  sample.sites[2].loops.clear();  // no attempt that is repeated
  CHECK_THAT(sample.text(), !Catch::Contains("without the lock"));
  sample.sites[2].loops = {1};
  sample.sites[4].variable = "_Z3addPi_param_2";  // not given back
  CHECK_THAT(sample.text(), !Catch::Contains("without the lock"));
  sample.sites[4].variable = "_Z3addPi_param_1";
  sample.sites[4].instruction = "atom.global.cas.b32";  // an atomic of a byte
  sample.sites[4].loops = {2};
  CHECK_THAT(sample.text(), !Catch::Contains("without the lock"));
  sample.sites[4].loops.clear();
  sample.sites[3].id = wire::SiteId{4};  // given back before
  sample.sites[4].id = wire::SiteId{3};
  std::swap(sample.sites[3], sample.sites[4]);
  sample.race.second.site = wire::SiteId{4};
  CHECK_THAT(sample.text(), !Catch::Contains("without the lock"));
}

TEST_CASE("an arrival or a wait of block scope between blocks of a cluster wants a wider one") {
  MissingOrderSample sample;
  sample.race.needed_scope = wire::Scope::kCluster;
  sample.sites.push_back(
      samples::site(2, wire::Operation::kMbarrierArrive, {{"_Z3addPi", "/src/add.cu", 13, 5}}));
  sample.sites.push_back(
      samples::site(3, wire::Operation::kMbarrierWait, {{"_Z3addPi", "/src/add.cu", 18, 5}}));
  ptx::Site& arrival = sample.sites[2];
  ptx::Site& wait = sample.sites[3];
  arrival.instruction = "mbarrier.arrive.release.cta.shared::cluster.b64";
  arrival.info.scope = wait.info.scope = wire::Scope::kCta;
  wait.info.is_unscoped = true;
  sample.race.second.last_sync = detector::LastSync::kKnown;
  sample.race.second.last_sync_site = wire::SiteId{3};
  CHECK(sample.text() ==
        "the arrival at /src/add.cu:13 has block scope (.cta), and the wait at /src/add.cu:18 is "
        "another block's: cluster scope (.cluster) is needed for both");
  arrival.info.is_unscoped = true;
  CHECK_THAT(sample.text(), Catch::Contains("cluster.sync() is missing"));
  wait.info.is_unscoped = false;
  CHECK_THAT(sample.text(), Catch::StartsWith("the wait at /src/add.cu:18 has block scope"));
  arrival.instruction = "mbarrier.arrive.shared.b64";  // at its own block's
  CHECK_THAT(sample.text(), Catch::Contains("cluster.sync() is missing"));
}

}  // namespace barracuda::report
