// What tcgen05 reads of shared memory, when, and what orders it: each rule with the nearest thing
// that it does not order.
#include <catch2/catch.hpp>

#include "device_logger/tensor_reads.h"
#include "tests/unit/host_detector/async_scenario.h"

namespace barracuda::detector::test {
namespace {

using wire::TensorKind;
using wire::TensorReads;

// One thread issues; others store, wait and read.
constexpr Who kIssuer{.warp = 0, .mask = 1U << 5}, kSameWarp{.warp = 0, .mask = 1U << 9},
    kOtherThread{.warp = 1};
constexpr Who kWarp{.warp = 0, .mask = kAll}, kOtherWarp{.warp = 1, .mask = kAll};
constexpr std::uint64_t kA = 4096, kB = 8192, kNextB = 16384;  // tiles in shared memory

// A tile without swizzle whose core matrices follow each other: 256 bytes for eight rows.
std::uint64_t tile(std::uint64_t at) {
  return at >> 4 | std::uint64_t{128 >> 4} << 16 | std::uint64_t{256 >> 4} << 32 |
         std::uint64_t{1} << 46;
}

// Sums of single precision.
std::uint32_t shape_of(std::uint32_t rows, std::uint32_t columns) {
  return 1U << 4 | columns / 8 << 17 | rows / 16 << 24;
}

class TensorScenario : public AsyncScenario {
 public:
  TensorScenario() : AsyncScenario(1, 64) {
    init(kIssuer, 1);
    meet();
  }

  SiteId product(std::uint64_t a, std::uint64_t b, std::uint32_t shape = shape_of(64, 8),
                 const TensorReads& reads = {}) {
    SiteInfo site{.operation = Operation::kMatrixProduct, .proxy = wire::Proxy::kAsync};
    site.asynchrony = Asynchrony::kTensorCore;
    site.constant = reads.packed();
    return operands(kIssuer, site,
                    {.address = shared(0), .value_read = a, .value_written = b, .amount = shape});
  }

  SiteId copy(std::uint64_t from, std::uint32_t rows, std::uint32_t row_bytes) {
    return product(from, wire::kNoOperand, 0,
                   {.kind = TensorKind::kCopy, .rows = rows, .row_bytes = row_bytes});
  }

  void commit_by(const Who& who) {
    SiteInfo site{.operation = Operation::kAsyncArrive,
                  .order = MemoryOrder::kRelease,
                  .scope = Scope::kCluster};
    site.asynchrony = Asynchrony::kTensorCore;
    operands(who, site, {.address = shared(kMbarrier), .amount = 1});
  }

