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

}  // namespace barracuda::report
