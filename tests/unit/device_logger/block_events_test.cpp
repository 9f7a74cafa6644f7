// Barriers and ends of whole blocks: one record where each warp makes the event in turn, and the
// records of the warps where they do not.
#include "device_logger/block_events.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "logged_machine.h"

namespace barracuda::wire {
namespace {

using Outcome = GatherStep::Outcome;

constexpr WarpEvent kBarrier{.site = 7}, kExit{.site = 9, .detail = 1};

// A block of four warps, and what has been logged of it.
class Block {
 public:
  Outcome add(const WarpEvent& event, std::uint32_t warp, bool is_whole = true) {
    const GatherStep step = gathered_.add(event, warp, 4, is_whole);
    logged_before = 0;
    if (step.outcome == Outcome::kSingly) {
      for (; gathered_.warps() != 0; gathered_ = gathered_.without_first()) {
        logged_before |= gathered_.warps() & (0 - gathered_.warps());
        kept = gathered_.event();
      }
    }
    gathered_ = step.next;
    return step.outcome;
  }

  std::uint32_t logged_before = 0;  // the kept warps
  WarpEvent kept;

 private:
  GatheredEvents gathered_{0};
};

// The kinds of the records of events, in their order.
std::vector<RecordKind> events_of(LoggedMachine& machine, const std::string& kernel,
                                  std::uint32_t threads) {
  const std::uint64_t out = machine.allocate(std::size_t{threads} * 8);
  machine.keep_states(kernel, 1);
  machine.launch(kernel, 1, threads, {out});
  std::vector<RecordKind> kinds;
  for (const LoggedRecord& record : machine.read()) {
    const Operation operation = machine.site_of(record).info.operation;
    if (operation == Operation::kBarrier || operation == Operation::kExit) {
      kinds.push_back(record.kind());
    }
  }
  return kinds;
}

}  // namespace

TEST_CASE("the last warp logs for its block", "[logger]") {
  Block block;
  for (int round = 0; round < 3; ++round) {
    CHECK(block.add(kBarrier, 2) == Outcome::kKept);
    CHECK(block.add(kBarrier, 0) == Outcome::kKept);
    CHECK(block.add(kBarrier, 3) == Outcome::kKept);
    CHECK(block.add(kBarrier, 1) == Outcome::kOfBlock);
  }
  CHECK(GatheredEvents(0).add(kExit, 0, 1, true).outcome == Outcome::kOfBlock);
  GatheredEvents all(0);
  for (std::uint32_t warp = 0; warp < 31; ++warp) {
    const GatherStep step = all.add(kBarrier, warp, 32, true);
    REQUIRE(step.outcome == Outcome::kKept);
    all = step.next;
  }
  CHECK(all.add(kBarrier, 31, 32, true).outcome == Outcome::kOfBlock);
}

TEST_CASE("events that differ are logged singly, and all after them", "[logger]") {
  Block block;
  block.add(kExit, 1);
  block.add(kExit, 3);
  CHECK(block.add(kBarrier, 0) == Outcome::kSingly);
  CHECK(block.logged_before == 0b1010);
  CHECK(block.kept.site == kExit.site);
  CHECK(block.kept.detail == kExit.detail);
  CHECK(block.add(kBarrier, 2) == Outcome::kSingly);
  CHECK(block.logged_before == 0);

  Block parted;
  parted.add(kBarrier, 1);
  CHECK(parted.add(kBarrier, 0, false) == Outcome::kSingly);
  CHECK(parted.logged_before == 0b10);

  Block wide;  // a detail that the word has no room for
  CHECK(wide.add({.site = 7, .detail = 2}, 0) == Outcome::kSingly);
}

TEST_CASE("who has begun to log events singly goes on, though its warp has met meanwhile",
          "[logger]") {
  const GatheredEvents kept = GatheredEvents(0).add(kBarrier, 0, 2, true).next;
  REQUIRE(kept.add(kBarrier, 1, 2, false).outcome == Outcome::kSingly);
  // Warp 0 is logged, and the queue has no room for warp 1, which comes again as a whole.
  CHECK(kept.without_first().add(kBarrier, 1, 2, true).outcome == Outcome::kSingly);
}

TEST_CASE("a warp has the threads that its block has", "[logger]") {
  CHECK(lanes_of_warp(0, 32) == ~0U);
  CHECK(lanes_of_warp(1, 33) == 1);
  CHECK(lanes_of_warp(31, 1024) == ~0U);
  CHECK(lanes_of_warp(3, 100) == 0xF);
}

TEST_CASE("barriers and exits of whole blocks are one record each", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const auto all_of_blocks = [](const std::vector<RecordKind>& kinds) {
    return !kinds.empty() && std::ranges::all_of(kinds, [](RecordKind kind) {
      return kind == RecordKind::kBlockEvent;
    });
  };
  CHECK(all_of_blocks(events_of(machine, "use_shared", 64)));
  CHECK(all_of_blocks(events_of(machine, "use_shared", 50)));  // with a warp in part
}

TEST_CASE("a barrier that orders nothing is not logged", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  // The end of the block is logged, for its stores are.
  CHECK(events_of(machine, "use_shared", 64) == std::vector{RecordKind::kBlockEvent});
  CHECK(events_of(machine, "reduce_shared", 128) == std::vector{RecordKind::kBlockEvent});
  CHECK(events_of(machine, "store_and_wait", 64) ==
        std::vector{RecordKind::kBlockEvent, RecordKind::kBlockEvent});
  // Of two barriers that each warp is counted at the first orders the loads before it.
  CHECK(events_of(machine, "wait_if_zero", 64) ==
        std::vector{RecordKind::kBlockEvent, RecordKind::kBlockEvent});
}

TEST_CASE("without states each warp logs each barrier", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const std::uint64_t out = machine.allocate(128 * 4);
  machine.launch("store_and_wait", 1, 64, {out});
  CHECK(machine.read("bar.sync").size() == 4);
  CHECK(machine.read().empty());
}

TEST_CASE("the last block logs the end of those of which nothing was logged", "[logger]") {
  std::uint64_t ended = 0;
  const auto end = [&](std::uint32_t logged) {
    const BlockEnd it = end_of_block({ended}, logged, 4);
    ended += EndedBlocks::step(logged);
    return it;
  };
  CHECK_FALSE(end(0).is_logged);
  const BlockEnd touched = end(kLoggedEver);
  CHECK(touched.is_logged);
  CHECK(touched.others == 0);
  CHECK_FALSE(end(0).is_logged);
  SECTION("and its own") {
    const BlockEnd last = end(kLoggedEver | kLoggedSinceBarrier);
    CHECK(last.is_logged);
    CHECK(last.others == 2);
  }
  SECTION("of which nothing was logged either") {
    const BlockEnd last = end(0);
    CHECK(last.is_logged);
    CHECK(last.others == 2);
  }
}

TEST_CASE("who leaves early is logged before who goes on", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const std::vector<RecordKind> kinds = events_of(machine, "leave_early", 64);
  CHECK(kinds.size() >= 3);
  CHECK(std::ranges::count(kinds, RecordKind::kBlockEvent) == 0);
}

}  // namespace barracuda::wire
