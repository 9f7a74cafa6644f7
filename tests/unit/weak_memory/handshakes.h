// A program as a function, for the campaign's algorithms: threads that hand over data by a flag, in
// several pairs, each with or without the fence between data and flag. What a run with weakness,
// decisions or fences gives follows from one rule: a handshake fails when its data store is delayed
// (drawn, or decided) past its flag store, and no fence stands between the two.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/splitmix64.h"
#include "weak_memory/experiment.h"

namespace barracuda::weak_memory::testing {

struct Handshake {
  std::string kernel = "_Z4passv";
  bool is_shared = false;
  bool is_fenced = false;
  std::uint32_t data_line = 10, flag_line = 12;  // accesses to other bytes at all lines between
};

class Handshakes {
 public:
  explicit Handshakes(std::vector<Handshake> all) : all_(std::move(all)) {}

  // A kernel of so many stores besides, which may be delayed and harm nobody.
  std::uint64_t harmless = 20;
  // A failure of a schedule, weak memory or not: that of this seed.
  std::uint64_t bad_schedule = 0;
  bool has_unstable_output = false;
  bool is_always_wrong = false;
  std::uint64_t runs = 0;

  Outcome operator()(const Settings& settings) {
    ++runs;
    Outcome outcome;
    outcome.report.coverage.launches = 1;
    outcome.report.coverage.instrumented = {"pass()"};
    bool is_wrong = settings.seed == bad_schedule;
    for (std::uint64_t i = 0; i < harmless + all_.size(); ++i) {
      const bool is_handshake = i % 3 == 1 && i / 3 < all_.size();
      const Handshake& pair = is_handshake ? all_[i / 3] : all_.front();
      const emulator::Decision decision = decision_of(pair, i + 1);
      const emulator::CodePlace at{.file = "pass.cu", .line = is_handshake ? pair.data_line : 99};
      if (!is_delayed(settings, decision, at, pair.is_shared)) {
        continue;
      }
      const bool is_shown = is_handshake && !is_ordered(settings, pair);
      is_wrong = is_wrong || is_shown;
      if (settings.wants_log) {
        outcome.log.events.push_back(
            {.decision = decision,
             .until = emulator::WeakEnd::kRelease,
             .turns = 7,
             .space = pair.is_shared ? emulator::WeakSpace::kShared : emulator::WeakSpace::kGlobal,
             .bytes = 4,
             .at = at,
             .was_read = is_shown,
             .reader = {}});
      }
    }
    outcome.output = has_unstable_output ? std::to_string(settings.seed)
                     : is_wrong          ? "wrong"
                                         : "right";
    outcome.status = is_always_wrong || (has_unstable_output && is_wrong) ? 1 : 0;
    if (settings.wants_places) {
      outcome.fences = {.places = places(), .own = own()};
    }
    return outcome;
  }

  [[nodiscard]] std::vector<ptx::FencePlace> places() const {
    std::vector<ptx::FencePlace> places;
    for (const Handshake& pair : all_) {
      for (std::uint32_t line = pair.data_line; line <= pair.flag_line; ++line) {
        places.push_back(
            {.at = {.function = pair.kernel, .ordinal = line},
             .place = line,
             .kind = ptx::AccessKind::kStore,
             .space = pair.is_shared ? ptx::StateSpace::kShared : ptx::StateSpace::kGlobal,
             .kernels = {pair.kernel},
             .lines = {{.file = "pass.cu", .line = line}}});
      }
    }
    return places;
  }

  // The fence of a fenced handshake, in a line of its own.
  static ptx::OwnFence own_fence(const Handshake& pair) {
    return {.at = {.function = pair.kernel, .ordinal = 1000 + pair.data_line},
            .fence = {},
            .kernels = {pair.kernel},
            .lines = {{.file = "pass.cu", .line = 1000 + pair.data_line}}};
  }

 private:
  [[nodiscard]] std::vector<ptx::OwnFence> own() const {
    std::vector<ptx::OwnFence> own;
    for (const Handshake& pair : all_) {
      if (pair.is_fenced) {
        own.push_back(own_fence(pair));
      }
    }
    return own;
  }

  static emulator::Decision decision_of(const Handshake& pair, std::uint64_t number) {
    return {.launch = 1, .kernel = pair.kernel, .number = number};
  }

  static bool is_delayed(const Settings& settings, const emulator::Decision& decision,
                         const emulator::CodePlace& at, bool is_shared) {
    const Weakness& weakness = settings.weakness;
    if (weakness.decisions) {
      return std::ranges::find(*weakness.decisions, decision) != weakness.decisions->end();
    }
    constexpr double kRange = 65536;
    const bool is_drawn = static_cast<double>(mix_bits(settings.seed * 1000 + decision.number) %
                                              65536) < weakness.stores * kRange;
    const bool is_meant = (is_shared ? weakness.shared : weakness.global) &&
                          (weakness.kernel.empty() || weakness.kernel == decision.kernel) &&
                          (weakness.places.empty() ||
                           std::ranges::find(weakness.places, at) != weakness.places.end());
    return is_drawn && is_meant;
  }

  static bool is_ordered(const Settings& settings, const Handshake& pair) {
    const bool has_own =
        pair.is_fenced && std::ranges::find(settings.edits, own_fence(pair).at,
                                            &ptx::OrderEdit::at) == settings.edits.end();
    return has_own || std::ranges::any_of(settings.fences, [&pair](const Fence& fence) {
             return fence.place.at.function == pair.kernel &&
                    fence.place.at.ordinal >= pair.data_line &&
                    fence.place.at.ordinal < pair.flag_line &&
                    (pair.is_shared || fence.fence.scope == wire::Scope::kGpu);
           });
  }

  std::vector<Handshake> all_;
};

}  // namespace barracuda::weak_memory::testing
