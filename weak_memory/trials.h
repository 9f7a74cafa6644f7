// Makes runs, judges them, and counts them: every step of a campaign asks its questions here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weak_memory/experiment.h"
#include "weak_memory/oracle.h"
#include "weak_memory/statistics.h"

namespace barracuda::weak_memory {

class Trials {
 public:
  // So many runs are asked for at a time, whatever the number of cores: which runs are made depends
  // on nothing else than what they show.
  static constexpr std::size_t kAtOnce = 4;

  // `is_over`: the time is up, or the command was interrupted. `at_once`: another number of runs,
  // where they do not repeat anyway.
  Trials(RunAll run, Oracle& oracle, std::function<bool()> is_over, std::size_t at_once = kAtOnce)
      : run_(std::move(run)), oracle_(oracle), is_over_(std::move(is_over)), at_once_(at_once) {}

  // In their order.
  std::vector<Outcome> make(const std::vector<Settings>& all);
  Outcome make_one(const Settings& settings);

  // kNone of a run that was lost: nothing was seen.
  [[nodiscard]] Failure judge(const Outcome& outcome) const;

  // The first of them that fails, by its number. Later ones may have been made or not.
  struct Failing {
    std::size_t number = 0;
    Failure failure = Failure::kNone;
    Outcome outcome;
  };

  std::optional<Failing> first_failing(const std::vector<Settings>& all);

  // The same; the first of them is made by itself, for mostly it is the one. Not of an empty list.
  std::optional<Failing> first_failing_alone(const std::vector<Settings>& all);

  // The settings with each of these seeds; the seed of the first run that fails. It comes first
  // among the seeds afterwards, so that the next question is answered by its run if it can be.
  std::optional<std::uint64_t> failing_seed(const Settings& settings,
                                            std::vector<std::uint64_t>& seeds);

  Rate rate_of(const Settings& settings, const std::vector<std::uint64_t>& seeds);
  // How many of them fail, by an oracle of the caller's.
  Rate rate_of(const std::vector<Settings>& all, const Oracle& oracle);
  // The same of each kind, where `all` has one of each in turn.
  std::vector<Rate> rates_of(const std::vector<Settings>& all, const Oracle& oracle,
                             std::size_t kinds);

  // What is found after it is over is not to be relied on.
  [[nodiscard]] bool is_over() const { return is_over_(); }

  [[nodiscard]] Oracle& oracle() { return oracle_; }

  [[nodiscard]] std::uint64_t made() const { return made_; }

  [[nodiscard]] std::uint64_t lost() const { return lost_; }

  // Why the first of them was.
  [[nodiscard]] const std::string& reason_of_loss() const { return reason_of_loss_; }

 private:
  RunAll run_;
  Oracle& oracle_;
  std::function<bool()> is_over_;
  std::size_t at_once_;
  std::uint64_t made_ = 0, lost_ = 0;
  std::string reason_of_loss_;
};

}  // namespace barracuda::weak_memory
