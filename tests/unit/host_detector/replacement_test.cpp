#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include "host_detector/races/verdict.h"

namespace barracuda::detector {
namespace {

using wire::MemoryOrder;
using wire::Operation;
using wire::Proxy;
using wire::Scope;
using wire::SiteInfo;

// A side that owns its site.
struct Kind {
  SiteInfo site;
  bool writes = false;
  std::optional<std::uint64_t> value;

  [[nodiscard]] Side side() const {
    return {.site = &site,
            .writes = writes,
            .has_value = value.has_value(),
            .value = value.value_or(0),
            .agrees = false};
  }
};

struct Strong {
  MemoryOrder order;
  Scope scope;
};

constexpr std::array kStrong{
    Strong{MemoryOrder::kVolatile, Scope::kSys}, Strong{MemoryOrder::kRelaxed, Scope::kCta},
    Strong{MemoryOrder::kRelaxed, Scope::kCluster}, Strong{MemoryOrder::kRelaxed, Scope::kGpu},
    Strong{MemoryOrder::kAcquire, Scope::kGpu}};

SiteInfo site_of(Operation operation, const Strong& strong, std::uint8_t bytes) {
  SiteInfo site{.operation = operation, .order = strong.order, .scope = strong.scope};
  site.element_bytes = bytes;
  site.element_count = 1;
  return site;
}

// With each idiom that the operation may have.
void add_with_idioms(std::vector<Kind>& all, const Kind& kind) {
  all.push_back(kind);
  for (const Scope scope : {Scope::kCta, Scope::kGpu}) {
    Kind idiom = kind;
    idiom.site.idiom_scope = scope;
    idiom.site.flag_store = kind.site.operation == Operation::kWrite;
    idiom.site.poll = kind.site.operation != Operation::kWrite;
    all.push_back(idiom);
  }
}

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (const std::uint8_t bytes : {std::uint8_t{4}, std::uint8_t{8}}) {
    std::vector<Strong> strengths(kStrong.begin(), kStrong.end());
    strengths.push_back({MemoryOrder::kWeak, Scope::kSys});
    for (const Strong& strong : strengths) {
      add_with_idioms(all, {.site = site_of(Operation::kRead, strong, bytes)});
      for (const auto& value : {std::optional<std::uint64_t>{}, std::optional<std::uint64_t>{1},
                                std::optional<std::uint64_t>{2}}) {
        add_with_idioms(
            all,
            {.site = site_of(Operation::kWrite, strong, bytes), .writes = true, .value = value});
      }
      if (strong.order > MemoryOrder::kVolatile) {
        add_with_idioms(all, {.site = site_of(Operation::kAtomic, strong, bytes), .writes = true});
        add_with_idioms(all, {.site = site_of(Operation::kAtomic, strong, bytes)});  // failed CAS
      }
    }
    Kind read_only{.site = site_of(Operation::kRead, strengths.back(), bytes)};
    Kind speculated = read_only;
    read_only.site.proxy = Proxy::kReadOnly;
    all.push_back(read_only);
    speculated.site.speculated = true;
    all.push_back(speculated);
    speculated.site.proxy = Proxy::kReadOnly;
    all.push_back(speculated);
  }
  return all;
}

// 0 where the pair is excused, more where it is worse.
int badness(const Side& first, const Side& second, Distance distance) {
  const std::optional<Verdict> verdict = verdict_of(
      {.first = first, .second = second, .distance = distance, .same_launch = true}, false);
  return !verdict ? 0 : verdict->severity == Severity::kWarning ? 1 : 2;
}

Kind plain(Operation operation, std::uint8_t bytes = 4) {
  return {.site = site_of(operation, {MemoryOrder::kWeak, Scope::kSys}, bytes),
          .writes = operation == Operation::kWrite};
}

Kind strong(Operation operation, Scope scope, std::uint8_t bytes = 4) {
  return {.site = site_of(operation, {MemoryOrder::kRelaxed, scope}, bytes),
          .writes = operation != Operation::kRead};
}

bool may_replace(const Kind& newer, const Kind& older) {
  return detector::may_replace(newer.side(), older.side());
}

}  // namespace

