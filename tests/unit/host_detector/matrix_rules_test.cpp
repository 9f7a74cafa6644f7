// What a wgmma reads, when, and what orders it: each rule with the nearest thing that it does not
// order.
#include <catch2/catch.hpp>

#include "device_logger/matrix_descriptor.h"
#include "tests/unit/host_detector/async_scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr Who kWarp{.warp = 0, .mask = kAll}, kOtherWarp{.warp = 1, .mask = kAll};
constexpr Who kLane{.warp = 0}, kOtherLane{.warp = 0, .mask = 1U << 9};
constexpr std::uint64_t kA = 0, kB = 4096, kNextB = 8192;  // tiles in shared memory

// A tile without swizzle whose core matrices follow each other: 256 bytes for eight rows.
std::uint64_t tile(std::uint64_t at) {
  return at >> 4 | std::uint64_t{128 >> 4} << 16 | std::uint64_t{256 >> 4} << 32;
}

class MatrixScenario : public AsyncScenario {
 public:
  explicit MatrixScenario(std::uint32_t warps = 2) : AsyncScenario(1, warps * 32) {}

  SiteId product(const Who& who, std::uint64_t a, std::uint64_t b,
                 const wire::ProductShape& shape = {.columns = 8}) {
    SiteInfo site{.operation = Operation::kMatrixProduct, .proxy = wire::Proxy::kAsync};
    site.asynchrony = Asynchrony::kMatrixGroup;
    site.element_bytes = wire::kUnitBytes;
    site.element_count = 1;
    site.constant = shape.packed();
    WarpOperation operation = start(who, site, RecordKind::kOperands);
    operation.lanes.fill({.address = shared(0), .value_read = a, .value_written = b});
    operation.mask &= ~operation.mask + 1;  // one lane stands for the warp
    detector.apply(operation);
    return operation.site;
  }

  void end_group(const Who& who) { commit(who, Asynchrony::kMatrixGroup); }

  void wait(const Who& who, std::uint32_t left) { wait_group(who, left, Asynchrony::kMatrixGroup); }

  void meet() {
    barrier(kWarp);
    barrier(kOtherWarp);
  }
};

}  // namespace

