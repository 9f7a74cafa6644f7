#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "weak_memory/stress_parameters.h"

namespace barracuda::weak_memory {
namespace {

using stress::StressKind;
using stress::StressShape;

// The three tests of the paper, in PTX's dialect. Relaxed accesses: plain ones behave alike on what
// was measured, and a compiler may not move these.
constexpr std::array<const char*, 3> kTests = {
    "PTX MP\n{ x=0; y=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n"
    " st.relaxed.gpu x, 1 | ld.relaxed.gpu r0, y ;\n"
    " st.relaxed.gpu y, 1 | ld.relaxed.gpu r1, x ;\nexists (P1:r0 == 1 /\\ P1:r1 == 0)\n",
    "PTX LB\n{ x=0; y=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n"
    " ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y ;\n"
    " st.relaxed.gpu y, 1 | st.relaxed.gpu x, 1 ;\nexists (P0:r0 == 1 /\\ P1:r0 == 1)\n",
    "PTX SB\n{ x=0; y=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n"
    " st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;\n"
    " ld.relaxed.gpu r0, y | ld.relaxed.gpu r0, x ;\nexists (P0:r0 == 0 /\\ P1:r0 == 0)\n"};

constexpr std::uint32_t kIterations = 1000;
constexpr std::uint32_t kFarthest = 1024;        // words
constexpr std::uint64_t kNoise = 3;              // the paper's epsilon, of 1000 iterations
constexpr std::uint32_t kCacheWords = 1U << 24;  // 64 MiB, more than the L2 of what there is
constexpr std::array<std::uint32_t, 3> kThreads = {64, 256, 512};

bool is_beaten(const StressPoint& point, const StressPoint& by) {
  bool is_better = false;
  for (std::size_t i = 0; i < point.weak.size(); ++i) {
    if (by.weak[i] < point.weak[i]) {
      return false;
    }
    is_better = is_better || by.weak[i] > point.weak[i];
  }
  return is_better;
}

class Tuner {
 public:
  Tuner(LitmusDevice& device, const TuneOptions& options, const std::function<bool()>& is_over,
        const TellTuning& tell)
      : device_(device), options_(options), is_over_(is_over), tell_(tell) {}

  Expected<Tuning> run() {
    for (const char* const text : kTests) {
      TRY(tests_.emplace_back(), memory_model::read_litmus(text, "tune"));
    }
    result_.best.gpu = device_.name();
    result_.best.driver = device_.driver_version();
    for (const auto step :
         {&Tuner::find_distance, &Tuner::find_kind, &Tuner::find_sequence, &Tuner::find_spread}) {
      if (auto found = (this->*step)(); !found) {
        return unexpected(std::move(found).error());
      }
    }
    result_.is_incomplete = is_over_();
    return std::move(result_);
  }

 private:
  // The smallest distance at which messages or buffered loads are seen out of order more often than
  // by noise, every such distance's runs with random stress.
  Expected<void> find_distance() {
    StressParameters& best = result_.best;
    for (std::uint32_t distance = 1; distance <= kFarthest; distance *= 2) {
      if (auto taken = take(result_.distances, distance, best.stress); !taken) {
        return taken;
      }
    }
    const std::uint64_t noise = kNoise * options_.launches;
    const auto critical = std::ranges::find_if(result_.distances, [noise](const StressPoint& at) {
      return at.weak[0] > noise && at.weak[1] > noise;
    });
    if (critical != result_.distances.end()) {
      best.distance = critical->distance;
      best.stress.patch = critical->distance;
    }
    return {};
  }

  Expected<void> find_kind() {
    std::vector<StressPoint>& points = result_.kinds;
    StressShape shape = result_.best.stress;
    shape.kind = StressKind::kNone;
    if (auto taken = take(points, far(), shape); !taken) {
      return taken;
    }
    for (const StressKind kind :
         {StressKind::kRandom, StressKind::kSystematic, StressKind::kCache}) {
      shape.kind = kind;
      shape.words = kind == StressKind::kCache ? kCacheWords : StressShape{}.words;
      for (const std::uint32_t threads : kThreads) {
        shape.threads = threads;
        if (auto taken = take(points, far(), shape); !taken) {
          return taken;
        }
      }
    }
    choose(points);
    return {};
  }

