// RACE_RULES section 3: which accesses an engine may have forgotten, and for which others.
#include <algorithm>

#include "tests/oracle/host_detector/reference_detector.h"

namespace barracuda::oracle {
namespace {

using wire::MemoryOrder;

int rank(const wire::SiteInfo& site) {
  return site.order == MemoryOrder::kWeak ? 0 : site.order == MemoryOrder::kVolatile ? 1 : 2;
}

}  // namespace

// RACE_RULES section 3: what would race with `older` races with `newer`, which happens after it.
// Except against stores that are equal to `newer`.
bool ReferenceDetector::stands_for(const Access& newer, const Access& older) {
  if ((newer.completion &&
       (older.completion != newer.completion || is_async_proxy(older) != is_async_proxy(newer))) ||
      (newer.is_of_mbarrier && !older.is_of_mbarrier)) {
    return false;
  }
  if ((older.writes && !newer.writes) || (older.site->proxy == wire::Proxy::kReadOnly &&
                                          newer.site->proxy != wire::Proxy::kReadOnly)) {
    return false;
  }
  const bool same_launch = std::get<0>(older.thread) == std::get<0>(newer.thread);
  const bool same_block = std::get<1>(older.thread) == std::get<1>(newer.thread);
  if (older.site->proxy == wire::Proxy::kSurface &&
      (newer.site->proxy != wire::Proxy::kSurface || (same_launch && !same_block))) {
    return false;
  }
  if ((newer.site->flag_store &&
       !(older.site->flag_store && older.site->idiom_scope >= newer.site->idiom_scope)) ||
      (newer.site->poll &&
       !(older.site->poll && older.site->idiom_scope >= newer.site->idiom_scope))) {
    return false;
  }
  if (newer.site->speculated && !older.site->speculated) {
    return false;
  }
  return rank(*newer.site) == 0 ||
         (rank(*newer.site) <= rank(*older.site) && newer.site->scope <= older.site->scope &&
          newer.width == older.width && is_async_proxy(newer) == is_async_proxy(older));
}

bool ReferenceDetector::has_same_value(const Access& a, const Access& b) {
  return a.known_value && a.known_value == b.known_value && a.width == b.width &&
         a.elements == b.elements;
}

// `between` stands for an older access, and is not a race with `newer`: because that strong write
// was observed (RACE_RULES section 1, observation), which its predecessors need not be; or, for a
// read by the read-only proxy or an access of a surface, which no order helps, because it is of
// that access's own thread.
bool ReferenceDetector::is_excused(const Access& between, const Access& older,
                                   const Access& newer) const {
  const bool read_only =
      older.site->proxy == wire::Proxy::kReadOnly || newer.site->proxy == wire::Proxy::kReadOnly;
  const bool as_far =
      distance(between.thread, newer.thread) >= distance(older.thread, newer.thread);
  if (is_between_surfaces(older, newer)) {
    return between.thread == newer.thread;
  }
  return read_only ? older.writes && between.thread == newer.thread
                   : as_far && was_observed(between, newer.thread);
}

// Accesses that happen after it and stand for it, but for their values.
std::vector<const ReferenceDetector::Access*> ReferenceDetector::stand_ins(
    const Access& older, std::uint64_t byte) const {
  std::vector<const Access*> after;
  for (const Access& between : accesses_) {
    const auto known = between.clock.find(older.completion.value_or(older.thread));
    const bool is_after =
        (between.thread == older.thread && !older.completion) ||
        (known != between.clock.end() &&
         known->second >= (older.completion ? older.completion_time : older.time));
    if (between.space == older.space && between.holds(byte) &&
        between.instruction >= older.instruction && is_after && stands_for(between, older)) {
      after.push_back(&between);
    }
  }
  return after;
}

bool ReferenceDetector::has_stand_in(const Access& older, std::uint64_t byte) const {
  return std::ranges::any_of(stand_ins(older, byte), [&](const Access* one) {
    return one != &older && one->instruction != older.instruction;
  });
}

// The one exemption: an engine may report such a race, and may miss it. RACE_RULES section 3 lets
// an engine forget an access for one that happens after it and is no more excusable (weak over
// anything; strong over strong of equal or wider scope and same bytes), or for two that are so but
// for their values, which differ. So `older` need not be known any more where one of these is not a
// race with `newer` at all. An engine that kept all of them would need memory without bound.
bool ReferenceDetector::is_covered(const Access& older, const Access& newer,
                                   std::uint64_t byte) const {
  const std::vector<const Access*> after = stand_ins(older, byte);
  return std::ranges::any_of(after, [&](const Access* one) {
    const bool stands_alone = !one->known_value || has_same_value(*one, older);
    return is_excused(*one, older, newer) &&
           (stands_alone || std::ranges::any_of(after, [&](const Access* other) {
              return other->known_value && !has_same_value(*one, *other);
            }));
  });
}

}  // namespace barracuda::oracle
