// The rules of RACE_RULES section 1 for cluster barriers, mbarriers and asynchronous copies, each
// with its twin: what it orders, and the nearest thing it does not.
#include <catch2/catch.hpp>

#include "tests/unit/host_detector/async_scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr Who kFirst{.cta = 0}, kSecond{.cta = 1};
constexpr Who kThread{.warp = 0}, kOther{.warp = 1};
constexpr Who kBoth{.mask = 3};

// Two threads of two warps meet.
void meet(AsyncScenario& scenario) {
  scenario.barrier({.warp = 0, .mask = kAll});
  scenario.barrier({.warp = 1, .mask = 1});
}

// They have an mbarrier that completes when `arrivals` have arrived.
class MbarrierScenario : public AsyncScenario {
 public:
  explicit MbarrierScenario(std::uint32_t arrivals) : AsyncScenario(1, 33) {
    init(kThread, arrivals);
    meet(*this);
  }
};

}  // namespace

TEST_CASE("a cluster barrier orders distributed shared memory, a relaxed arrival does not") {
  for (const MemoryOrder order : {MemoryOrder::kRelease, MemoryOrder::kRelaxed}) {
    AsyncScenario scenario(2, 1, 2);
    scenario.write(kFirst, shared(0));
    scenario.cluster_arrive(kFirst, order);
    scenario.cluster_arrive(kSecond, order);
    scenario.cluster_wait(kFirst);
    scenario.cluster_wait(kSecond);
    scenario.read(kSecond, shared_of(0, 0));
    CHECK(scenario.races().size() == (order == MemoryOrder::kRelaxed ? 1 : 0));
    CHECK(scenario.detector.rejected() == 0);
  }
}

TEST_CASE("a relaxed arrival gives what a fence released for the cluster") {
  for (const Scope scope : {Scope::kCluster, Scope::kCta}) {
    AsyncScenario scenario(2, 1, 2);
    scenario.write(kFirst, shared(0));
    scenario.fence(kFirst, scope, MemoryOrder::kRelease);
    scenario.cluster_arrive(kFirst, MemoryOrder::kRelaxed);
    scenario.cluster_arrive(kSecond);
    scenario.cluster_wait(kSecond);
    scenario.read(kSecond, shared_of(0, 0));
    CHECK(scenario.races().size() == (scope == Scope::kCta ? 1 : 0));
  }
}

