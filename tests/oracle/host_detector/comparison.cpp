#include "tests/oracle/host_detector/comparison.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace barracuda::oracle {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;  // of sites, hence of operations
// A byte, and whether it is a copy by the host that races there, or the end of its block: each kind
// is to be named.
using Byte = std::tuple<Space, std::uint64_t, bool, bool>;

// kError is the smaller.
Severity worst(Severity a, Severity b) {
  return std::min(a, b);
}

Thread thread_of(const detector::RaceAccess& access) {
  return {number_of(access.thread.launch), access.thread.cta, access.thread.warp,
          access.thread.lane};
}

Pair pair_of(const detector::RaceEvent& event) {
  return std::minmax(event.first.site.packed(), event.second.site.packed());
}

// A copy is named as a whole, another access by its bytes.
bool is_side(const Race& race, const detector::RaceAccess& access) {
  const auto& rows = thread_of(access) == race.older ? race.older_rows : race.newer_rows;
  if (race.is_with_exit && access.size == 0) {
    return thread_of(access) == race.newer;
  }
  return rows ? access.address == rows->address && access.size == rows->row_bytes * rows->rows
              : access.address <= race.byte && race.byte < access.address + access.size;
}

bool is_of_host(detector::RaceKind kind) {
  return kind == detector::RaceKind::kKernelCopy || kind == detector::RaceKind::kUseAfterFree ||
         kind == detector::RaceKind::kUseBeforeAllocation;
}

Byte byte_of(const Race& race) {
  return {race.space, race.byte, is_of_copy(race), race.is_with_exit};
}

bool is_that_race(const Race& race, const detector::RaceEvent& event) {
  const bool is_shared = event.second.space == wire::AddressSpace::kShared;
  return std::pair{race.low_site, race.high_site} == pair_of(event) &&
         race.space.has_value() == is_shared && is_side(race, event.first) &&
         is_side(race, event.second) && race.severity <= event.severity &&
         is_of_copy(race) == is_of_host(event.kind) &&
         race.is_with_exit == (event.kind == detector::RaceKind::kUseAfterExit) &&
         std::minmax(race.older, race.newer) ==
             std::pair(std::minmax(thread_of(event.first), thread_of(event.second)));
}

}  // namespace

bool is_of_copy(const Race& race) {
  return race.older_rows.has_value() || race.newer_rows.has_value();
}

std::vector<Race> races_of(const Trace& trace, const detector::DetectorOptions& options) {
  ReferenceDetector reference(options);
  reference.add_sites(trace.sites);
  for (const Step& step : trace.steps) {
    if (const auto* launch = std::get_if<detector::LaunchInfo>(&step)) {
      reference.begin_launch(*launch);
    } else if (const auto* copy = std::get_if<detector::CopyInfo>(&step)) {
      reference.apply(*copy);
    } else {
      reference.apply(std::get<detector::WarpOperation>(step));
    }
  }
  return reference.races();
}

std::optional<std::string> difference(const std::vector<Race>& races,
                                      const detector::Findings& findings) {
  std::map<Pair, Severity> found;
  for (const detector::RaceEvent& event : findings.races) {
    const Pair pair = pair_of(event);
    if (std::ranges::none_of(races, [&](const Race& race) { return is_that_race(race, event); })) {
      return fmt::format("invented: #{} and #{} at {:x} severity {}", pair.first, pair.second,
                         event.second.address, static_cast<int>(event.severity));
    }
    const auto [known, is_new] = found.try_emplace(pair, event.severity);
    known->second = worst(known->second, event.severity);
  }
  std::map<Byte, Severity> bytes;  // that must be named, and how badly
  for (const Race& race : races) {
    if (!race.may_be_missed) {
      const auto [known, is_new] = bytes.try_emplace(byte_of(race), race.severity);
      known->second = worst(known->second, race.severity);
    }
  }
  std::set<Byte> named;
  for (const Race& race : races) {
    const auto wanted = bytes.find(byte_of(race));
    const auto known = found.find({race.low_site, race.high_site});
    if (wanted != bytes.end() && known != found.end() && known->second <= wanted->second &&
        race.severity <= wanted->second) {
      named.insert(wanted->first);
    }
  }
  for (const auto& [byte, severity] : bytes) {
    if (!named.contains(byte)) {
      return fmt::format("missed: byte {:x} severity {}{}", std::get<1>(byte),
                         static_cast<int>(severity), std::get<2>(byte) ? " with a copy" : "");
    }
  }
  return std::nullopt;
}

}  // namespace barracuda::oracle
