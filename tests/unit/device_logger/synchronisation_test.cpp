// Records of barriers, fences, atomics and flags, and the numbers that order them.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "logged_machine.h"

namespace barracuda::wire {
namespace {

std::vector<LoggedRecord> of_kind(const std::vector<LoggedRecord>& records, RecordKind kind) {
  std::vector<LoggedRecord> found;
  std::copy_if(records.begin(), records.end(), std::back_inserter(found),
               [&](const LoggedRecord& record) { return record.kind() == kind; });
  return found;
}

}  // namespace

TEST_CASE("a CTA's records keep its program order around barriers", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS, {.queues = 2});
  const std::uint64_t out = machine.allocate(4 * 64 * 4);
  machine.launch("use_shared", 4, 64, {out});
  const auto records = machine.read();
  for (std::uint32_t cta = 0; cta < 4; ++cta) {
    std::vector<LoggedRecord> own;
    std::copy_if(records.begin(), records.end(), std::back_inserter(own),
                 [&](const LoggedRecord& record) { return record.header.cta == cta; });
    // Per warp: the store, the barrier, the load, the store of the result, the exit.
    REQUIRE(own.size() == 10);
    std::vector<Operation> first_warp;
    std::size_t barriers = 0;
    for (const LoggedRecord& record : own) {
      CHECK(record.queue == cta % 2);
      CHECK(record.header.mask == 0xFFFFFFFF);
      const Operation operation = machine.site_of(record).info.operation;
      if (operation == Operation::kRead) {
        CHECK(barriers == 2);
      }
      barriers += operation == Operation::kBarrier ? 1 : 0;
      if (record.pattern.warp == 0) {
        first_warp.push_back(operation);
      }
    }
    CHECK(first_warp == std::vector{Operation::kWrite, Operation::kBarrier, Operation::kRead,
                                    Operation::kWrite, Operation::kExit});
  }
  CHECK(LoggedMachine::at<int>(out)[0] == 63 * 3);
}

TEST_CASE("a warp of a launch tells, all lanes together, where its shared variables lie") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS, {.queues = 2, .tells_shared_places = true});
  const std::uint64_t out = machine.allocate(4096);
  machine.launch("use_two_arrays", 3, 64, {out});
  std::map<std::string, std::uint64_t> told, accessed;
  for (const LoggedRecord& record : machine.read()) {
    const ptx::Site& site = machine.site_of(record);
    if (site.info.operation == Operation::kSharedPlace) {
      CHECK(record.kind() == RecordKind::kEvent);
      CHECK((record.header.cta == 0 && record.pattern.warp == 0 && record.header.mask == ~0U));
      CHECK(site.function == "use_two_arrays");
      const bool is_first = record.pattern.stride1 == 0;
      CHECK(is_first == (told.size() == 1));
      const std::string& list = site.variable;
      told[is_first ? list.substr(0, list.find(':'))
                    : list.substr(list.find(' ') + 1, list.rfind(':') - list.find(' ') - 1)] =
          record.pattern.base_low;
      machine.make_quiet(site.id);
    } else if (site.info.operation == Operation::kWrite && record.pattern.warp == 0 &&
               record.lanes.contains(0) && site.instruction.starts_with("st.shared")) {
      accessed[site.variable] = address_of(record.lanes.at(0).address);
    }
  }
  CHECK(told.size() == 2);
  CHECK(told == accessed);
  machine.launch("use_two_arrays", 3, 64, {out});
  CHECK(std::ranges::none_of(machine.read(), [&](const LoggedRecord& record) {
    return machine.site_of(record).info.operation == Operation::kSharedPlace;
  }));
}

TEST_CASE("every release of a counter has a number of its own, without holes", "[logger]") {
  const auto mode = GENERATE(CommitMode::kSelfValidating, CommitMode::kFenceAndFlag);
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS, {.queues = 3, .mode = mode});
  const std::uint64_t counter = machine.allocate(256), out = machine.allocate(4096);
  machine.launch("take_tickets", 4, 64, {counter, out});
  const auto records = machine.read("atom");
  std::set<std::uint32_t> numbers;
  std::set<std::uint64_t> values;
  for (const LoggedRecord& record : of_kind(records, RecordKind::kRelease)) {
    for (const auto& [lane, logged] : record.lanes) {
      CHECK(logged.address == counter);
      CHECK(logged.flags == (kLaneHasRead | kLaneHasWritten));
      CHECK(logged.written == logged.read + 2);
      numbers.insert(logged.number);
      values.insert(logged.read);
    }
  }
  CHECK(numbers.size() == 256);
  CHECK(*numbers.rbegin() == 255);
  CHECK(values.size() == 256);
  std::size_t acquired = 0;
  for (const LoggedRecord& record : of_kind(records, RecordKind::kAcquire)) {
    for (const auto& [lane, logged] : record.lanes) {
      const std::uint32_t thread =
          record.header.cta * 64 + record.pattern.warp * 32U + static_cast<std::uint32_t>(lane);
      CHECK(logged.read == LoggedMachine::at<std::uint32_t>(out)[thread]);
      CHECK(logged.number > 0);
      CHECK(logged.number <= 256);
      ++acquired;
    }
  }
  CHECK(acquired == 256);
}

