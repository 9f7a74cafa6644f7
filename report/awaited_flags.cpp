#include "report/awaited_flags.h"

#include <algorithm>

#include "base/strong_id.h"

namespace barracuda::report {
namespace {

bool is_polled(const ptx::Site& site) {
  return site.info.operation == wire::Operation::kRead &&
         site.info.order != wire::MemoryOrder::kWeak && !site.loops.empty();
}

}  // namespace

AwaitedFlags::AwaitedFlags(const std::vector<detector::RaceEvent>& races,
                           const ptx::SiteTable& sites)
    : sites_(sites) {
  for (const detector::RaceEvent& race : races) {
    const ptx::Site* store = find(race.first);
    const ptx::Site* poll = find(race.second);
    if (store == nullptr || poll == nullptr) {
      continue;
    }
    if (is_polled(*store)) {
      std::swap(store, poll);
    }
    const std::pair flag(store, poll);
    if (is_polled(*poll) && store->info.operation == wire::Operation::kWrite &&
        store->function == poll->function && std::ranges::find(flags_, flag) == flags_.end()) {
      flags_.push_back(flag);
    }
  }
}

std::optional<AwaitedFlag> AwaitedFlags::between(const detector::RaceEvent& race) const {
  const ptx::Site* const first = find(race.first);
  const ptx::Site* const second = find(race.second);
  if (first == nullptr || second == nullptr) {
    return std::nullopt;
  }
  const auto flag = std::ranges::find_if(flags_, [&](const auto& each) {
    const auto& [store, poll] = each;
    return first->function == store->function && second->function == poll->function &&
           first->ptx_line < store->ptx_line && poll->ptx_line < second->ptx_line;
  });
  return flag == flags_.end()
             ? std::nullopt
             : std::optional(AwaitedFlag{.store = flag->first, .poll = flag->second});
}

const ptx::Site* AwaitedFlags::find(const detector::RaceAccess& access) const {
  return !access.site.is_call() && index_of(access.site.instruction()) < sites_.size()
             ? &sites_[index_of(access.site.instruction())]
             : nullptr;
}

}  // namespace barracuda::report
