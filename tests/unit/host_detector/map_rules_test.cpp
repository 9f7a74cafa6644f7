// Tensor maps that a kernel changes: what changes them, what copies by them read, and the fences
// that hand the change on. And what changes memory asynchronously and is waited for by nothing.
#include <catch2/catch.hpp>

#include "tests/unit/host_detector/async_scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr Who kWriter{.cta = 0}, kCopier{.cta = 1};
constexpr std::uint64_t kMap = kData;

class MapScenario : public AsyncScenario {
 public:
  MapScenario() : AsyncScenario(2, 64) {}

  void fence(const Who& who, MemoryOrder order, bool is_of_warp = false) {
    SiteInfo site{.operation = Operation::kProxyFence, .order = order, .scope = Scope::kGpu};
    site.proxy = wire::Proxy::kTensorMap;
    site.aligned = is_of_warp;
    event(who, site);
  }

  SiteId replace(const Who& who, std::uint64_t address = kMap) {
    SiteInfo site{.operation = Operation::kCopy};
    site.element_bytes = 16;
    site.element_count = 8;
    return operands(who, site,
                    {.address = address,
                     .value_read = wire::kNoOperand,
                     .value_written = wire::kNoOperand,
                     .amount = 128});
  }

  // By all lanes of a warp.
  void copy_map(const Who& who, std::uint64_t to, std::uint64_t from) {
    SiteInfo site{.operation = Operation::kCopy};
    site.element_bytes = 16;
    site.element_count = 8;
    operands(who, site,
             {.address = to, .value_read = from, .value_written = wire::kNoOperand, .amount = 128});
    fence(who, MemoryOrder::kRelease, true);
  }

  // Of the copy itself nothing is known.
  void load(const Who& who, std::uint64_t mbarrier = shared(kMbarrier)) { copy(who, mbarrier); }

  void store(const Who& who) { copy(who, wire::kNoOperand); }

  // The other one learns that the first is done.
  void hand_over() {
    Scenario::store(kWriter, word(Operation::kWrite, MemoryOrder::kRelaxed, Scope::kGpu), kFlag, 1);
    Scenario::load(kCopier, word(Operation::kRead, MemoryOrder::kRelaxed, Scope::kGpu), kFlag, 1);
  }

 private:
  void copy(const Who& who, std::uint64_t mbarrier) {
    SiteInfo read{.operation = Operation::kRead};
    read.element_bytes = 16;
    read.element_count = 8;
    read.proxy = wire::Proxy::kTensorMap;
    read.asynchrony = mbarrier == wire::kNoOperand ? Asynchrony::kBulkGroup : Asynchrony::kMbarrier;
    access(who, read, kMap);
    SiteInfo site{.operation = Operation::kTensorCopy, .proxy = wire::Proxy::kAsync};
    site.element_bytes = site.element_count = 1;
    site.asynchrony = read.asynchrony;
    WarpOperation operation = start(who, site, RecordKind::kTensorCopy);
    operation.lanes.fill({.address = shared(0), .value_read = 1, .value_written = mbarrier});
    detector.apply(operation);
  }
};

}  // namespace

TEST_CASE("a changed map is released by its writer and acquired by who copies by it") {
  for (const auto& [releases, acquires] :
       {std::pair{true, true}, {true, false}, {false, true}, {false, false}}) {
    MapScenario scenario;
    scenario.init(kCopier, 1);
    scenario.replace(kWriter);
    if (releases) {
      scenario.fence(kWriter, MemoryOrder::kRelease);
    } else {
      scenario.Scenario::fence(kWriter, Scope::kGpu);
    }
    scenario.hand_over();
    if (acquires) {
      scenario.fence(kCopier, MemoryOrder::kAcquire);
    } else {
      scenario.Scenario::fence(kCopier, Scope::kGpu);
    }
    scenario.load(kCopier);
    CHECK(scenario.detector.rejected() == 0);
    REQUIRE(scenario.races().size() == (releases && acquires ? 0 : 1));
    if (!scenario.races().empty()) {
      CHECK(scenario.races()[0].missing == MissingOrder::kMapFenceMissing);
    }
  }
}

TEST_CASE("fences of maps without a hand-over between them order nothing") {
  MapScenario scenario;
  scenario.init(kCopier, 1);
  scenario.replace(kWriter);
  scenario.fence(kWriter, MemoryOrder::kRelease);
  scenario.fence(kCopier, MemoryOrder::kAcquire);
  scenario.load(kCopier);
  REQUIRE(scenario.has_only(Severity::kError));
  CHECK(scenario.races()[0].missing != MissingOrder::kMapFenceMissing);
}

TEST_CASE("a release covers what came before it only") {
  MapScenario scenario;
  scenario.init(kWriter, 1);
  scenario.fence(kWriter, MemoryOrder::kRelease);
  scenario.replace(kWriter);
  scenario.fence(kWriter, MemoryOrder::kAcquire);
  scenario.load(kWriter);
  CHECK(scenario.lacks(MissingOrder::kMapFenceMissing));
}

