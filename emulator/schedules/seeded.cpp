// With a seed: one host thread; which cluster and warp runs, and for how long, comes from a
// generator.
#include <algorithm>

#include "base/assert.h"
#include "base/splitmix64.h"
#include "emulator/schedules/grid.h"
#include "emulator/schedules/polling.h"
#include "emulator/schedules/schedule.h"
#include "emulator/schedules/weak_turns.h"
#include "emulator/state/weak_state.h"

namespace barracuda::emulator {

namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    const std::uint64_t number = splitmix64(state_);
    state_ += kSplitmixGap;
    return number;
  }

 private:
  std::uint64_t state_;
};

constexpr std::uint32_t kResidentAtFirst = 8;
constexpr std::uint64_t kLongestTurn = 256;
constexpr std::uint64_t kTurnsBetweenChecks = 4096;
// Watching costs some times what it watches: where most of what is done are polls, it is tried
// soon, and after a failure more and more rarely; else now and then.
constexpr std::uint64_t kTurnsBetweenLooks = 256;
constexpr std::uint64_t kRarestLooks = 10;  // as a power of two, times that
constexpr std::uint64_t kTurnsOfObservation = 256, kTurnsOfObservationOfWarp = 48;
constexpr std::uint64_t kTurnsBetweenAnswers = 32;
constexpr std::uint64_t kPollsOn = 4096;  // turns

using Clusters = std::vector<std::unique_ptr<Cluster>>;

// When the warps are watched. Changes nothing of what they do.
class SeededLooks {
 public:
  explicit SeededLooks(Context& context) : context_(context) {}

  [[nodiscard]] bool is_due(std::uint64_t turn) const { return turn >= next_; }

  // True: they do nothing but poll.
  bool look(std::uint64_t turn, const Clusters& resident) {
    if (is_observing_ && context_.observer == nullptr) {
      end(turn);  // they are at work
      return false;
    }
    if (!is_observing_) {
      next_ = turn + kTurnsBetweenLooks;
      if (do_polls_prevail() ? turn >= next_for_polls_ : turn >= next_for_others_) {
        begin(turn, resident);
      }
      return false;
    }
    next_ = turn + kTurnsBetweenAnswers;
    if (std::ranges::all_of(resident, [](const auto& each) { return only_polls(*each); })) {
      return true;
    }
    if (turn >= observed_until_) {
      end(turn);
    }
    return false;
  }

  // They are run on.
  void resume(std::uint64_t turn, std::uint64_t free_turns, const Clusters& resident) {
    begin(turn, resident);
    failures_ = 0;
    next_ = turn + std::max(free_turns, kTurnsBetweenAnswers);
    observed_until_ = std::max(observed_until_, next_);
  }

 private:
  bool do_polls_prevail() {
    const std::uint64_t polled = context_.charged + kPollCost * context_.fences - polled_;
    const std::uint64_t worked = context_.clock + kPollCost * context_.fences - worked_;
    polled_ += polled;
    worked_ += worked;
    return polled * 2 > worked;
  }

  void begin(std::uint64_t turn, const Clusters& resident) {
    observe(context_, true);
    is_observing_ = true;
    std::uint64_t warps = 0;
    for (const auto& cluster : resident) {
      cluster->changes_before = cluster->changes;
      warps += cluster->ctas.size() * cluster->ctas.front()->warps.size();
    }
    observed_until_ = turn + kTurnsOfObservation + kTurnsOfObservationOfWarp * warps;
    next_ = turn + kTurnsBetweenAnswers;
  }

  void end(std::uint64_t turn) {
    observe(context_, false);
    is_observing_ = false;
    failures_ = std::min(failures_ + 1, kRarestLooks);
    next_for_polls_ = turn + (kTurnsBetweenLooks << failures_);
    next_for_others_ = turn * 2;
    next_ = turn + kTurnsBetweenLooks;
  }

