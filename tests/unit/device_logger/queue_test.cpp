// The ring itself: laps, back-pressure, and a launch that logs nothing.
#include <atomic>
#include <bit>
#include <string_view>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "logged_machine.h"

namespace barracuda::wire {

TEST_CASE("a full queue makes the device wait and loses nothing", "[logger]") {
  const auto mode = GENERATE(CommitMode::kSelfValidating, CommitMode::kFenceAndFlag);
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS, {.slots_log2 = 7, .mode = mode});
  const std::uint64_t data = machine.allocate(4096);
  constexpr std::uint64_t kRounds = 50, kCtas = 4;
  std::atomic<bool> is_over{false};
  std::size_t records = 0;
  std::thread consumer([&] {
    bool was_over = false;
    while (!was_over) {
      was_over = is_over;
      records += machine.read().size();
      std::this_thread::yield();
    }
  });
  machine.launch("count_up", kCtas, 64, {data, kRounds});
  is_over = true;
  consumer.join();
  // Per warp and round a load and a store, and one exit per warp.
  CHECK(records == kCtas * 2 * (2 * kRounds + 1));
  CHECK(machine.claimed(0) == records);
  CHECK(LoggedMachine::at<int>(data)[0] == static_cast<int>(kRounds));
  CHECK(LoggedMachine::at<int>(data)[255] == static_cast<int>(kRounds));
}

// How many instructions a launch takes that claims 808 slots of 512, when the host has read this
// much.
std::uint64_t instructions_with(std::uint64_t read_position, bool steady) {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS, {.slots_log2 = 9, .steady_claims = steady});
  const std::uint64_t data = machine.allocate(4096);
  machine.set_read_position(read_position);
  machine.launch("count_up", 4, 64, {data, 50});
  CHECK(machine.claimed(0) == 808);
  return machine.warp_instructions();
}

TEST_CASE("steady claims take the same instructions however far the host has read", "[logger]") {
  CHECK(instructions_with(296, true) == instructions_with(808, true));
  CHECK(instructions_with(296, true) == instructions_with(500, true));
}

TEST_CASE("lanes of different sites in one hook have records of their own", "[logger]") {
  const auto mode = GENERATE(CommitMode::kSelfValidating, CommitMode::kFenceAndFlag);
  const auto* const kernel = GENERATE("count_up", "take_tickets", "use_shared");
  LoggedMachine plain(BARRACUDA_LOGGER_KERNELS, {.mode = mode});
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS, {.mode = mode, .two_sites_a_call = true});
  for (LoggedMachine* const one : {&plain, &machine}) {
    const std::uint64_t data = one->allocate(4096), more = one->allocate(4096);
    const bool has_two = std::string_view(kernel) != "use_shared";
    const bool counts = std::string_view(kernel) == "count_up";
    one->launch(kernel, 1, 64,
                has_two ? std::vector{data, counts ? std::uint64_t{2} : more} : std::vector{data});
  }
  const auto lanes_of = [](const std::vector<LoggedRecord>& records) {
    std::size_t lanes = 0;
    for (const LoggedRecord& record : records) {
      lanes += static_cast<std::size_t>(std::popcount(record.header.mask));
    }
    return lanes;
  };
  const auto records = machine.read();
  CHECK(lanes_of(records) == lanes_of(plain.read()));
  for (const LoggedRecord& record : records) {
    CHECK(((record.header.mask & 0x55555555) == 0 || (record.header.mask & 0xAAAAAAAA) == 0));
  }
}

TEST_CASE("without a descriptor nothing is logged and the kernel computes the same", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS, {.with_descriptor = false});
  const std::uint64_t out = machine.allocate(4096), counter = machine.allocate(256);
  machine.launch("use_shared", 1, 64, {out});
  CHECK(LoggedMachine::at<int>(out)[1] == 62 * 3);
  machine.launch("take_tickets", 2, 64, {counter, out});
  CHECK(*LoggedMachine::at<int>(counter) == 256);
  CHECK(machine.read().empty());
  CHECK(machine.claimed(0) == 0);
}

}  // namespace barracuda::wire
