// Section 2 of RACE_RULES.md: what an unordered conflict of two accesses is worth. Pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "device_logger/site_info.h"
#include "host_detector/race_event.h"

namespace barracuda::detector {

// How far apart two threads are: the narrowest scope that includes both.
using Distance = wire::Scope;

// What the verdict needs of one side of a conflict.
struct Side {
  const wire::SiteInfo* site = nullptr;
  bool writes = false;          // a failed CAS does not
  bool has_value = false;       // a store whose value is known to hold for the whole warp
  std::uint64_t value = 0;      // wire::stored_value
  bool agrees = false;          // with the other lanes of its instruction that stored there
  bool is_of_mbarrier = false;  // an operation on an mbarrier as such
};

struct Pair {
  Side first, second;
  Distance distance = Distance::kSys;
  bool same_instruction = false;  // lanes of one execution of one instruction
  bool same_launch = false;
};

struct Verdict {
  Severity severity = Severity::kError;
  MissingOrder missing = MissingOrder::kNoSynchronisation;
};

// Nothing where the rules excuse the pair. `report_same_value` is the option of that name.
std::optional<Verdict> verdict_of(const Pair& pair, bool report_same_value);

// Nothing in a launch orders two accesses of it by these, if one of them writes: a read by the
// read-only path is ordered with no write, an access of a surface with those by surfaces of its
// block alone.
bool lacks_order(const wire::SiteInfo& first, const wire::SiteInfo& second, bool same_block);
bool defies_order(const Pair& pair);

// Whether an access is excused depends on how far apart the threads are.
bool is_judged_by_distance(const wire::SiteInfo& site);

// A cell of `older` may be forgotten for one of `newer` that happens after it and touches the
// same bytes: whatever races with the older one races with the newer one, and no less badly; unless
// it is judged by distance and nearer to the newer one.
bool may_replace(const Side& newer, const Side& older);

// The same, where a later store is not excused because it is equal to the newer one's. So two of
// different known values, both after `older`, may replace it: no store is equal to both
// (RACE_RULES section 3).
bool stands_for(const Side& newer, const Side& older);

// 1 to 31, and if two sides have different ones, their known values differ or are not of one shape.
std::uint8_t value_mark(const Side& side);

// The pair synchronises as release and acquire although neither need be strong.
bool is_flag_pair(const Side& first, const Side& second, Distance distance);

}  // namespace barracuda::detector