TEST_CASE("a reduction says what it read and left, and acquires nothing", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS, {.queues = 2});
  const std::uint64_t counter = machine.allocate(256);
  *LoggedMachine::at<std::uint32_t>(counter) = 1000;
  machine.launch("count_down", 2, 64, {counter});
  CHECK(*LoggedMachine::at<std::uint32_t>(counter) == 936);
  const auto records = machine.read("red");
  std::set<std::uint64_t> values;
  for (const LoggedRecord& record : records) {
    CHECK(record.kind() == RecordKind::kRelease);
    CHECK(machine.site_of(record).info.operation == Operation::kReduction);
    for (const auto& [lane, logged] : record.lanes) {
      CHECK(logged.flags == (kLaneHasRead | kLaneHasWritten));
      CHECK(logged.written == logged.read - 1);
      values.insert(logged.read);
    }
  }
  CHECK(values.size() == 64);
  CHECK(*values.begin() == 937);
}

TEST_CASE("a failed compare-and-swap leaves a void release", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const std::uint64_t lock = machine.allocate(256), out = machine.allocate(256);
  machine.launch("try_locks", 1, 32, {lock, out});
  const auto releases = of_kind(machine.read("atom"), RecordKind::kRelease);
  int taken = 0, failed = 0;
  for (const LoggedRecord& record : releases) {
    for (const auto& [lane, logged] : record.lanes) {
      if ((logged.flags & kLaneVoid) == 0) {
        ++taken;
        CHECK(logged.read == 0);
        CHECK(logged.written == static_cast<std::uint64_t>(lane) + 1);
        CHECK(*LoggedMachine::at<int>(lock) == lane + 1);
      } else {
        ++failed;
        CHECK(logged.read != 0);
      }
    }
  }
  CHECK(taken == 1);
  CHECK(failed == 31);
}

TEST_CASE("a poll that saw the flag has a stamp above the flag store's number", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS, {.queues = 2});
  const std::uint64_t data = machine.allocate(256), flag = machine.allocate(256),
                      out = machine.allocate(256);
  machine.launch("hand_over", 2, 1, {data, flag, out});
  CHECK(*LoggedMachine::at<int>(out) == 42);
  const auto records = machine.read();
  const auto releases = of_kind(records, RecordKind::kRelease);
  REQUIRE(releases.size() == 1);
  CHECK(machine.site_of(releases[0]).info.flag_store);
  CHECK(machine.site_of(releases[0]).info.idiom_scope == Scope::kGpu);
  CHECK(releases[0].lanes.at(0).written == 7);
  CHECK(releases[0].lanes.at(0).flags == kLaneHasWritten);
  const auto polls = of_kind(records, RecordKind::kAcquire);
  REQUIRE(!polls.empty());
  CHECK(machine.site_of(polls.back()).info.poll);
  CHECK(polls.back().lanes.at(0).read == 7);
  CHECK(polls.back().lanes.at(0).number > releases[0].lanes.at(0).number);
}

TEST_CASE("strong accesses of quiet sites take no number and leave no record", "[logger]") {
  for (const bool are_quiet : {false, true}) {
    LoggedMachine machine(BARRACUDA_LOGGER_KERNELS, {.queues = 2});
    const std::uint64_t data = machine.allocate(256), flag = machine.allocate(256),
                        out = machine.allocate(256);
    for (const ptx::Site& site : machine.sites()) {
      if (are_quiet && is_numbered_load_or_store(site.info)) {
        machine.make_quiet(site.id);
      }
    }
    machine.launch("hand_over", 2, 1, {data, flag, out});
    CHECK(*LoggedMachine::at<int>(out) == 42);
    const auto records = machine.read();
    CHECK(of_kind(records, RecordKind::kRelease).empty() == are_quiet);
    CHECK(of_kind(records, RecordKind::kAcquire).empty() == are_quiet);
    CHECK(std::ranges::count_if(records, [&](const LoggedRecord& record) {
            return machine.site_of(record).info.operation == Operation::kFence;
          }) == 2);
    // An atomic takes the next number of the same place.
    machine.launch("try_locks", 1, 1, {flag, out});
    const auto taken = of_kind(machine.read("atom"), RecordKind::kRelease);
    REQUIRE(taken.size() == 1);
    CHECK(taken[0].lanes.at(0).number == (are_quiet ? 0 : 1));
  }
}

TEST_CASE("warp barriers, early exits and calls are events of the lanes that take them",
          "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const std::uint64_t out = machine.allocate(256);
  machine.launch("warp_barriers", 1, 32, {out});
  std::vector<std::uint32_t> masks;
  std::uint32_t exited = 0;
  for (const LoggedRecord& record : machine.read()) {
    const Operation operation = machine.site_of(record).info.operation;
    if (operation == Operation::kWarpBarrier) {
      masks.push_back(record.pattern.base_low);
      CHECK(record.kind() == RecordKind::kEvent);
    } else if (operation == Operation::kExit) {
      CHECK((exited & record.header.mask) == 0);
      exited |= record.header.mask;
    }
  }
  CHECK(masks == std::vector<std::uint32_t>{0xFFFFFFFF, 0xFF});
  CHECK(exited == 0xFFFFFFFF);

  machine.launch("call_functions", 1, 32, {out});
  std::vector<Operation> operations;
  for (const LoggedRecord& record : machine.read()) {
    const Operation operation = machine.site_of(record).info.operation;
    if (operation != Operation::kExit) {
      operations.push_back(operation);
      CHECK(record.header.mask == 0x55555555);
    }
  }
  CHECK(operations == std::vector{Operation::kCall, Operation::kWrite, Operation::kReturn});
}

}  // namespace barracuda::wire
