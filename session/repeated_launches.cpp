#include "session/repeated_launches.h"

#include <algorithm>
#include <chrono>
#include <span>

#include "base/held_lock.h"

namespace barracuda::session {
namespace {

// Programs with more launches that differ are not those that this is for.
constexpr std::size_t kMostFirsts = 1024;
// A launch may stand behind work that waits for the program: then it is not waited for.
constexpr std::chrono::seconds kPatience{1};
constexpr int kMostWaitsInVain = 2;

template <typename Value>
void append(RepeatedLaunches::Key& key, const Value& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  key.insert(key.end(), bytes.begin(), bytes.end());
}

}  // namespace

RepeatedLaunches::Key RepeatedLaunches::key_of(const KernelBinding& kernel,
                                               const LaunchRequest& request,
                                               const std::vector<std::byte>& arguments) {
  Key key;
  append(key, kernel.kernel);
  for (const detector::Dim3& shape : {request.grid, request.block}) {
    append(key, shape.x);
    append(key, shape.y);
    append(key, shape.z);
  }
  append(key, request.shared_bytes);
  key.insert(key.end(), arguments.begin(), arguments.end());
  return key;
}

void RepeatedLaunches::logged(const Key& key, detector::LaunchId id) {
  const HeldLock lock(mutex_);
  if (firsts_.size() == kMostFirsts && !firsts_.contains(key)) {
    firsts_.clear();
  }
  firsts_.emplace(key, First{.id = id});
}

bool RepeatedLaunches::is_checked(const Key& key, const ptx::Kernel& kernel) {
  detector::LaunchId id{};
  bool may_wait = false;
  {
    const HeldLock lock(mutex_);
    const auto found = firsts_.find(key);
    if (found == firsts_.end() || found->second.state != State::kLogged) {
      return found != firsts_.end() && found->second.state == State::kClean;
    }
    id = found->second.id;
    may_wait = waits_in_vain_ < kMostWaitsInVain;
  }
  const bool is_over = may_wait ? pipeline_.wait_for(id, kPatience) : pipeline_.is_over(id);
  const State state = !is_over ? State::kLogged : races(kernel) ? State::kRacing : State::kClean;
  const HeldLock lock(mutex_);
  waits_in_vain_ += may_wait && !is_over ? 1 : 0;
  if (const auto found = firsts_.find(key); found != firsts_.end() && found->second.id == id) {
    found->second.state = state;
  }
  return state == State::kClean;
}

bool RepeatedLaunches::races(const ptx::Kernel& kernel) const {
  const auto is_of_kernel = [&kernel](const detector::RaceAccess& access) {
    return !access.site.is_call() && kernel.first_site <= access.site.instruction() &&
           access.site.instruction() <= kernel.last_site;
  };
  const detector::Findings findings = pipeline_.findings_so_far();
  return std::ranges::any_of(findings.races,
                             [&](const detector::RaceEvent& race) {
                               return is_of_kernel(race.first) || is_of_kernel(race.second);
                             }) ||
         std::ranges::any_of(findings.divergences,
                             [&](const detector::BarrierDivergence& divergence) {
                               return is_of_kernel(divergence.arrived);
                             });
}

}  // namespace barracuda::session
