// Random kernels whose lanes part, work for a while and meet, again and again, so that a turn ends
// at any place: one in which everybody comes is never taken for a deadlock, and one that ends with
// two barriers that cannot open always is, whatever the schedule.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <rapidcheck.h>

#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::kernel_text;
using test::shape;

namespace {

constexpr std::uint32_t kWarps = 2, kRounds = 400;

// Lanes with a bit of their number set and the others do so much work each, and meet.
struct Step {
  enum class Meeting : std::uint8_t { kWarp, kWarpApart, kOwnGroup, kVote, kBlock, kBlockApart };
  Meeting meeting = Meeting::kWarp;
  std::uint32_t bit = 0, without = 0, with = 0;
};

rc::Gen<Step> steps() {
  return rc::gen::build<Step>(
      rc::gen::set(&Step::meeting,
                   rc::gen::element(Step::Meeting::kWarp, Step::Meeting::kWarpApart,
                                    Step::Meeting::kOwnGroup, Step::Meeting::kVote,
                                    Step::Meeting::kBlock, Step::Meeting::kBlockApart)),
      rc::gen::set(&Step::bit, rc::gen::inRange<std::uint32_t>(0, 5)),
      rc::gen::set(&Step::without, rc::gen::inRange<std::uint32_t>(0, 8)),
      rc::gen::set(&Step::with, rc::gen::inRange<std::uint32_t>(0, 8)));
}

std::string work(std::uint32_t instructions) {
  std::string text;
  for (std::uint32_t i = 0; i < instructions; ++i) {
    text += "add.u32 %r3, %r3, 1;\n";
  }
  return text;
}

std::uint32_t lanes_with(std::uint32_t bit) {
  std::uint32_t lanes = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    lanes |= (lane >> bit & 1) << lane;
  }
  return lanes;
}

std::string text_of(const Step& step, std::size_t number) {
  std::string together, without, with;
  switch (step.meeting) {
    case Step::Meeting::kWarp:
      together = "bar.warp.sync -1;";
      break;
    case Step::Meeting::kWarpApart:
      without = with = "bar.warp.sync -1;";
      break;
    case Step::Meeting::kOwnGroup:
      with = fmt::format("bar.warp.sync {};", lanes_with(step.bit));
      without = fmt::format("bar.warp.sync {};", ~lanes_with(step.bit));
      break;
    case Step::Meeting::kVote:
      together = "vote.sync.ballot.b32 %r4, %p1, -1;";
      break;
    case Step::Meeting::kBlock:
      together = "barrier.sync 0;";
      break;
    case Step::Meeting::kBlockApart:
      without = with = "barrier.sync 0;";
      break;
  }
  return fmt::format(R"(
    and.b32 %r1, %thread, {};
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra WITH{};
{}{}
    bra MEET{};
WITH{}:
{}{}
MEET{}:
{})",
                     1U << step.bit, number, work(step.without), without, number, number,
                     work(step.with), with, number, together);
}

std::string text_of(const std::vector<Step>& all, const std::string& end) {
  std::string body = "mov.u32 %r2, 0;\nmov.u32 %r3, 0;\nAGAIN:\n";
  for (std::size_t number = 0; number < all.size(); ++number) {
    body += text_of(all[number], number);
  }
  return kernel_text(body + fmt::format(R"(
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p2, %r2, {};
    @%p2 bra AGAIN;
{})",
                                        kRounds, end));
}

std::vector<MachineOptions> schedules() {
  std::vector<MachineOptions> all(4);
  all[0].workers = 1;
  all[1].is_reversed = true;
  all[2].seed = *rc::gen::inRange<std::uint64_t>(1, 1000);
  all[3].seed = *rc::gen::inRange<std::uint64_t>(1, 1000);
  for (MachineOptions& options : all) {
    options.launch_timeout_ms = 60000;
  }
  return all;
}

DeviceErrorCode run(const std::string& text, const MachineOptions& options) {
  Device device(text, options);
  return device.run("k", shape({1}, {32 * kWarps}), std::uint64_t{0}).code;
}

}  // namespace

TEST_CASE(
    "who waits for lanes that come is no deadlock, and two barriers that cannot open are one") {
  CHECK(rc::check("deadlocks", [] {
    const auto all =
        *rc::gen::resize(5, rc::gen::nonEmpty(rc::gen::container<std::vector<Step>>(steps())));
    const std::string good = text_of(all, "");
    const std::string bad = text_of(all, R"(
    and.b32 %r1, %thread, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra ODD;
    barrier.sync 1;
    bra END;
ODD:
    barrier.sync 2;
END:)");
    for (const MachineOptions& options : schedules()) {
      RC_ASSERT(run(good, options) == DeviceErrorCode::kNone);
      RC_ASSERT(run(bad, options) == DeviceErrorCode::kDeadlock);
    }
  }));
}
