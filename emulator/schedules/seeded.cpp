// With a seed: one host thread; which cluster and warp runs, and for how long, comes from a
// generator.
#include "base/assert.h"
#include "base/splitmix64.h"
#include "emulator/schedules/grid.h"
#include "emulator/schedules/weak_turns.h"

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

}  // namespace

void run_seeded(Launch& launch, std::uint64_t seed) {
  Worker worker(launch);
  Generator generator(seed);
  Residency residency(launch, kResidentAtFirst);
  const std::uint64_t total = cluster_count(launch);
  std::uint64_t started = 0, turns = 0;
  std::vector<std::unique_ptr<Cluster>> resident;
  WeakTurns weak_turns(worker);
  while (!launch.stop.load(std::memory_order_relaxed)) {
    weak_turns.begin_turn();
    while (started < total && resident.size() < residency.limit()) {
      resident.push_back(make_cluster(worker, started++));
    }
    if (resident.empty()) {
      break;
    }
    ASSERT(resident.size() <= started);
    auto& cluster = resident[weak_turns.choose(resident, generator.next() % resident.size())];
    const std::uint64_t warp = generator.next();
    const auto budget = static_cast<std::int32_t>(generator.next() % kLongestTurn + 1);
    if (run_one_warp(worker, *cluster, warp, budget) == SliceResult::kEnded) {
      end_cluster(worker, std::move(cluster));
      std::swap(cluster, resident.back());
      resident.pop_back();
      residency.ended();
    } else if (++turns % kTurnsBetweenChecks == 0) {
      check_deadline(launch, *cluster);
      check_stalled(launch, *cluster);
      residency.ran(resident.size() / 4 + 1);
    }
  }
  worker.account();
}

}  // namespace barracuda::emulator
