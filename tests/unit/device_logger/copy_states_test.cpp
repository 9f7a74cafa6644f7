// What is logged of asynchronous copies that have states.
#include "device_logger/copy_states.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "logged_machine.h"

namespace barracuda::wire {
namespace {

constexpr std::uint32_t kThreads = 64;

// What a launch of the kernel `ring` logs, by instruction, and of the copies that were kept by what
// is known of their end and by their group.
struct Ring {
  std::map<std::string, int> logged;
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> kept;

  explicit Ring(std::uint64_t how, bool leaves_out = true) {
    LoggedMachine machine(BARRACUDA_ASYNCHRONOUS_KERNELS);
    const std::uint64_t in = machine.allocate(4 * kThreads), out = machine.allocate(4 * kThreads);
    machine.keep_states("ring", 1);
    if (leaves_out) {
      machine.unlogged() = {.count = 1};
      machine.unlogged().ranges[0] = {.address = in, .bytes = std::uint64_t{4} * kThreads};
    }
    machine.launch("ring", 1, kThreads, {out, in, how});
    for (const LoggedRecord& record : machine.read()) {
      const ptx::Site& site = machine.site_of(record);
      if (record.kind() != RecordKind::kEarlier || !site.instruction.starts_with("cp.async")) {
        const bool reads = site.info.operation == Operation::kRead;
        ++logged[site.instruction +
                 (site.instruction.starts_with("cp.async.ca") && reads ? " read" : "")];
        continue;
      }
      const LoggedLane& lane = record.lanes.begin()->second;
      CHECK(space_of(lane.address) == AddressSpace::kShared);
      ++kept[{static_cast<std::uint16_t>(record.pattern.stride0),
              CopyRecord::unpacked(record.uniform_value.value_or(0)).group}];
    }
  }
};

}  // namespace

TEST_CASE("whether a copy is over depends on its thread's waits and on the interval", "[logger]") {
  using enum CopyStatus;
  CopyProgress progress(0);
  CHECK(progress.status(0, 0) == kPending);
  CHECK(progress.waited_in(0) == 0);
  progress = progress.after_wait(2, 5);  // groups 0 and 1
  CHECK(progress.status(1, 5) == kOver);
  CHECK(progress.status(1, 6) == kSettled);
  CHECK(progress.status(2, 6) == kPending);
  CHECK((progress.waited_in(5) == 2 && progress.waited_in(6) == 0));
  CHECK(progress.after_wait(1, 6).bits() == progress.bits());
  progress = progress.after_wait(3, 5);  // twice in one interval
  CHECK((progress.status(1, 5) == kOver && progress.status(2, 5) == kOver));
  progress = progress.after_wait(4, 7);
  CHECK((progress.status(2, 7) == kSettled && progress.status(3, 7) == kOver));
  // When all numbers begin again, it is of no interval.
  const CopyProgress later(WordState(progress.bits()).without_interval().bits());
  CHECK((later.status(3, 1) == kSettled && later.status(4, 1) == kPending));
  CHECK(CopyProgress(0).after_wait(kMostGroups, kMostIntervals).status(kMostGroups - 1, 0) ==
        kSettled);
}

TEST_CASE("groups are counted in a register, and waits from its end", "[logger]") {
  CHECK(after_commit(3) == 4);
  CHECK(after_commit(kLogsGroups | 3) == (kLogsGroups | 4));
  CHECK(after_commit(kMostGroups) == kMostGroups);
  CHECK((groups_over(5, 0) == 5 && groups_over(5, 2) == 3 && groups_over(5, 7) == 0));
  CHECK(groups_over(kLogsGroups | 5, 2) == 3);
  CHECK((progress_offset(800, 4, 0) == 768 && progress_offset(800, 4, 3) == 792));
}

TEST_CASE("the state of a copy stays beyond its interval", "[logger]") {
  const KeptAccess by{.thread = 1023, .site = kMostStateSites - 1, .granules_log2 = 3};
  const WordState state = WordState::of_copy(9, by, kMostGroups, false);
  CHECK(state.is_copy());
  CHECK((state.first().thread == by.thread && state.first().site == by.site &&
         state.first().granules_log2 == by.granules_log2 && state.group() == kMostGroups));
  CHECK_FALSE(state.is_logged_in(9));
  const WordState logged = WordState::of_copy(9, by, 4, true);
  CHECK((logged.is_logged_in(9) && !logged.is_logged_in(10) && logged.group() == 4));
  CHECK(logged.without_interval().bits() == WordState::of_copy(0, by, 4, false).bits());
  const WordState read = WordState::of(9, WordState::Kind::kRead, by).with_strength(true);
  CHECK_FALSE(read.is_copy());
  CHECK(read.without_interval().bits() == 0);
  CHECK_FALSE(WordState(0).is_copy());
}

TEST_CASE("a ring of copies that are waited for in time logs nothing of shared memory",
          "[logger]") {
  const Ring ring(0);
  CHECK(ring.kept.empty());
  CHECK(ring.logged.contains("st.global.u32"));
  CHECK(std::ranges::none_of(ring.logged, [](const auto& instruction) {
    return instruction.first.starts_with("cp.async") || instruction.first.starts_with("ld.shared");
  }));
}

TEST_CASE("who reads what is still under way logs it, and the copy", "[logger]") {
  const Ring ring(1);
  // Of six stages each thread reads each before its neighbour has waited for it.
  CHECK(ring.logged.at("ld.shared.u32") >= 12);
  for (std::uint32_t group = 1; group <= 6; ++group) {
    CHECK(ring.kept.at({kCopyPending, group}) >=
          static_cast<int>(kThreads) - 2);  // a warp may be ahead
  }
  CHECK_FALSE(ring.logged.contains("cp.async.wait_group"));
}

TEST_CASE("without a barrier a copy that is over conflicts with the neighbour's read", "[logger]") {
  const Ring ring(2);
  CHECK_FALSE(ring.kept.empty());
  CHECK(ring.logged.contains("ld.shared.u32"));
}

TEST_CASE("whose copies' reads are logged logs its commits and waits", "[logger]") {
  const Ring ring(0, false);
  CHECK(ring.kept.empty());
  CHECK(ring.logged.at("cp.async.ca.shared.global read") == 16);
  CHECK(ring.logged.at("cp.async.commit_group") == 16);
  CHECK(ring.logged.at("cp.async.wait_group") == 12);
  CHECK_FALSE(ring.logged.contains("ld.shared.u32"));
}

}  // namespace barracuda::wire
