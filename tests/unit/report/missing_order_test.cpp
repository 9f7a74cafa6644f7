#include "report/missing_order.h"

#include <set>

#include <catch2/catch.hpp>

#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

struct Sample {
  detector::RaceEvent race;
  ptx::SiteTable sites = samples::racy_run().sites;
  Access first = samples::access(AccessOperation::kWrite, 12, 0);
  Access second = samples::access(AccessOperation::kRead, 14, 1);

  Sample() { race.second.site = wire::SiteId{1}; }

  [[nodiscard]] std::string text() const { return missing_order(race, sites, first, second); }

  void add_fence(wire::Scope scope) {
    ptx::Site fence =
        samples::site(static_cast<std::uint32_t>(sites.size()), wire::Operation::kFence, {});
    fence.info.scope = scope;
    sites.push_back(fence);
  }
};

TEST_CASE("blocks without synchronisation are named") {
  Sample sample;
  CHECK(sample.text() == "no synchronisation between block 0 and block 1");
  sample.second.block = {1, 2, 0};
  CHECK(sample.text() == "no synchronisation between block 0 and block [1,2,0]");
}

TEST_CASE("warps of one block miss __syncthreads(), lanes of one warp __syncwarp()") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kIntraBlock;
  sample.second.warp = 2;
  CHECK(sample.text() == "two warps of one block: __syncthreads() is missing (warp 0 and warp 2)");
  sample.race.kind = detector::RaceKind::kIntraWarp;
  CHECK(sample.text() == "two lanes of one warp: __syncwarp() is missing");
}

TEST_CASE("lanes of one instruction cannot be helped by a warp barrier") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kIntraWarp;
  sample.race.second.site = sample.race.first.site;
  CHECK(sample.text().find("atomic operation") != std::string::npos);
}

TEST_CASE("a scope that is too narrow is named where there is no doubt which") {
  Sample sample;
  sample.race.missing = detector::MissingOrder::kScopeTooNarrow;
  sample.race.needed_scope = wire::Scope::kGpu;
  CHECK(sample.text() == "the fence's scope is too narrow, .gpu is needed");
  sample.add_fence(wire::Scope::kCta);
  sample.add_fence(wire::Scope::kGpu);
  CHECK(sample.text() == "the fence's scope .cta is too narrow, .gpu is needed");
  sample.add_fence(wire::Scope::kCluster);
  CHECK(sample.text() == "the fence's scope is too narrow, .gpu is needed");
}

TEST_CASE("an atomic's own scope is named") {
  Sample sample;
  sample.race.missing = detector::MissingOrder::kAtomicScopeTooNarrow;
  sample.race.needed_scope = wire::Scope::kSys;
  sample.sites[0].info.order = wire::MemoryOrder::kRelaxed;
  sample.sites[0].info.scope = wire::Scope::kGpu;
  CHECK(sample.text() == "the atomic's scope .gpu is too narrow, .sys is needed");
}

TEST_CASE("launches without an order are named by number") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kInterKernel;
  sample.second.launch = 2;
  CHECK(sample.text() == "no stream order, event or synchronisation between launch 1 and launch 2");
}

TEST_CASE(
    "where the second came to no barrier yet, a missing one is named before one on one path") {
  Sample sample;
  sample.race.kind = detector::RaceKind::kIntraBlock;
  sample.race.missing = detector::MissingOrder::kBarrierOnOnePath;
  sample.second.warp = 1;
  CHECK(sample.text() ==
        "__syncthreads() is missing, or a barrier is on one path only: warp 0 came to one after "
        "its access, warp 1 to none before its own");
}

TEST_CASE("every verdict has its own sentence") {
  Sample sample;
  std::set<std::string> texts;
  for (const auto missing :
       {detector::MissingOrder::kNoSynchronisation, detector::MissingOrder::kScopeTooNarrow,
        detector::MissingOrder::kReleaseFenceMissing, detector::MissingOrder::kAcquireFenceMissing,
        detector::MissingOrder::kAtomicScopeTooNarrow, detector::MissingOrder::kMixedSize,
        detector::MissingOrder::kProxyFenceMissing, detector::MissingOrder::kAsyncWaitMissing,
        detector::MissingOrder::kBarrierOnOnePath, detector::MissingOrder::kGridWaitMissing,
        detector::MissingOrder::kReadOnlyPath}) {
    sample.race.missing = missing;
    CHECK(texts.insert(sample.text()).second);
  }
}

}  // namespace
}  // namespace barracuda::report
