#include "weak_memory/fence_search/fence_runs.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/assert.h"

namespace barracuda::weak_memory {
namespace {

std::vector<std::uint64_t> first_numbers(std::uint64_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

FenceRuns::FenceRuns(FenceRunOptions options, Trials& trials)
    : options_(std::move(options)), trials_(trials) {
  ASSERT(!options_.environments.empty());
}

void FenceRuns::choose(std::vector<Environment> environments) {
  ASSERT(!environments.empty());
  options_.environments = std::move(environments);
  failing_.clear();
}

FenceRuns::Answer FenceRuns::ask(std::uint64_t count, const Settings& fences) {
  DEBUG_ASSERT(options_.is_repeatable || failing_.empty());
  std::vector<std::uint64_t> numbers = failing_;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (std::ranges::find(failing_, i) == failing_.end()) {
      numbers.push_back(i);
    }
  }
  const std::uint64_t lost = trials_.lost();
  if (failing_one(numbers, fences)) {
    return Answer::kFail;
  }
  const bool is_known = !trials_.is_over() && (trials_.lost() - lost) * 2 <= numbers.size();
  return is_known ? Answer::kPass : Answer::kUnknown;
}

Rate FenceRuns::rate_of(std::uint64_t count, const Settings& fences) {
  return trials_.rate_of(settings_of(first_numbers(count), fences), trials_.oracle());
}

std::vector<Rate> FenceRuns::rates_of(std::uint64_t count_of_each, const Settings& fences) {
  const std::size_t kinds = options_.environments.size();
  return trials_.rates_of(settings_of(first_numbers(count_of_each * kinds), fences),
                          trials_.oracle(), kinds);
}

Settings FenceRuns::settings_of(std::uint64_t number, const Settings& fences) {
  Settings settings = fences;
  settings.seed = options_.first_seed + (options_.is_repeatable ? number : made_++);
  settings.weakness = options_.environments[number % options_.environments.size()].weakness;
  return settings;
}

std::vector<Settings> FenceRuns::settings_of(const std::vector<std::uint64_t>& numbers,
                                             const Settings& fences) {
  std::vector<Settings> all;
  all.reserve(numbers.size());
  for (const std::uint64_t number : numbers) {
    all.push_back(settings_of(number, fences));
  }
  return all;
}

bool FenceRuns::failing_one(const std::vector<std::uint64_t>& numbers, const Settings& fences) {
  const std::vector<Settings> all = settings_of(numbers, fences);
  const auto failing = all.empty() ? std::nullopt : trials_.first_failing_alone(all);
  if (!failing) {
    return false;
  }
  ASSERT(failing->number < numbers.size() && failing->failure != Failure::kNone);
  const std::uint64_t number = numbers[failing->number];
  last_failure_ = failing->failure;
  first_failure_ = first_failure_ == Failure::kNone ? last_failure_ : first_failure_;
  if (options_.is_repeatable) {
    std::erase(failing_, number);
    failing_.insert(failing_.begin(), number);
  } else {
    const auto begin = options_.environments.begin();
    const auto at = begin + static_cast<std::ptrdiff_t>(number % options_.environments.size());
    std::rotate(begin, at, at + 1);
  }
  return true;
}

}  // namespace barracuda::weak_memory