TEST_CASE("a map is read until the copy by it is made") {
  for (const bool waits : {true, false}) {
    MapScenario loads;
    loads.init(kWriter, 1);
    loads.arrive(kWriter);  // of no bytes: the copy's are not known
    loads.load(kWriter);
    MapScenario stores;
    stores.store(kWriter);
    stores.commit(kWriter, Asynchrony::kBulkGroup);
    if (waits) {
      loads.wait(kWriter, 0);
      stores.wait_group(kWriter, 0, Asynchrony::kBulkGroup, true);
    }
    for (MapScenario* const scenario : {&loads, &stores}) {
      scenario->replace(kWriter);
      CHECK(scenario->detector.rejected() == 0);
    }
    CHECK(stores.races().size() == (waits ? 0 : 1));
  }
}

TEST_CASE("a map is read once a phase was waited for that expected what its copy brings") {
  MapScenario scenario;
  scenario.init(kWriter, 1);
  for (std::uint32_t round = 0; round < 2; ++round) {
    scenario.arrive(kWriter, 128);
    scenario.load(kWriter);
    scenario.wait(kWriter, round);
    scenario.replace(kWriter);
    scenario.fence(kWriter, MemoryOrder::kRelease);
    scenario.fence(kWriter, MemoryOrder::kAcquire);
  }
  CHECK(scenario.detector.rejected() == 0);
  CHECK(scenario.races().empty());
}

TEST_CASE("a wait for bulk groups is one for the maps of all copies of the thread") {
  for (const bool commits : {true, false}) {
    MapScenario scenario;
    scenario.init(kWriter, 1);
    scenario.load(kWriter);
    if (commits) {
      scenario.commit(kWriter, Asynchrony::kBulkGroup);
    }
    scenario.wait_group(kWriter, 0, Asynchrony::kBulkGroup, true);
    scenario.replace(kWriter);
    CHECK(scenario.detector.rejected() == 0);
    CHECK(scenario.races().size() == (commits ? 0 : 1));
  }
}

TEST_CASE("copies of one thread read their maps in turn") {
  MapScenario scenario;
  scenario.store(kWriter);
  scenario.store(kWriter);
  scenario.commit(kWriter, Asynchrony::kBulkGroup);
  scenario.store(kWriter);
  scenario.commit(kWriter, Asynchrony::kBulkGroup);
  scenario.wait_group(kWriter, 0, Asynchrony::kBulkGroup, true);
  scenario.replace(kWriter);
  CHECK(scenario.is_clean());
}

TEST_CASE("a map is done with once the last load by it is there") {
  MapScenario scenario;
  for (const std::uint64_t mbarrier : {kMbarrier, kMbarrier + 8}) {
    scenario.mbarrier(kWriter, Operation::kMbarrierInit, shared(mbarrier), 1);
    scenario.load(kWriter, shared(mbarrier));
    scenario.mbarrier(kWriter, Operation::kMbarrierArrive, shared(mbarrier), 1);
  }
  scenario.mbarrier(kWriter, Operation::kMbarrierWait, shared(kMbarrier + 8), 0);
  scenario.replace(kWriter);
  CHECK(scenario.is_clean());
}

TEST_CASE("what a warp copies as one all its lanes may copy by") {
  constexpr Who kWarp{.mask = kAll}, kLast{.mask = 1U << 31};
  for (const bool is_met : {true, false}) {
    MapScenario scenario;
    scenario.replace({.mask = 1U << 3}, shared(1024));
    if (is_met) {
      scenario.sync_warp(kWarp, kAll);
    }
    scenario.copy_map(kWarp, kMap, shared(1024));
    scenario.fence(kLast, MemoryOrder::kAcquire);
    scenario.store(kLast);
    CHECK(scenario.detector.rejected() == 0);
    CHECK(scenario.races().size() == (is_met ? 0 : 1));
  }
}

TEST_CASE("an asynchronous store is known to who acquires its value, and to nobody else") {
  SiteInfo site = word(Operation::kWrite, MemoryOrder::kRelease, Scope::kGpu);
  site.asynchrony = Asynchrony::kUnwaited;
  for (const bool acquires : {true, false}) {
    MapScenario scenario;
    scenario.write(kWriter, kData);
    scenario.Scenario::store(kWriter, site, kFlag, 1);
    scenario.Scenario::load(
        kCopier,
        word(Operation::kRead, acquires ? MemoryOrder::kAcquire : MemoryOrder::kRelaxed,
             Scope::kGpu),
        kFlag, 1);
    scenario.read(kCopier, kData);
    CHECK(scenario.races().size() == (acquires ? 0 : 1));
    scenario.read(kCopier, kFlag);
    CHECK(scenario.races().size() == (acquires ? 0 : 2));
  }
  MapScenario own;
  own.Scenario::store(kWriter, site, kFlag, 1);
  own.barrier({.warp = 0, .mask = kAll});
  own.barrier({.warp = 1, .mask = kAll});
  own.read(kWriter, kFlag);
  CHECK(own.lacks(MissingOrder::kAsyncWaitMissing));
}

TEST_CASE("an asynchronous store is no plain record, and an atomic is none") {
  SiteInfo site = word(Operation::kWrite, MemoryOrder::kRelease, Scope::kGpu);
  site.asynchrony = Asynchrony::kUnwaited;
  MapScenario scenario;
  scenario.access(kWriter, site, kFlag);
  CHECK(scenario.detector.rejected() == 1);
  site.operation = Operation::kAtomic;
  scenario.Scenario::store(kWriter, site, kFlag, 1);
  CHECK(scenario.detector.rejected() == 2);
}

}  // namespace barracuda::detector::test