  // Sequences and spreads are those of systematic stress, whatever was best so far.
  Expected<void> find_sequence() {
    StressShape shape = result_.best.stress;
    shape.kind = StressKind::kSystematic;
    shape.words = StressShape{}.words;
    for (shape.length = 1; shape.length <= options_.longest_sequence; ++shape.length) {
      for (shape.stores = 0; shape.stores < 1U << shape.length; ++shape.stores) {
        if (auto taken = take(result_.sequences, far(), shape); !taken) {
          return taken;
        }
      }
    }
    choose(result_.sequences);
    return {};
  }

  Expected<void> find_spread() {
    if (result_.sequences.empty()) {
      return {};
    }
    StressShape shape = best_point(result_.sequences).stress;
    for (shape.spread = 1; shape.spread <= shape.words / shape.patch; shape.spread *= 2) {
      if (auto taken = take(result_.spreads, far(), shape); !taken) {
        return taken;
      }
    }
    choose(result_.spreads);
    return {};
  }

  // Beyond the patch and not too near: where stress tells most.
  [[nodiscard]] std::uint32_t far() const {
    constexpr std::uint32_t kUsual = 256;
    return std::max(kUsual, result_.best.distance);
  }

  // Those of the best point of a list, if no list before had a better one.
  void choose(const std::vector<StressPoint>& points) {
    if (points.empty()) {
      return;
    }
    const StressPoint& best = best_point(points);
    if (!chosen_ || best.sum() > chosen_->sum()) {
      chosen_ = best;
      result_.best.stress = best.stress;
    }
  }

  Expected<void> take(std::vector<StressPoint>& points, std::uint32_t distance,
                      const StressShape& shape) {
    if (is_over_()) {
      return {};
    }
    tell_(fmt::format("distance {}, {} stress, {} threads", distance, name_of(shape.kind),
                      shape.threads));
    StressPoint point{.distance = distance,
                      .stress = shape,
                      .runs = std::uint64_t{kIterations} * options_.launches};
    for (std::size_t i = 0; i < tests_.size(); ++i) {
      const LitmusRunOptions options{.iterations = kIterations,
                                     .launches = options_.launches,
                                     .distance = distance,
                                     .seed = options_.seed + points.size(),
                                     .stress = shape};
      TRY(const Histogram histogram, device_.run(tests_[i], options, [] { return false; }));
      point.weak[i] = weak_in(tests_[i], histogram);
    }
    result_.shows_weak_behaviour =
        result_.shows_weak_behaviour || point.weak[0] != 0 || point.weak[1] != 0;
    points.push_back(point);
    return {};
  }

  // What is shown of these tests are their registers.
  static std::uint64_t weak_in(const memory_model::LitmusTest& test, const Histogram& histogram) {
    const auto terms = memory_model::terms_shown(test);
    const auto first = memory_model::first_registers(test.program);
    std::uint64_t weak = 0;
    for (const auto& [shown, count] : histogram) {
      memory_model::Final final{.registers = memory_model::initial_registers(test.program),
                                .memory = {}};
      for (std::size_t i = 0; i < terms.size(); ++i) {
        final.registers[first[terms[i].thread] + terms[i].number] = shown[i];
      }
      weak += memory_model::holds(test.condition, first, final) ? count : 0;
    }
    return weak;
  }

  LitmusDevice& device_;
  const TuneOptions& options_;
  const std::function<bool()>& is_over_;
  const TellTuning& tell_;
  std::vector<memory_model::LitmusTest> tests_;
  std::optional<StressPoint> chosen_;
  Tuning result_;
};

}  // namespace

const StressPoint& best_point(const std::vector<StressPoint>& points) {
  ASSERT(!points.empty());
  const StressPoint* best = nullptr;
  for (const StressPoint& point : points) {
    const bool is_one_of_the_best = std::ranges::none_of(
        points, [&point](const StressPoint& other) { return is_beaten(point, other); });
    if (is_one_of_the_best && (best == nullptr || point.sum() > best->sum())) {
      best = &point;
    }
  }
  return *best;
}

Expected<Tuning> tune(LitmusDevice& device, const TuneOptions& options,
                      const std::function<bool()>& is_over, const TellTuning& tell) {
  return Tuner(device, options, is_over, tell).run();
}

std::string stress_file(const LitmusDevice& device) {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  std::string folder;
  if (cache != nullptr && *cache == '/') {
    folder = cache;
  } else if (home != nullptr && *home != '\0') {
    folder = std::string(home) + "/.cache";
  } else {
    return "";
  }
  std::string key = device.name() + "-" + device.driver_version();
  std::ranges::replace_if(key, [](char each) { return each == ' ' || each == '/'; }, '_');
  return fmt::format("{}/barracuda/stress/{}.stress", folder, key);
}

}  // namespace barracuda::weak_memory