TEST_CASE("what races with a replaced access races as badly with the one that replaced it") {
  const std::vector<Kind> all = kinds();
  std::size_t replacements = 0;
  std::size_t worse = 0;
  for (const Kind& older : all) {
    for (const Kind& newer : all) {
      if (!may_replace(newer, older)) {
        continue;
      }
      ++replacements;
      for (const Kind& third : all) {
        for (const Distance distance : {Scope::kCta, Scope::kCluster, Scope::kGpu}) {
          worse += badness(older.side(), third.side(), distance) >
                           badness(newer.side(), third.side(), distance)
                       ? 1
                       : 0;
        }
        const Pair with_older{.first = older.side(), .second = third.side(), .same_launch = true};
        const Pair with_newer{.first = newer.side(), .second = third.side(), .same_launch = true};
        worse += defies_order(with_older) && !defies_order(with_newer) ? 1 : 0;
      }
    }
  }
  CHECK(worse == 0);
  CHECK(replacements > all.size());
}

TEST_CASE(
    "two stores of different known values stand together for what each does but for its value") {
  const std::vector<Kind> all = kinds();
  const auto worst = [&](const Kind& one, const Kind& other, const Kind& third, Distance distance) {
    return std::max(badness(one.side(), third.side(), distance),
                    badness(other.side(), third.side(), distance));
  };
  std::size_t pairs = 0, worse = 0, worse_alone = 0;
  for (const Kind& older : all) {
    std::vector<const Kind*> newer;
    for (const Kind& kind : all) {
      if (kind.value && stands_for(kind.side(), older.side())) {
        newer.push_back(&kind);
      }
    }
    for (const Kind* one : newer) {
      for (const Kind* other : newer) {
        const bool differs = value_mark(one->side()) != value_mark(other->side());
        pairs += differs ? 1 : 0;
        for (const Kind& third : all) {
          for (const Distance distance : {Scope::kCta, Scope::kGpu}) {
            const bool is_worse = badness(older.side(), third.side(), distance) >
                                  worst(*one, *other, third, distance);
            worse += differs && is_worse ? 1 : 0;
            worse_alone += one == other && is_worse ? 1 : 0;
          }
        }
      }
    }
  }
  CHECK(worse == 0);
  CHECK(worse_alone > 0);
  CHECK(pairs > all.size());
}

TEST_CASE("a plain access replaces any of its direction, and a write a read") {
  for (const Kind& older : kinds()) {
    const bool is_read_only = older.site.proxy == Proxy::kReadOnly;
    CHECK(may_replace(plain(Operation::kWrite), older) == !is_read_only);
    CHECK(may_replace(plain(Operation::kRead), older) == (!is_read_only && !older.writes));
  }
}

TEST_CASE("a strong access replaces a strong one of equal or wider scope and the same bytes") {
  const Kind gpu = strong(Operation::kAtomic, Scope::kGpu);
  CHECK(may_replace(gpu, gpu));
  CHECK(may_replace(strong(Operation::kAtomic, Scope::kCta), gpu));
  CHECK_FALSE(may_replace(gpu, strong(Operation::kAtomic, Scope::kCta)));
  CHECK_FALSE(may_replace(strong(Operation::kAtomic, Scope::kGpu, 8), gpu));
  CHECK_FALSE(may_replace(gpu, plain(Operation::kWrite)));
  CHECK_FALSE(may_replace(gpu, plain(Operation::kRead)));
  CHECK_FALSE(may_replace(strong(Operation::kRead, Scope::kGpu), gpu));
}

TEST_CASE("a store of a known value replaces only a store of the same") {
  Kind one = plain(Operation::kWrite);
  one.value = 1;
  Kind two = one;
  two.value = 2;
  Kind wide = one;
  wide.site.element_bytes = 8;
  CHECK(may_replace(one, one));
  CHECK_FALSE(may_replace(two, one));
  CHECK_FALSE(may_replace(wide, one));
  CHECK_FALSE(may_replace(one, plain(Operation::kWrite)));
  CHECK_FALSE(may_replace(one, plain(Operation::kRead)));
}

TEST_CASE("a speculated load replaces only its like") {
  Kind speculated = plain(Operation::kRead);
  speculated.site.speculated = true;
  CHECK(may_replace(speculated, speculated));
  CHECK(may_replace(plain(Operation::kRead), speculated));
  CHECK_FALSE(may_replace(speculated, plain(Operation::kRead)));
}

TEST_CASE("a flag store or a poll replaces only its like with a fence as wide") {
  Kind narrow = plain(Operation::kWrite);
  narrow.site.flag_store = true;
  narrow.site.idiom_scope = Scope::kCta;
  Kind wide = narrow;
  wide.site.idiom_scope = Scope::kGpu;
  CHECK(may_replace(narrow, wide));
  CHECK_FALSE(may_replace(wide, narrow));
  CHECK_FALSE(may_replace(wide, plain(Operation::kWrite)));
  CHECK(may_replace(plain(Operation::kWrite), wide));
}

}  // namespace barracuda::detector