TEST_CASE("a product needs a proxy fence after its tiles were stored, and a barrier") {
  for (const bool is_fenced : {true, false}) {
    MatrixScenario scenario;
    scenario.write(kOtherWarp, shared(kB), 4);
    if (is_fenced) {
      scenario.proxy_fence(kOtherWarp);
    }
    scenario.meet();
    scenario.product(kWarp, tile(kA), tile(kB));
    if (is_fenced) {
      CHECK(scenario.is_clean());
    } else {
      CHECK(scenario.lacks(MissingOrder::kProxyFenceMissing));
    }
  }
  MatrixScenario scenario;
  scenario.write(kOtherWarp, shared(kB), 4);
  scenario.proxy_fence(kOtherWarp);
  scenario.product(kWarp, tile(kA), tile(kB));
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("a fence by the warp that multiplies serves as well") {
  MatrixScenario scenario;
  scenario.write(kOtherWarp, shared(kB), 4);
  scenario.meet();
  scenario.proxy_fence(kWarp);
  scenario.product(kWarp, tile(kA), tile(kB));
  CHECK(scenario.is_clean());
}

TEST_CASE("a warp reads its sixteen rows of A, and all of B") {
  // Of warp 1, rows 16 to 31 lie from 512 to 1023.
  for (const auto& [at, is_read] : {std::pair{508U, false}, std::pair{512U, true},
                                    std::pair{1020U, true}, std::pair{1024U, false}}) {
    MatrixScenario scenario;
    scenario.product(kOtherWarp, tile(kA), tile(kB));
    scenario.write(kLane, shared(at));
    CHECK(scenario.races().size() == (is_read ? 1 : 0));
    CHECK(scenario.detector.rejected() == 0);
  }
  for (const auto& [at, is_read] :
       {std::pair{0U, true}, std::pair{252U, true}, std::pair{256U, false}}) {
    MatrixScenario scenario;
    scenario.product(kOtherWarp, tile(kA), tile(kB));
    scenario.write(kLane, shared(kB + at));
    CHECK(scenario.races().size() == (is_read ? 1 : 0));
  }
  MatrixScenario wide;
  wide.product(kOtherWarp, tile(kA), tile(kB), {.columns = 64});
  wide.write(kLane, shared(kB + 64 * 32 - 4));
  CHECK(wide.has_only(Severity::kError));
}

TEST_CASE("A that lies in registers is not read from shared memory") {
  MatrixScenario scenario;
  scenario.product(kOtherWarp, wire::kNoOperand, tile(kB), {.columns = 8, .has_registers = true});
  scenario.write(kLane, shared(512));
  scenario.write(kLane, shared(0));
  CHECK(scenario.is_clean());
  scenario.write(kLane, shared(kB));
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("until its group was waited for, a tile may not be stored again, not by its warp") {
  MatrixScenario waits, does_not, waits_for_others;
  for (MatrixScenario* scenario : {&waits, &does_not, &waits_for_others}) {
    scenario->product(kWarp, tile(kA), tile(kB));
    scenario->end_group(kWarp);
  }
  waits.wait(kWarp, 0);
  waits.write(kOtherLane, shared(kB));  // all lanes have waited
  CHECK(waits.is_clean());
  does_not.write(kLane, shared(kB));
  CHECK(does_not.lacks(MissingOrder::kAsyncWaitMissing));
  waits_for_others.wait_group(kWarp, 0, Asynchrony::kBulkGroup);
  waits_for_others.write(kLane, shared(kB));
  CHECK(waits_for_others.lacks(MissingOrder::kAsyncWaitMissing));
}

TEST_CASE("a product that no group ends is not waited for") {
  MatrixScenario scenario;
  scenario.end_group(kWarp);
  scenario.product(kWarp, tile(kA), tile(kB));
  scenario.wait(kWarp, 0);
  scenario.write(kLane, shared(kB));
  CHECK(scenario.lacks(MissingOrder::kAsyncWaitMissing));
}

TEST_CASE("a wait leaves the last groups alone") {
  MatrixScenario scenario;
  scenario.product(kWarp, tile(kA), tile(kB));
  scenario.end_group(kWarp);
  scenario.product(kWarp, tile(kA), tile(kNextB));
  scenario.end_group(kWarp);
  scenario.wait(kWarp, 1);
  scenario.write(kLane, shared(kB));
  CHECK(scenario.is_clean());
  scenario.write(kLane, shared(kNextB));
  CHECK(scenario.lacks(MissingOrder::kAsyncWaitMissing));
}

TEST_CASE("a wait is for the products of the whole warpgroup, and no other's") {
  constexpr Who kLast{.warp = 3, .mask = kAll}, kNext{.warp = 4, .mask = kAll};
  for (const Who& other : {kLast, kNext}) {
    MatrixScenario scenario(5);
    for (const Who& who : {kWarp, other}) {
      scenario.product(who, tile(kA), tile(kB));
      scenario.end_group(who);
    }
    scenario.wait(kWarp, 0);
    scenario.write(kOtherLane, shared(kB));
    CHECK(scenario.races().size() == (other.warp == kLast.warp ? 0 : 1));
    CHECK(scenario.detector.rejected() == 0);
  }
}

TEST_CASE("a wait of one warp leaves the last groups of the others alone") {
  MatrixScenario scenario;
  for (const std::uint64_t b : {kB, kNextB}) {
    for (const Who& who : {kWarp, kOtherWarp}) {
      scenario.product(who, tile(kA), tile(b));
      scenario.end_group(who);
    }
  }
  scenario.wait(kWarp, 1);
  scenario.write(kLane, shared(kB));
  CHECK(scenario.is_clean());
  scenario.write(kLane, shared(kNextB));
  CHECK(scenario.races().size() == 2);  // of its own warp's last product, and the other's
}

TEST_CASE("a wait orders who waited and who meets it after") {
  MatrixScenario meets, does_not;
  for (MatrixScenario* scenario : {&meets, &does_not}) {
    for (const Who& who : {kWarp, kOtherWarp}) {
      scenario->product(who, tile(kA), tile(kB));
      scenario->end_group(who);
    }
    scenario->wait(kWarp, 0);
  }
  meets.meet();
  meets.write(kOtherWarp, shared(kB), 4);
  CHECK(meets.is_clean());
  does_not.write(kOtherWarp, shared(kB), 4);
  CHECK(does_not.races().size() == 2);
}

TEST_CASE("a barrier before the wait is too early") {
  MatrixScenario scenario;
  scenario.product(kWarp, tile(kA), tile(kB));
  scenario.end_group(kWarp);
  scenario.meet();
  scenario.wait(kWarp, 0);
  scenario.write(kOtherWarp, shared(kB), 4);
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("products only read: of one tile there may be many") {
  MatrixScenario scenario;
  scenario.product(kWarp, tile(kA), tile(kB));
  scenario.product(kOtherWarp, tile(kA), tile(kB));
  scenario.product(kWarp, tile(kA), tile(kB));
  scenario.read(kOtherLane, shared(kB));
  CHECK(scenario.is_clean());
}

TEST_CASE("a tile that a bulk copy fills needs no proxy fence, but the wait for it") {
  for (const bool waits : {true, false}) {
    MatrixScenario scenario;
    scenario.mbarrier(kLane, Operation::kMbarrierInit, shared(16384), 1);
    scenario.mbarrier(kLane, Operation::kMbarrierArrive, shared(16384), 1, 256);
    scenario.meet();
    scenario.bulk(kLane, shared(kB), kData, 256, shared(16384));
    if (waits) {
      scenario.mbarrier(kWarp, Operation::kMbarrierWait, shared(16384), 0);
    }
    scenario.product(kWarp, wire::kNoOperand, tile(kB), {.columns = 8, .has_registers = true});
    CHECK(scenario.races().size() == (waits ? 0 : 1));
    CHECK(scenario.detector.rejected() == 0);
  }
}

TEST_CASE("products whose shape cannot be are refused and counted") {
  MatrixScenario scenario;
  scenario.product(kWarp, tile(kA), tile(kB), {.columns = 0});
  CHECK(scenario.detector.rejected() == 1);
  CHECK(scenario.races().empty());
}

}  // namespace barracuda::detector::test