  void meet() {
    barrier(kWarp);
    barrier(kOtherWarp);
  }
};

}  // namespace

TEST_CASE("a tcgen05.mma needs a proxy fence after its tiles were stored, and a barrier") {
  for (const bool is_fenced : {true, false}) {
    TensorScenario scenario;
    scenario.write(kOtherThread, shared(kB));
    if (is_fenced) {
      scenario.proxy_fence(kOtherThread);
    }
    scenario.meet();
    scenario.product(tile(kA), tile(kB));
    if (is_fenced) {
      CHECK(scenario.is_clean());
    } else {
      CHECK(scenario.lacks(MissingOrder::kProxyFenceMissing));
    }
  }
  TensorScenario scenario;
  scenario.write(kOtherThread, shared(kB));
  scenario.proxy_fence(kOtherThread);
  scenario.product(tile(kA), tile(kB));
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("a tcgen05.mma reads all rows of A and B that its descriptors name") {
  for (const auto& [at, is_read] :
       {std::pair{kA - 4, false}, std::pair{kA, true}, std::pair{kA + 64 * 32 - 4, true},
        std::pair{kA + 64 * 32, false}, std::pair{kB - 4, false}, std::pair{kB, true},
        std::pair{kB + 8 * 32 - 4, true}, std::pair{kB + 8 * 32, false}}) {
    TensorScenario scenario;
    scenario.product(tile(kA), tile(kB));
    scenario.write(kSameWarp, shared(at));
    CHECK(scenario.races().size() == (is_read ? 1 : 0));
    CHECK(scenario.detector.rejected() == 0);
  }
  TensorScenario wide;
  wide.product(tile(kA), tile(kNextB), shape_of(128, 256));
  wide.write(kOtherThread, shared(kNextB + 256 * 32 - 4));
  CHECK(wide.has_only(Severity::kError));
  TensorScenario sparse;
  sparse.product(tile(kA), tile(kB), shape_of(64, 8) | 1U << 2, {.is_sparse = true});
  sparse.write(kOtherThread, shared(kB + 256 + 128 - 4));
  CHECK(sparse.has_only(Severity::kError));
}

TEST_CASE("A that lies in tensor memory is not read from shared memory") {
  TensorScenario scenario;
  scenario.product(wire::kNoOperand, tile(kB), shape_of(64, 8), {.has_tensor_memory = true});
  scenario.write(kOtherThread, shared(kA));
  CHECK(scenario.is_clean());
  scenario.write(kOtherThread, shared(kB));
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("a tcgen05.cp reads the rows that its descriptor names") {
  for (const auto& [rows, row_bytes, at, is_read] :
       {std::tuple{4U, 32U, 3U * 16, true}, std::tuple{4U, 32U, 4U * 16, false},
        std::tuple{4U, 32U, 128U + 3 * 16, true}, std::tuple{32U, 16U, 3U * 256 + 124, true},
        std::tuple{32U, 16U, 3U * 256 + 128, false}, std::tuple{32U, 16U, 4U * 256, false}}) {
    TensorScenario scenario;
    scenario.copy(tile(kA), rows, row_bytes);
    scenario.write(kOtherThread, shared(kA + at));
    CHECK(scenario.races().size() == (is_read ? 1 : 0));
    CHECK(scenario.detector.rejected() == 0);
  }
}

TEST_CASE("who waits for the phase of a commit may store the tiles again") {
  for (const bool is_committed : {true, false}) {
    for (const Who& who : {kIssuer, kSameWarp, kOtherThread}) {
      TensorScenario scenario;
      scenario.product(tile(kA), tile(kB));
      is_committed ? scenario.commit_by(kIssuer) : static_cast<void>(scenario.arrive(kIssuer));
      scenario.wait(who, 0);
      scenario.write(who, shared(kB));
      if (is_committed) {
        CHECK(scenario.is_clean());
      } else {
        CHECK(scenario.lacks(MissingOrder::kAsyncWaitMissing));
      }
    }
  }
}

TEST_CASE(
    "a barrier does not wait for a product, and a wait by one thread tells its block by one") {
  TensorScenario without;
  without.product(tile(kA), tile(kB));
  without.commit_by(kIssuer);
  without.meet();
  without.write(kOtherThread, shared(kB));
  CHECK(without.lacks(MissingOrder::kAsyncWaitMissing));
  TensorScenario scenario;
  scenario.product(tile(kA), tile(kB));
  scenario.commit_by(kIssuer);
  scenario.wait(kIssuer, 0);
  scenario.meet();
  scenario.write(kOtherThread, shared(kB));
  CHECK(scenario.is_clean());
}

TEST_CASE("a commit is for what its own thread issued before") {
  TensorScenario later;
  later.product(tile(kA), tile(kB));
  later.commit_by(kIssuer);
  later.product(tile(kA), tile(kNextB));
  later.wait(kOtherThread, 0);
  later.write(kOtherThread, shared(kB));
  CHECK(later.is_clean());
  later.write(kOtherThread, shared(kNextB));
  CHECK(later.lacks(MissingOrder::kAsyncWaitMissing));
  TensorScenario elsewhere;
  elsewhere.product(tile(kA), tile(kB));
  elsewhere.commit_by(kSameWarp);
  elsewhere.wait(kOtherThread, 0);
  elsewhere.write(kOtherThread, shared(kB));
  CHECK(elsewhere.lacks(MissingOrder::kAsyncWaitMissing));
}

TEST_CASE("a commit gives what its thread knows, and groups of other copies are not its own") {
  TensorScenario scenario;
  scenario.write(kIssuer, shared(kA));
  scenario.commit_by(kIssuer);
  scenario.wait(kOtherThread, 0);
  scenario.write(kOtherThread, shared(kA));
  CHECK(scenario.is_clean());
  TensorScenario copies;
  copies.copy_async(kIssuer, shared(kA), kData);
  copies.commit_by(kIssuer);
  copies.wait(kOtherThread, 0);
  copies.write(kOtherThread, shared(kA + 4 * 5));  // a word a lane
  CHECK(copies.lacks(MissingOrder::kAsyncWaitMissing));
  TensorScenario products;
  products.product(tile(kA), tile(kB));
  products.commit(kIssuer);
  products.wait_group(kIssuer, 0);
  products.write(kIssuer, shared(kB));
  CHECK(products.lacks(MissingOrder::kAsyncWaitMissing));
}

TEST_CASE("a product whose descriptors are not known is refused") {
  for (const std::uint32_t shape : {shape_of(32, 8), shape_of(64, 0), shape_of(64, 8) | 1U << 2}) {
    TensorScenario scenario;
    scenario.product(tile(kA), tile(kB), shape);
    CHECK(scenario.detector.rejected() == 1);
  }
  TensorScenario in_32_bytes;
  in_32_bytes.product(tile(kA), tile(kB) | std::uint64_t{1} << 61);
  CHECK(in_32_bytes.detector.rejected() == 1);
  TensorScenario transposed;
  transposed.product(tile(kA), tile(kB), shape_of(64, 8) | 1U << 16, {.kind = TensorKind::kTf32});
  CHECK(transposed.detector.rejected() == 1);
}

}  // namespace barracuda::detector::test