TEST_CASE("what is done between arriving at a cluster barrier and waiting is not ordered") {
  AsyncScenario scenario(2, 1, 2);
  scenario.cluster_arrive(kFirst);
  scenario.write(kFirst, kData);
  scenario.cluster_arrive(kSecond);
  scenario.cluster_wait(kSecond);
  scenario.read(kSecond, kData);
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("one may arrive for the next phase before another's wait for the last is recorded") {
  AsyncScenario scenario(2, 1, 2);
  scenario.write(kFirst, kData);
  scenario.cluster_arrive(kFirst);
  scenario.cluster_arrive(kSecond);
  scenario.cluster_wait(kFirst);
  scenario.write(kFirst, kFlag);
  scenario.cluster_arrive(kFirst);
  scenario.cluster_wait(kSecond);
  scenario.read(kSecond, kData);
  CHECK(scenario.is_clean());
  scenario.read(kSecond, kFlag);
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("threads that left count as arrived at a cluster barrier") {
  AsyncScenario scenario(2, 2, 2);
  scenario.exit({.cta = 1, .mask = 2});
  scenario.write({.cta = 0, .mask = 1}, kData);
  scenario.cluster_arrive({.cta = 0, .mask = 3});
  scenario.cluster_arrive({.cta = 1, .mask = 1});
  scenario.cluster_wait({.cta = 1, .mask = 1});
  scenario.read({.cta = 1, .mask = 1}, kData);
  CHECK(scenario.is_clean());
}

TEST_CASE("arriving at an mbarrier orders before its wait, and only what came before") {
  MbarrierScenario scenario(1);
  scenario.write(kThread, shared(0));
  scenario.arrive(kThread);
  scenario.write(kThread, shared(8));
  scenario.wait(kOther, 0);
  scenario.read(kOther, shared(0));
  CHECK(scenario.is_clean());
  scenario.read(kOther, shared(8));
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("waiting for the phase before the first orders nothing") {
  MbarrierScenario scenario(1);
  scenario.write(kThread, shared(0));
  scenario.arrive(kThread);
  scenario.wait(kOther, 1);
  scenario.read(kOther, shared(0));
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("a wait takes the phase of its parity though the next is complete already") {
  MbarrierScenario scenario(1);
  scenario.write(kThread, shared(0));
  scenario.arrive(kThread);
  scenario.write(kThread, shared(8));
  scenario.arrive(kThread);
  scenario.wait(kOther, 0);
  scenario.read(kOther, shared(0));
  CHECK(scenario.is_clean());
  scenario.read(kOther, shared(8));
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("an mbarrier may be used after its initialisation is ordered, and not before") {
  for (const bool is_ordered : {true, false}) {
    AsyncScenario scenario(1, 33);
    scenario.init(kThread, 2);
    if (is_ordered) {
      meet(scenario);
    }
    scenario.arrive(kOther);
    CHECK(scenario.races().size() == (is_ordered ? 0 : 1));
    CHECK(scenario.detector.rejected() == 0);
  }
}

TEST_CASE("operations on an mbarrier never race with each other, an ordinary store does") {
  MbarrierScenario scenario(2);
  scenario.arrive(kThread);
  scenario.arrive(kOther);
  CHECK(scenario.is_clean());
  scenario.write(kOther, shared(kMbarrier));
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("a remote arrival orders at cluster scope, not at block scope") {
  for (const Scope scope : {Scope::kCluster, Scope::kCta}) {
    AsyncScenario scenario(2, 1, 2);
    scenario.init(kFirst, 1);
    scenario.cluster_arrive(kFirst);
    scenario.cluster_arrive(kSecond);
    scenario.cluster_wait(kFirst);
    scenario.cluster_wait(kSecond);
    scenario.write(kSecond, kData);
    scenario.mbarrier(kSecond, Operation::kMbarrierArrive, shared_of(0, kMbarrier), 1, 0, scope);
    scenario.mbarrier(kFirst, Operation::kMbarrierWait, shared(kMbarrier), 0, 0, Scope::kCluster);
    scenario.read(kFirst, kData);
    CHECK(scenario.races().size() == (scope == Scope::kCta ? 1 : 0));
    CHECK(scenario.detector.rejected() == 0);
  }
}

TEST_CASE("a remote arrival without a scope orders before waits that are not of block scope") {
  struct Said {
    Scope scope = Scope::kCta;
    bool is_unscoped = false;
  };

  constexpr Said kNothing{.is_unscoped = true}, kBlock, kCluster{.scope = Scope::kCluster};

  const auto is_ordered = [](const Said& arrival, const Said& wait) {
    AsyncScenario scenario(2, 1, 2);
    scenario.init(kFirst, 1);
    scenario.cluster_arrive(kFirst);
    scenario.cluster_arrive(kSecond);
    scenario.cluster_wait(kFirst);
    scenario.cluster_wait(kSecond);
    scenario.write(kSecond, kData);
    scenario.mbarrier(kSecond, Operation::kMbarrierArrive, shared_of(0, kMbarrier), 1, 0,
                      arrival.scope, arrival.is_unscoped);
    scenario.write(kSecond, kData + 8);
    scenario.mbarrier(kFirst, Operation::kMbarrierWait, shared(kMbarrier), 0, 0, wait.scope,
                      wait.is_unscoped);
    scenario.read(kFirst, kData);
    CHECK(scenario.detector.rejected() == 0);
    const bool is_clean = scenario.is_clean();
    scenario.read(kFirst, kData + 8);  // of what follows the arrival nothing is known
    CHECK(scenario.races().size() == (is_clean ? 1 : 2));
    return is_clean;
  };
  CHECK(is_ordered(kNothing, kNothing));
  CHECK(is_ordered(kNothing, kCluster));
  CHECK_FALSE(is_ordered(kNothing, kBlock));
  CHECK_FALSE(is_ordered(kBlock, kNothing));
  CHECK_FALSE(is_ordered(kCluster, kNothing));
  CHECK(is_ordered(kCluster, kCluster));
}

TEST_CASE("what the block of an mbarrier knows of others goes no further without a scope") {
  AsyncScenario scenario(2, 2, 2);
  scenario.init({.cta = 0, .mask = 1}, 1);
  const Who here{.cta = 0, .mask = 2};
  scenario.cluster_arrive({.cta = 0, .mask = 3});
  scenario.cluster_arrive({.cta = 1, .mask = 3});
  scenario.cluster_wait({.cta = 0, .mask = 3});
  scenario.cluster_wait({.cta = 1, .mask = 3});
  scenario.write(kSecond, kData);
  // It arrives without a scope in the first phase, and at block scope in the second.
  scenario.mbarrier(kSecond, Operation::kMbarrierArrive, shared_of(0, kMbarrier), 1, 0, Scope::kCta,
                    true);
  scenario.write(kSecond, kData + 8);
  scenario.mbarrier(kSecond, Operation::kMbarrierArrive, shared_of(0, kMbarrier), 1);
  scenario.mbarrier(here, Operation::kMbarrierWait, shared(kMbarrier), 1, 0, Scope::kCta, true);
  scenario.read(here, kData);
  CHECK(scenario.is_clean());
  scenario.read(here, kData + 8);
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("the issuer of cp.async reads the copy after it waited, not before") {
  AsyncScenario waits, does_not;
  waits.launch(1, 1);
  waits.copy_async(kThread, shared(0), kData);
  waits.commit(kThread);
  waits.wait_group(kThread, 0);
  waits.read(kThread, shared(0));
  CHECK(waits.is_clean());
  does_not.launch(1, 1);
  const SiteId copy = does_not.copy_async(kThread, shared(0), kData);
  does_not.commit(kThread);
  does_not.read(kThread, shared(0));
  REQUIRE(does_not.lacks(MissingOrder::kAsyncWaitMissing));
  CHECK(does_not.races()[0].first.site == copy);
  CHECK(does_not.races()[0].first.thread == does_not.races()[0].second.thread);
  CHECK(does_not.races()[0].kind == RaceKind::kIntraWarp);
}

TEST_CASE("others need the wait and a barrier after it") {
  for (const int order : {0, 1, 2}) {
    AsyncScenario scenario(1, 33);
    scenario.copy_async(kThread, shared(0), kData);
    scenario.commit(kThread);
    if (order == 1) {
      meet(scenario);
    }
    scenario.wait_group(kThread, 0);
    if (order == 2) {
      meet(scenario);
    }
    scenario.read(kOther, shared(0));
    CHECK(scenario.races().size() == (order == 2 ? 0 : 1));
    if (order != 2) {
      CHECK(scenario.lacks(MissingOrder::kNoSynchronisation));
    }
  }
}

TEST_CASE("lanes wait for their own copies only") {
  AsyncScenario scenario(1, 2);
  scenario.copy_async(kBoth, shared(0), kData);
  scenario.wait_group(kBoth, wire::kWaitAll);
  scenario.read({.mask = 1}, shared(0));
  CHECK(scenario.is_clean());
  scenario.read({.mask = 1}, shared(4));  // the copy of the other lane
  CHECK(scenario.races().size() == 1);
  scenario.sync_warp(kBoth, 3);
  scenario.read({.mask = 2}, shared(0));
  CHECK(scenario.races().size() == 1);
}

TEST_CASE("of several groups, a wait that leaves some is for the older ones") {
  AsyncScenario scenario(1, 1);
  scenario.copy_async(kThread, shared(0), kData);
  scenario.commit(kThread);
  scenario.copy_async(kThread, shared(8), kData);
  scenario.commit(kThread);
  scenario.wait_group(kThread, 1);
  scenario.read(kThread, shared(0));
  CHECK(scenario.is_clean());
  scenario.read(kThread, shared(8));
  CHECK(scenario.lacks(MissingOrder::kAsyncWaitMissing));
}

TEST_CASE("two copies of one group to the same bytes race") {
  AsyncScenario scenario(1, 1);
  scenario.copy_async(kThread, shared(0), kData);
  scenario.copy_async(kThread, shared(0), kData + 64);
  CHECK(scenario.lacks(MissingOrder::kAsyncWaitMissing));
}

TEST_CASE("what a copy in flight reads may not be written") {
  for (const bool waits : {false, true}) {
    AsyncScenario scenario(1, 1);
    scenario.write(kThread, kData);  // before: program order
    scenario.copy_async(kThread, shared(0), kData);
    if (waits) {
      scenario.wait_group(kThread, wire::kWaitAll);
    }
    scenario.write(kThread, kData);
    CHECK(scenario.races().size() == (waits ? 0 : 1));
  }
}

TEST_CASE("a copy arrives at an mbarrier for those who wait there") {
  for (const bool arrives : {true, false}) {
    AsyncScenario scenario(1, 33);
    scenario.init(kThread, arrives ? 2 : 1);
    meet(scenario);
    scenario.copy_async(kThread, shared(0), kData);
    if (arrives) {
      scenario.mbarrier(kThread, Operation::kAsyncArrive, shared(kMbarrier), 1);
    }
    scenario.arrive(kThread);
    scenario.wait(kOther, 0);
    scenario.read(kOther, shared(0));
    CHECK(scenario.races().size() == (arrives ? 0 : 1));
    CHECK(scenario.detector.rejected() == 0);
  }
}

TEST_CASE("a copy issued after the arrival at an mbarrier is not one of those that arrive") {
  MbarrierScenario scenario(1);
  scenario.copy_async(kThread, shared(0), kData);
  scenario.mbarrier(kThread, Operation::kAsyncArrive, shared(kMbarrier), 1);
  scenario.copy_async(kThread, shared(8), kData);
  scenario.wait(kOther, 0);
  scenario.read(kOther, shared(0));
  CHECK(scenario.is_clean());
  scenario.read(kOther, shared(8));
  CHECK(scenario.lacks(MissingOrder::kAsyncWaitMissing));
}

TEST_CASE("a bulk copy is there for those who waited for its mbarrier, with the bytes counted") {
  for (const bool waits : {true, false}) {
    MbarrierScenario scenario(1);
    scenario.arrive(kThread, 64);
    scenario.wait(kOther, 1);  // true at once: the phase before the first
    scenario.bulk(kThread, shared(0), kData, 64, shared(kMbarrier));
    if (waits) {
      scenario.wait(kOther, 0);
    }
    scenario.read(kOther, shared(60));
    if (waits) {
      CHECK(scenario.is_clean());
    } else {
      REQUIRE(scenario.lacks(MissingOrder::kAsyncWaitMissing));
      CHECK(scenario.races()[0].first.size == 64);
      CHECK(scenario.races()[0].second.size == 4);
    }
  }
}

TEST_CASE("the bytes of a bulk copy complete a phase, the history of its issuer is not given") {
  MbarrierScenario scenario(1);
  scenario.arrive(kThread, 16);
  scenario.write(kThread, shared(128));
  scenario.bulk(kThread, shared(0), kData, 16, shared(kMbarrier));
  scenario.wait(kOther, 0);
  scenario.read(kOther, shared(0));
  CHECK(scenario.is_clean());
  scenario.read(kOther, shared(128));
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("a copy with a byte mask touches the bytes that the mask names") {
  constexpr std::uint16_t kSome = 0b0100'0000'0000'0110;
  for (std::uint32_t byte = 0; byte < 33; ++byte) {
    for (const bool is_source : {false, true}) {
      AsyncScenario scenario(1, 33);
      scenario.masked(kThread, kData, shared(0), 32, kSome);
      SiteInfo site = word(Operation::kWrite);
      site.element_bytes = 1;
      scenario.access(kOther, site, (is_source ? shared(0) : kData) + byte);
      const bool is_copied = byte < 32 && (kSome >> byte % 16 & 1) != 0;
      CAPTURE(byte, is_source);
      CHECK(scenario.races().size() == (is_copied ? 1 : 0));
      CHECK(scenario.detector.rejected() == 0);
    }
  }
  AsyncScenario nothing;
  nothing.launch(1, 33);
  nothing.masked(kThread, kData, shared(0), 32, 0);
  nothing.write(kOther, kData);
  CHECK(nothing.is_clean());
}

TEST_CASE("st.bulk is a store of its thread, of all its bytes") {
  for (const bool meets : {false, true}) {
    AsyncScenario scenario(1, 33);
    scenario.store_in_bulk(kThread, shared(0), 256);
    scenario.write(kThread, shared(252));  // its own needs no wait
    CHECK(scenario.is_clean());
    if (meets) {
      meet(scenario);
    }
    scenario.read(kOther, shared(256));
    CHECK(scenario.is_clean());
    scenario.read(kOther, shared(248));
    CHECK(scenario.races().size() == (meets ? 0 : 1));
    CHECK(scenario.detector.rejected() == 0);
  }
}

TEST_CASE("a bulk store needs a proxy fence after what it reads was written") {
  for (const bool is_fenced : {true, false}) {
    AsyncScenario scenario(1, 33);
    scenario.write(kOther, shared(0));
    scenario.write(kThread, shared(4));
    if (is_fenced) {
      scenario.proxy_fence(kOther);
      scenario.proxy_fence(kThread);
    }
    meet(scenario);
    scenario.bulk(kThread, kData, shared(0), 4);
    if (is_fenced) {
      CHECK(scenario.is_clean());
    } else {
      CHECK(scenario.lacks(MissingOrder::kProxyFenceMissing));
    }
  }
}

TEST_CASE("a proxy fence covers what came before it only, and that of its own thread too") {
  AsyncScenario scenario(1, 1);
  scenario.write(kThread, shared(0));
  scenario.proxy_fence(kThread);
  scenario.bulk(kThread, kData, shared(0), 4);
  CHECK(scenario.is_clean());
  scenario.write(kThread, shared(64));
  scenario.bulk(kThread, kData + 64, shared(64), 4);
  CHECK(scenario.lacks(MissingOrder::kProxyFenceMissing));
}

TEST_CASE("after wait_group.read the source of a bulk store may be written, its target not read") {
  AsyncScenario scenario(1, 1);
  scenario.bulk(kThread, kData, shared(0), 16);
  scenario.commit(kThread, Asynchrony::kBulkGroup);
  scenario.wait_group(kThread, 0, Asynchrony::kBulkGroup, true);
  scenario.write(kThread, shared(0));
  CHECK(scenario.is_clean());
  scenario.read(kThread, kData);
  CHECK(scenario.lacks(MissingOrder::kAsyncWaitMissing));
}

TEST_CASE("a whole bulk wait is for source and target, none for neither") {
  AsyncScenario waits, does_not;
  for (AsyncScenario* scenario : {&waits, &does_not}) {
    scenario->launch(1, 1);
    scenario->bulk(kThread, kData, shared(0), 16);
    scenario->commit(kThread, Asynchrony::kBulkGroup);
  }
  waits.wait_group(kThread, 0, Asynchrony::kBulkGroup);
  waits.write(kThread, shared(0));
  waits.read(kThread, kData);
  CHECK(waits.is_clean());
  does_not.wait_group(kThread, 0);  // that of cp.async
  does_not.write(kThread, shared(0));
  CHECK(does_not.lacks(MissingOrder::kAsyncWaitMissing));
}

TEST_CASE("a multicast arrives in every block, for those who wait there") {
  AsyncScenario scenario(2, 1, 2);
  scenario.init(kFirst, 1);
  scenario.init(kSecond, 1);
  scenario.arrive(kFirst, 16);
  scenario.arrive(kSecond, 16);
  for (const Who& who : {kFirst, kSecond}) {
    scenario.cluster_arrive(who);
  }
  for (const Who& who : {kFirst, kSecond}) {
    scenario.cluster_wait(who);
  }
  scenario.bulk(kFirst, shared(0), kData, 16, shared(kMbarrier), 3);
  scenario.wait(kSecond, 0);
  scenario.read(kSecond, shared(0));
  CHECK(scenario.is_clean());
  scenario.read(kFirst, shared(0));
  CHECK(scenario.lacks(MissingOrder::kAsyncWaitMissing));
}

TEST_CASE("operands that cannot be are refused and counted") {
  AsyncScenario scenario(1, 1);
  std::uint64_t refused = 0;
  const auto is_refused = [&] { return scenario.detector.rejected() == ++refused; };
  scenario.arrive(kThread);  // no mbarrier is there
  CHECK(is_refused());
  scenario.init(kThread, 0);
  CHECK(is_refused());
  scenario.init(kThread, ~0U);
  CHECK(is_refused());
  scenario.mbarrier(kThread, Operation::kMbarrierInit, shared(kMbarrier + 1), 1);
  CHECK(is_refused());
  scenario.mbarrier(kThread, Operation::kMbarrierInit, kData, 1);
  CHECK(is_refused());
  scenario.init(kThread, 1);
  scenario.mbarrier(kThread, Operation::kMbarrierArrive, shared(kMbarrier), 2);
  CHECK(is_refused());
  scenario.arrive(kThread, ~std::uint64_t{0});
  CHECK(is_refused());
  scenario.bulk(kThread, kData, shared(0), ~0U);
  CHECK(is_refused());
  scenario.bulk(kThread, kData, shared((1U << 20) - 8), 16);
  CHECK(is_refused());
  scenario.bulk(kThread, shared(0), kData, 16, shared(kMbarrier), 0x8000);
  CHECK(is_refused());
  scenario.commit(kThread, Asynchrony::kMbarrier);
  CHECK(is_refused());
  SiteInfo atomic = word(Operation::kAtomic);
  atomic.asynchrony = Asynchrony::kThreadGroup;
  scenario.access(kThread, atomic, kData);
  CHECK(is_refused());
  CHECK(scenario.races().empty());
}

TEST_CASE("copies that nobody waited for are over with their launch") {
  AsyncScenario scenario;
  const LaunchId first = scenario.launch(1, 1);
  scenario.bulk(kThread, kData, shared(0), 16);
  scenario.exit(kThread);
  const LaunchId second = scenario.launch(1, 1, {first});
  scenario.read({.launch = second}, kData);
  CHECK(scenario.is_clean());
}

TEST_CASE("a cluster barrier hands on what its threads fenced, for another one to publish") {
  AsyncScenario scenario(4, 1, 2);
  scenario.write({.cta = 0}, kData);
  scenario.fence({.cta = 0}, Scope::kGpu);
  for (const std::uint32_t cta : {0U, 1U}) {
    scenario.cluster_arrive({.cta = cta});
  }
  scenario.cluster_wait({.cta = 1});
  scenario.store({.cta = 1}, word(Operation::kWrite, MemoryOrder::kRelaxed, Scope::kGpu), kFlag, 1);
  scenario.load({.cta = 2}, word(Operation::kRead, MemoryOrder::kAcquire, Scope::kGpu), kFlag, 1);
  scenario.read({.cta = 2}, kData);
  CHECK(scenario.is_clean());
}

}  // namespace barracuda::detector::test
