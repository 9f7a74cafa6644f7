#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "host_detector/detector.h"
#include "tests/oracle/host_detector/choices.h"
#include "tests/oracle/host_detector/paper_reference.h"
#include "tests/oracle/host_detector/paper_trace.h"

namespace barracuda::oracle::paper {
namespace {

bool is_at(const Location& location, const detector::RaceAccess& access) {
  return access.address <= location.second && location.second < access.address + access.size;
}

std::pair<std::uint32_t, std::uint32_t> pair_of(const detector::RaceEvent& event) {
  return std::minmax({event.first.site.packed(), event.second.site.packed()});
}

bool is_that_race(const Race& race, const detector::RaceEvent& event) {
  const auto [low, high] = pair_of(event);
  const bool is_shared = event.second.space == wire::AddressSpace::kShared;
  return race.low_site == low && race.high_site == high && race.kind == event.kind &&
         race.location.first.has_value() == is_shared && is_at(race.location, event.first) &&
         is_at(race.location, event.second);
}

// A finding must be a race of the rules, and every byte that races must be named by one of its
// pairs (of which a finding lists one byte).
std::optional<std::string> difference(const std::set<Race>& races,
                                      const detector::Findings& findings) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> found;
  for (const detector::RaceEvent& event : findings.races) {
    if (std::none_of(races.begin(), races.end(),
                     [&](const Race& race) { return is_that_race(race, event); })) {
      return fmt::format("invented: #{} and #{} at {:x} kind {}", event.first.site.packed(),
                         event.second.site.packed(), event.second.address,
                         static_cast<int>(event.kind));
    }
    found.insert(pair_of(event));
  }
  std::map<Location, bool> named;
  for (const Race& race : races) {
    named[race.location] |= found.contains({race.low_site, race.high_site});
  }
  for (const auto& [location, is_named] : named) {
    if (!is_named) {
      return fmt::format("missed: byte {:x}", location.second);
    }
  }
  return std::nullopt;
}

std::string text_of(const Trace& trace) {
  std::string text;
  for (const Step& step : trace.steps) {
    if (const auto* launch = std::get_if<detector::LaunchInfo>(&step)) {
      text += fmt::format("launch {}: {} blocks of {}\n", static_cast<std::uint32_t>(launch->id),
                          launch->grid.x, launch->block.x);
      continue;
    }
    if (const auto* copy = std::get_if<detector::CopyInfo>(&step)) {
      text += fmt::format("copy {:x}\n", static_cast<std::uint32_t>(copy->id));
      continue;
    }
    const auto& operation = std::get<detector::WarpOperation>(step);
    const wire::SiteInfo& site = trace.sites[static_cast<std::size_t>(operation.site)];
    text += fmt::format(
        "#{} block {} warp {} lanes {:x}: operation {} record {} order {} at {:x} ({} bytes) "
        "acquires {} releases {} operand {:x} meeting {} agree {}\n",
        static_cast<std::uint32_t>(operation.site), operation.cta, operation.warp, operation.mask,
        static_cast<int>(site.operation), static_cast<int>(operation.kind),
        static_cast<int>(site.order),
        operation.lanes[static_cast<std::size_t>(std::countr_zero(operation.mask))].address,
        site.element_bytes * site.element_count, static_cast<int>(site.acquires),
        static_cast<int>(site.releases), operation.event_operand, site.constant,
        operation.lanes_agree);
  }
  return text;
}

void compare(const Trace& trace) {
  const auto engine = detector::make_detector({.model = detector::Model::kPaper});
  Reference reference(trace.sites);
  engine->add_sites(wire::SiteId{0}, trace.sites);
  for (const Step& step : trace.steps) {
    if (const auto* launch = std::get_if<detector::LaunchInfo>(&step)) {
      engine->begin_launch(*launch);
      reference.begin_launch(*launch);
    } else if (const auto* copy = std::get_if<detector::CopyInfo>(&step)) {
      engine->apply_copy(*copy);
      reference.apply(*copy);
    } else {
      engine->apply(std::get<detector::WarpOperation>(step));
      reference.apply(std::get<detector::WarpOperation>(step));
    }
  }
  RC_ASSERT(engine->rejected() == 0U);
  if (const auto wrong = difference(reference.races(), engine->findings())) {
    RC_FAIL(fmt::format("{}\n{}", *wrong, text_of(trace)));
  }
  bool has_branch_race = false;
  for (const Race& race : reference.races()) {
    has_branch_race = has_branch_race || race.kind == detector::RaceKind::kBranchOrdering;
  }
  RC_CLASSIFY(!reference.races().empty(), "has races");
  RC_CLASSIFY(has_branch_race, "has branch-ordering races");
  RC_CLASSIFY(reference.races().empty(), "has none");
}

rc::Gen<TraceShape> shapes() {
  return rc::gen::build<TraceShape>(
      rc::gen::set(&TraceShape::ctas, rc::gen::inRange<std::uint32_t>(1, 4)),
      rc::gen::set(&TraceShape::warps, rc::gen::inRange<std::uint32_t>(1, 3)),
      rc::gen::set(&TraceShape::lanes, rc::gen::inRange<std::uint32_t>(1, 5)),
      rc::gen::set(&TraceShape::launches, rc::gen::inRange<std::uint32_t>(1, 4)),
      rc::gen::set(&TraceShape::choices,
                   rc::gen::scale(1.5, rc::gen::container<std::vector<Choice>>(choices()))));
}

}  // namespace
}  // namespace barracuda::oracle::paper

TEST_CASE("the engine finds the races of the paper's rules and no others") {
  using namespace barracuda::oracle;
  CHECK(rc::check("lockstep", [] { paper::compare(paper::make_trace(*paper::shapes())); }));
}
