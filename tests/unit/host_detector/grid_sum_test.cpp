// What all blocks add to and all read behind a barrier of the grid, as in a dot product: what the
// first reader finds of the many that added stands for those behind it, and for nobody who knows
// less (SharedAccessSet::AllBefore).
#include <cstdint>

#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr std::uint32_t kBlocks = 40;
constexpr std::uint64_t kSum = kData;

class GridSum {
 public:
  GridSum() : scenario_(kBlocks, 64) {
    const Who first{.cta = kBlocks - 1};
    add_ = scenario_.atomic(first, word(Operation::kAtomic, MemoryOrder::kRelaxed, Scope::kGpu),
                            kSum, 0, 1);
    read_ = scenario_.read(first, kElsewhere);
  }

  void add(const Who& who) {
    ++sum_;
    scenario_.atomic_again(who, add_, kSum, sum_, sum_ + 1);
  }

  // Warp 0 of each block adds, and all meet.
  void add_by_all() {
    for (std::uint32_t cta = 0; cta < kBlocks; ++cta) {
      add({.cta = cta});
    }
    meet();
  }

  // A barrier of the grid, of which one block takes nothing: thread 0 of each block, then all of
  // it.
  void meet(std::uint32_t late = kBlocks) {
    for (std::uint32_t cta = 0; cta < kBlocks; ++cta) {
      meet_in(cta);
    }
    meet_threads(late);
    for (std::uint32_t cta = 0; cta < kBlocks; ++cta) {
      meet_in(cta);
    }
  }

  // Thread 0 of each block.
  void meet_threads(std::uint32_t late = kBlocks) {
    for (std::uint32_t cta = 0; cta < kBlocks; ++cta) {
      scenario_.fence({.cta = cta}, Scope::kGpu);
      scenario_.atomic({.cta = cta}, word(Operation::kAtomic, MemoryOrder::kRelaxed, Scope::kGpu),
                       kFlag, met_, met_ + 1);
      ++met_;
    }
    for (std::uint32_t cta = 0; cta < kBlocks; ++cta) {
      scenario_.load({.cta = cta}, word(Operation::kRead, MemoryOrder::kRelaxed, Scope::kGpu),
                     kFlag, met_);
      if (cta != late) {
        scenario_.fence({.cta = cta}, Scope::kGpu);
      }
    }
  }

  // By one instruction, whoever does it.
  void read(std::uint32_t cta, std::uint8_t warp = 0, std::uint32_t mask = 1) {
    scenario_.read_again({.cta = cta, .warp = warp, .mask = mask}, read_, kSum);
  }

  void read_by_all() {
    for (std::uint32_t cta = 0; cta < kBlocks; ++cta) {
      read(cta);
      read(cta, 1);
    }
  }

  // One race, of the additions with the reads.
  [[nodiscard]] bool races() const {
    return scenario_.races().size() == 1 && scenario_.races()[0].first.site == AccessSite(add_) &&
           scenario_.races()[0].second.site == AccessSite(read_);
  }

  [[nodiscard]] std::size_t found() const { return scenario_.races().size(); }

  [[nodiscard]] std::uint64_t occurrences() const {
    return scenario_.races().empty() ? 0 : scenario_.races()[0].count;
  }

  [[nodiscard]] bool is_clean() const { return scenario_.is_clean(); }

 private:
  void meet_in(std::uint32_t cta) {
    for (std::uint8_t warp = 0; warp < 2; ++warp) {
      scenario_.barrier({.cta = cta, .warp = warp, .mask = kAll});
    }
  }

  static constexpr std::uint64_t kElsewhere = kData + 1024;

  Scenario scenario_;
  SiteId add_{}, read_{};
  std::uint64_t sum_ = 0, met_ = 0;
};

}  // namespace

TEST_CASE("all blocks read behind a barrier of the grid what all have added to") {
  GridSum grid;
  for (int round = 0; round < 3; ++round) {
    grid.add_by_all();
    grid.read_by_all();
    grid.meet();
  }
  CHECK(grid.is_clean());
}

TEST_CASE("who did not take from the barrier races though others before it did not") {
  GridSum grid;
  for (std::uint32_t cta = 0; cta < kBlocks; ++cta) {
    grid.add({.cta = cta});
  }
  grid.meet(0);
  grid.read_by_all();
  CHECK(grid.races());
}

TEST_CASE("who adds behind the barrier races with readers though they were looked at before") {
  GridSum grid;
  grid.add_by_all();
  grid.read(0);
  grid.read(1);
  CHECK(grid.is_clean());
  std::uint32_t who = 0;
  SECTION("another block") {
    who = 2;
  }
  SECTION("the block that read first") {
    who = 0;
  }
  grid.add({.cta = who});
  const std::uint64_t with_readers = grid.occurrences();
  CHECK(with_readers != 0);
  grid.read(3);
  CHECK(grid.occurrences() == with_readers + 1);
}

// Its own barrier orders it, not what all blocks know.
TEST_CASE("what the first reader's block did behind the barrier is before that block alone") {
  GridSum grid;
  grid.add_by_all();
  grid.add({.cta = 0});
  grid.read(0);
  CHECK(grid.is_clean());
  grid.read(1);
  CHECK(grid.races());
}

TEST_CASE("a lane does not know what another one of its warp has learnt") {
  GridSum grid;
  for (std::uint32_t cta = 0; cta < kBlocks; ++cta) {
    grid.add({.cta = cta});
  }
  grid.meet_threads();
  for (const std::uint32_t mask : {1U, 2U}) {  // before their blocks' barriers
    CHECK(grid.is_clean());
    for (std::uint32_t cta = 0; cta < kBlocks; ++cta) {
      grid.read(cta, 0, mask);
    }
  }
  CHECK(grid.found() == 2);  // with other blocks, and with lane 0
}

TEST_CASE("a warp does not know what another one of its block has done since") {
  GridSum grid;
  grid.add_by_all();
  grid.read(0);
  grid.read(1);
  CHECK(grid.is_clean());
  grid.add({.cta = 2});
  const std::uint64_t with_readers = grid.occurrences();
  grid.read(3);  // finds what block 2 added, and so does each that comes behind it
  grid.read(2);
  CHECK(grid.occurrences() == with_readers + 1);
  CHECK(grid.found() == 1);
  grid.read(2, 1);
  CHECK(grid.found() == 2);  // within a block
}

}  // namespace barracuda::detector::test
