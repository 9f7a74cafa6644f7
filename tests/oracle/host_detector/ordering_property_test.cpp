#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "host_detector/queue/ordering.h"
#include "tests/oracle/host_detector/comparison.h"
#include "tests/oracle/host_detector/queue_simulation.h"

namespace barracuda::oracle {
namespace {

using detector::OrderCounters;
using detector::Ordering;

class Feeder {
 public:
  Feeder(const QueuedProgram& program, std::uint32_t threads)
      : program_(program),
        next_(program.queues.size()),
        ordering_(*engine_, {.threads = threads, .least_shared_bytes = 0}) {
    engine_->add_sites(wire::SiteId{0}, program.trace.sites);
    for (const Step& step : program.trace.steps) {
      if (const auto* launch = std::get_if<detector::LaunchInfo>(&step)) {
        ordering_.begin_launch(*launch);
        launches_.push_back(launch->id);
      } else if (const auto* copy = std::get_if<detector::CopyInfo>(&step)) {
        ordering_.begin_copy(*copy);
      }
    }
  }

  // So many records at most, in one batch. False if the queue is at its end.
  bool feed(std::size_t queue, std::size_t most) {
    const std::vector<QueuedRecord>& records = program_.queues[queue];
    detector::RecordBatch batch;
    for (; batch.slots.size() < most && next_[queue] < records.size(); ++next_[queue]) {
      const auto& bytes = records[next_[queue]].bytes;
      batch.bytes.insert(batch.bytes.end(), bytes.begin(), bytes.end());
      batch.slots.push_back(static_cast<std::uint32_t>(bytes.size() / wire::kSlotBytes));
    }
    if (batch.slots.empty()) {
      return false;
    }
    ordering_.take(counters_, &records, std::move(batch));
    return true;
  }

  void go_on() {
    ordering_.go_on();
    RC_ASSERT(ordering_.parked_bytes() == 0U || ordering_.parked_bytes() <= may_be_parked());
  }

  // Nothing is lost, nothing is left, and the races are those of the rules.
  void check(const std::vector<Race>& races) {
    go_on();
    RC_ASSERT(ordering_.parked_bytes() == 0U);
    RC_ASSERT(ordering_.rejected() == 0U);
    RC_ASSERT(engine_->rejected() == 0U);
    RC_ASSERT(engine_->applied() == program_.operations);
    for (const LaunchId launch : launches_) {
      RC_ASSERT(engine_->launch_over(launch));
    }
    if (const auto wrong = difference(races, engine_->findings())) {
      RC_FAIL(fmt::format("{}\n{}", *wrong, describe(program_.trace)));
    }
  }

 private:
  // Whatever is parked was claimed after some record that has not come.
  [[nodiscard]] std::size_t may_be_parked() const {
    std::uint64_t missing = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t queue = 0; queue < next_.size(); ++queue) {
      const std::vector<QueuedRecord>& records = program_.queues[queue];
      if (next_[queue] < records.size()) {
        missing = std::min(missing, records[next_[queue]].claimed);
      }
    }
    std::size_t bytes = 0;
    for (std::size_t queue = 0; queue < next_.size(); ++queue) {
      for (std::size_t index = 0; index < next_[queue]; ++index) {
        const QueuedRecord& record = program_.queues[queue][index];
        bytes += record.claimed > missing ? record.bytes.size() : 0;
      }
    }
    return bytes;
  }

  const QueuedProgram& program_;
  std::vector<std::size_t> next_;
  std::vector<LaunchId> launches_;
  const std::unique_ptr<detector::Detector> engine_ = detector::make_detector();
  Ordering ordering_;
  OrderCounters counters_;
};

// Whole queues one after another, from `first`.
void feed_queue_by_queue(const QueuedProgram& program, std::size_t first, std::uint32_t threads,
                         const std::vector<Race>& races) {
  Feeder feeder(program, threads);
  for (std::size_t index = 0; index < program.queues.size(); ++index) {
    while (feeder.feed((first + index) % program.queues.size(), 3)) {
    }
    feeder.go_on();
  }
  feeder.check(races);
}

void feed_in_runs(const QueuedProgram& program, const std::vector<std::uint8_t>& runs,
                  std::uint32_t threads, const std::vector<Race>& races) {
  Feeder feeder(program, threads);
  for (const std::uint8_t run : runs) {
    feeder.feed(run % program.queues.size(), run / 32 + 1U);
    if (threads == 1 || run % 3 == 0) {
      feeder.go_on();
    }
  }
  for (std::size_t queue = 0; queue < program.queues.size(); ++queue) {
    while (feeder.feed(queue, 5)) {
    }
  }
  feeder.check(races);
}

}  // namespace
}  // namespace barracuda::oracle

TEST_CASE(
    "however the queues are drained, on however many threads, every record is applied once and the "
    "verdicts are one") {
  using namespace barracuda;
  CHECK(rc::check([] {
    oracle::ProgramShape shape;
    shape.ctas = *rc::gen::inRange<std::uint32_t>(1, 5);
    shape.warps = *rc::gen::inRange<std::uint32_t>(1, 3);
    shape.queues = *rc::gen::inRange<std::uint32_t>(1, 5);
    shape.launches = *rc::gen::inRange<std::uint32_t>(1, 4);
    shape.clusters = *rc::gen::arbitrary<bool>();
    const rc::Gen<std::uint32_t> choice = rc::gen::resize(100, rc::gen::arbitrary<std::uint32_t>());
    shape.choices = *rc::gen::scale(0.8, rc::gen::container<std::vector<std::uint32_t>>(choice));
    const oracle::QueuedProgram program = oracle::run_program(shape);
    const std::vector<oracle::Race> races = oracle::races_of(program.trace, {});
    const rc::Gen<std::uint8_t> run = rc::gen::resize(100, rc::gen::arbitrary<std::uint8_t>());
    const auto runs = *rc::gen::container<std::vector<std::uint8_t>>(run);
    for (const std::uint32_t threads : {1U, 2U}) {
      for (std::size_t queue = 0; queue < program.queues.size(); ++queue) {
        oracle::feed_queue_by_queue(program, queue, threads, races);
      }
      oracle::feed_in_runs(program, runs, threads, races);
    }
    RC_CLASSIFY(!races.empty(), "has races");
    RC_CLASSIFY(std::ranges::any_of(
                    races, [](const oracle::Race& race) { return oracle::is_of_copy(race); }),
                "has races with copies");
  }));
}
