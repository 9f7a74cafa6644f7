// Blocks of a launch under other numbers: every number once, in the program as in the records.
#include "device_logger/block_order.h"

#include <set>

#include <catch2/catch.hpp>

#include "logged_machine.h"

namespace barracuda::wire {
namespace {

constexpr std::uint32_t kBackwards = BlockOrder::kBackwards;

}  // namespace

TEST_CASE("every block gets a number of its window, and no other block gets it", "[logger]") {
  const std::uint32_t blocks = GENERATE(1U, 5U, 132U, 133U, 1000U);
  const std::uint16_t factor = GENERATE(std::uint16_t{1}, std::uint16_t{137}, std::uint16_t{65521});
  const std::uint32_t turn = GENERATE(0U, 1U, 131U, 0x7FFFFFFFU, kBackwards, kBackwards | 77U);
  constexpr std::uint32_t kWindow = 132;
  std::set<std::uint32_t> numbers;
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const std::uint32_t number = program_block({kWindow, factor, turn}, block, blocks);
    CHECK(number < blocks);
    CHECK(number / kWindow == block / kWindow);
    numbers.insert(number);
  }
  CHECK(numbers.size() == blocks);
}

TEST_CASE("backwards is the last block of a window first; without a window nothing changes") {
  CHECK(program_block({4, 1, kBackwards}, 0, 8) == 3);
  CHECK(program_block({4, 1, kBackwards}, 7, 8) == 4);
  CHECK(program_block({4, 1, kBackwards}, 4, 5) == 4);
  CHECK(program_block({4, 1, 1}, 3, 8) == 0);
  CHECK(program_block({}, 5, 8) == 5);
}

TEST_CASE("a program reads the numbers that its launch chose, and records name them", "[logger]") {
  constexpr std::uint32_t kBlocks = 6;
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS, {.block_order = {4, 1, kBackwards}});
  const std::uint64_t out = machine.allocate(kBlocks * 4);
  machine.launch("name_blocks", kBlocks, 1, {out});
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    CHECK(LoggedMachine::at<std::uint32_t>(out)[block] == 1000 + block);
  }
  std::set<std::uint32_t> stored;
  for (const LoggedRecord& record : machine.read("st.global")) {
    CHECK(record.lanes.at(0).address == out + std::uint64_t{4} * record.header.cta);
    stored.insert(record.header.cta);
  }
  CHECK(stored.size() == kBlocks);
}

}  // namespace barracuda::wire
