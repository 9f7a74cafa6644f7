#include "host_detector/races/verdict.h"

#include "device_logger/scope_order.h"

namespace barracuda::detector {
namespace {

using wire::MemoryOrder;
using wire::Operation;

enum class Strength : std::uint8_t { kPlain, kVolatile, kRelaxed };

Strength strength_of(const wire::SiteInfo& site) {
  return site.order == MemoryOrder::kWeak       ? Strength::kPlain
         : site.order == MemoryOrder::kVolatile ? Strength::kVolatile
                                                : Strength::kRelaxed;
}

bool is_as_strong(Strength one, Strength as) {
  return one == as || one == Strength::kRelaxed || as == Strength::kPlain;
}

bool is_store(const Side& side) {
  return side.site->operation == Operation::kWrite;
}

bool is_read_only(const Side& side) {
  return side.site->proxy == wire::Proxy::kReadOnly;
}

bool is_of_surface(const wire::SiteInfo& site) {
  return site.proxy == wire::Proxy::kSurface;
}

// By the async proxy; the mbarrier that a copy completes on it reaches by the generic one.
bool is_async_proxy(const Side& side) {
  return side.site->proxy == wire::Proxy::kAsync && !side.is_of_mbarrier;
}

// One side is a load that the compiler made for lanes that drop what it reads.
bool is_speculated(const Pair& pair) {
  return pair.first.site->speculated || pair.second.site->speculated;
}

bool is_volatile_store(const Side& side) {
  return is_store(side) && side.site->order == MemoryOrder::kVolatile;
}

std::uint32_t width(const Side& side) {
  return side.site->element_bytes;
}

bool is_flag_store_to_poll(const Side& store, const Side& poll, Distance distance) {
  return store.writes && store.site->flag_store && poll.site->poll && width(store) == width(poll) &&
         includes(store.site->idiom_scope, distance) && includes(poll.site->idiom_scope, distance);
}

// Of a vector it is the value of all its elements, so only one like it has the same.
bool is_of_same_shape(const Side& first, const Side& second) {
  return width(first) == width(second) && first.site->element_count == second.site->element_count;
}

bool has_same_value(const Side& first, const Side& second) {
  return first.has_value && second.has_value && first.value == second.value &&
         is_of_same_shape(first, second);
}

constexpr Verdict kEqual{.severity = Severity::kWarning, .missing = MissingOrder::kEqualValues};

// Of strong accesses one of which is a volatile store.
std::optional<Verdict> volatile_verdict(const Pair& pair, bool report_same_value) {
  if (pair.same_instruction && pair.first.agrees && pair.second.agrees) {
    return report_same_value ? std::optional(kEqual) : std::nullopt;
  }
  const auto is_flag_pair_of = [&](const Side& store, const Side& poll) {
    return store.writes && store.site->flag_store && poll.site->poll;
  };
  const bool is_flag_too_narrow =
      is_flag_pair_of(pair.first, pair.second) || is_flag_pair_of(pair.second, pair.first);
  return Verdict{
      .severity = Severity::kWarning,
      .missing = is_flag_too_narrow ? MissingOrder::kScopeTooNarrow : MissingOrder::kVolatileFlag};
}

std::optional<Verdict> plain_verdict(const Pair& pair, bool report_same_value) {
  if (is_store(pair.first) && is_store(pair.second)) {
    if (pair.same_instruction && pair.first.agrees && pair.second.agrees) {
      return report_same_value ? std::optional(kEqual) : std::nullopt;
    }
    if (has_same_value(pair.first, pair.second)) {
      const bool is_harmless =
          pair.first.site == pair.second.site && pair.first.site->is_replicated;
      return is_harmless && !report_same_value ? std::nullopt : std::optional(kEqual);
    }
  }
  Verdict verdict;
  if (is_async_proxy(pair.first) == is_async_proxy(pair.second) &&
      strength_of(*pair.first.site) != Strength::kPlain &&
      strength_of(*pair.second.site) != Strength::kPlain) {
    verdict.missing = MissingOrder::kAtomicScopeTooNarrow;
  }
  return verdict;
}

}  // namespace

bool is_flag_pair(const Side& first, const Side& second, Distance distance) {
  return is_flag_store_to_poll(first, second, distance) ||
         is_flag_store_to_poll(second, first, distance);
}

bool lacks_order(const wire::SiteInfo& first, const wire::SiteInfo& second, bool same_block) {
  if (first.proxy == wire::Proxy::kReadOnly || second.proxy == wire::Proxy::kReadOnly) {
    return true;
  }
  const bool is_any = is_of_surface(first) || is_of_surface(second);
  return is_any && (first.proxy != second.proxy || !same_block);
}

bool defies_order(const Pair& pair) {
  return pair.same_launch && (pair.first.writes || pair.second.writes) &&
         lacks_order(*pair.first.site, *pair.second.site, pair.distance == Distance::kCta);
}

std::optional<Verdict> verdict_of(const Pair& pair, bool report_same_value) {
  if (!pair.first.writes && !pair.second.writes) {
    return std::nullopt;
  }
  if (pair.first.is_of_mbarrier && pair.second.is_of_mbarrier) {
    return std::nullopt;
  }
  if (is_speculated(pair)) {
    return Verdict{.severity = Severity::kWarning, .missing = MissingOrder::kSpeculatedRead};
  }
  if (is_read_only(pair.first) || is_read_only(pair.second)) {
    return Verdict{.missing = pair.same_launch ? MissingOrder::kReadOnlyPath
                                               : MissingOrder::kNoSynchronisation};
  }
  if (defies_order(pair)) {
    return Verdict{.missing = MissingOrder::kSurfaceBlocks};
  }
  if (is_flag_pair(pair.first, pair.second, pair.distance)) {
    return std::nullopt;
  }
  const wire::SiteInfo& first = *pair.first.site;
  const wire::SiteInfo& second = *pair.second.site;
  const bool strong = is_async_proxy(pair.first) == is_async_proxy(pair.second) &&
                      strength_of(first) != Strength::kPlain &&
                      strength_of(second) != Strength::kPlain &&
                      includes(narrower(first.scope, second.scope), pair.distance);
  if (!strong) {
    return plain_verdict(pair, report_same_value);
  }
  if (width(pair.first) != width(pair.second)) {
    return Verdict{.severity = Severity::kError, .missing = MissingOrder::kMixedSize};
  }
  if (is_volatile_store(pair.first) || is_volatile_store(pair.second)) {
    return volatile_verdict(pair, report_same_value);
  }
  return std::nullopt;
}

bool is_judged_by_distance(const wire::SiteInfo& site) {
  return site.order != MemoryOrder::kWeak || site.flag_store || site.poll;
}

bool stands_for(const Side& newer, const Side& older) {
  if (older.writes && !newer.writes) {
    return false;
  }
  if ((is_read_only(older) && !is_read_only(newer)) ||
      (is_of_surface(*older.site) && !is_of_surface(*newer.site)) ||
      (newer.is_of_mbarrier && !older.is_of_mbarrier)) {
    return false;
  }
  if (newer.site->flag_store && !(older.site->flag_store && width(newer) == width(older) &&
                                  includes(older.site->idiom_scope, newer.site->idiom_scope))) {
    return false;
  }
  if (newer.site->poll && !(older.site->poll && width(newer) == width(older) &&
                            includes(older.site->idiom_scope, newer.site->idiom_scope))) {
    return false;
  }
  if (newer.site->speculated && !older.site->speculated) {
    return false;
  }
  const Strength strength = strength_of(*newer.site);
  return strength == Strength::kPlain ||
         (is_as_strong(strength_of(*older.site), strength) &&
          includes(older.site->scope, newer.site->scope) &&
          is_async_proxy(newer) == is_async_proxy(older) && width(newer) == width(older));
}

bool may_replace(const Side& newer, const Side& older) {
  return stands_for(newer, older) && (!newer.has_value || has_same_value(newer, older));
}

std::uint8_t value_mark(const Side& side) {
  const std::uint64_t shape = (std::uint64_t{width(side)} << 8) | side.site->element_count;
  std::uint64_t mixed = (side.value ^ shape << 48) * 0x9E3779B97F4A7C15ULL;
  mixed = (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<std::uint8_t>(1 + (mixed >> 32) % 31);
}

}  // namespace barracuda::detector