  Context& context_;
  bool is_observing_ = false;
  std::uint64_t next_ = kTurnsBetweenLooks, observed_until_ = 0;
  std::uint64_t next_for_polls_ = 0, next_for_others_ = 32 * kTurnsBetweenLooks;
  std::uint64_t failures_ = 0;
  std::uint64_t worked_ = 0, polled_ = 0;
};

class SeededSchedule : public Schedule {
 public:
  SeededSchedule(Launch& launch, std::uint64_t seed)
      : launch_(launch),
        worker_(launch),
        generator_(seed),
        residency_(launch, kResidentAtFirst),
        total_(cluster_count(launch)),
        weak_turns_(worker_),
        looks_(worker_.context) {}

  ~SeededSchedule() override { worker_.account(); }

  SeededSchedule(const SeededSchedule&) = delete;
  SeededSchedule& operator=(const SeededSchedule&) = delete;

  RunResult run(const RunLimit& limit) override {
    const std::uint64_t begin = worker_.context.clock;
    if (has_paused_to_poll_) {
      looks_.resume(turn_, limit.polls_on ? kPollsOn : 0, resident_);
      has_paused_to_poll_ = false;
    }
    while (run_turn()) {
      ++turn_;
      if (looks_.is_due(turn_) && looks_.look(turn_, resident_) && has_all() && is_quiet()) {
        has_paused_to_poll_ = true;
        return RunResult::kPolling;
      }
      if (worker_.context.clock - begin > limit.work) {
        return RunResult::kPaused;
      }
    }
    return RunResult::kEnded;
  }

  [[nodiscard]] bool is_outdated() const override {
    return std::ranges::any_of(resident_, [this](const auto& each) {
      return emulator::is_outdated(*each, launch_.memory);
    });
  }

  [[nodiscard]] const Cluster* stands() const override {
    return resident_.empty() ? nullptr : resident_.front().get();
  }

 private:
  // False: the launch has ended.
  bool run_turn() {
    if (launch_.stop.load(std::memory_order_relaxed)) {
      return false;
    }
    weak_turns_.begin_turn();
    while (started_ < total_ && resident_.size() < residency_.limit()) {
      resident_.push_back(make_cluster(worker_, started_++));
    }
    if (resident_.empty()) {
      return false;
    }
    ASSERT(resident_.size() <= started_);
    auto& cluster = resident_[weak_turns_.choose(resident_, generator_.next() % resident_.size())];
    const std::uint64_t warp = generator_.next();
    const auto budget = static_cast<std::int32_t>(generator_.next() % kLongestTurn + 1);
    if (run_one_warp(worker_, *cluster, warp, budget) == SliceResult::kEnded) {
      end_cluster(worker_, std::move(cluster));
      std::swap(cluster, resident_.back());
      resident_.pop_back();
      residency_.ended();
    } else if (++turns_ % kTurnsBetweenChecks == 0) {
      check_deadline(launch_, *cluster);
      check_stalled(launch_, *cluster);
      residency_.ran(resident_.size() / 4 + 1);
    }
    return true;
  }

  // No block is to come that a GPU would run beside these.
  [[nodiscard]] bool has_all() const { return started_ == total_ || residency_.is_full(); }

  // What others are to see is there, and what these see has not changed.
  [[nodiscard]] bool is_quiet() const {
    const WeakState* const weak = worker_.context.weak;
    return (weak == nullptr || weak->pending.size() == 0) && !is_outdated();
  }

  Launch& launch_;
  Worker worker_;
  Generator generator_;
  Residency residency_;
  std::uint64_t total_ = 0, started_ = 0, turns_ = 0, turn_ = 0;
  Clusters resident_;
  WeakTurns weak_turns_;
  SeededLooks looks_;
  bool has_paused_to_poll_ = false;
};

}  // namespace

std::unique_ptr<Schedule> make_seeded_schedule(Launch& launch, std::uint64_t seed) {
  return std::make_unique<SeededSchedule>(launch, seed);
}

}  // namespace barracuda::emulator
