#include <map>
#include <set>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "host_detector/detector.h"
#include "tests/oracle/host_detector/random_trace.h"
#include "tests/oracle/host_detector/reference_detector.h"

namespace barracuda::oracle {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;  // of sites, hence of operations
using Byte = std::pair<Space, std::uint64_t>;

struct Expected {
  std::map<Pair, Severity> pairs;                  // the worst of each
  std::map<Byte, std::map<Pair, Severity>> bytes;  // who races there
};

Severity worst(Severity a, Severity b) {
  return std::min(a, b);
}  // kError is the smaller

Expected expect(const Trace& trace, const detector::DetectorOptions& options) {
  ReferenceDetector reference(options);
  reference.add_sites(trace.sites);
  for (const Step& step : trace.steps) {
    if (const auto* launch = std::get_if<detector::LaunchInfo>(&step)) {
      reference.begin_launch(*launch);
    } else {
      reference.apply(std::get<detector::WarpOperation>(step));
    }
  }
  Expected expected;
  for (const Race& race : reference.races()) {
    const Pair pair{race.low_site, race.high_site};
    const auto [known, is_new] = expected.pairs.try_emplace(pair, race.severity);
    known->second = worst(known->second, race.severity);
    auto& at_byte = expected.bytes[{race.space, race.byte}];
    const auto [here, is_first] = at_byte.try_emplace(pair, race.severity);
    here->second = worst(here->second, race.severity);
  }
  return expected;
}

std::map<Pair, Severity> detect(const Trace& trace, const detector::DetectorOptions& options) {
  detector::Detector engine(options);
  engine.add_sites(wire::SiteId{0}, trace.sites);
  for (const Step& step : trace.steps) {
    if (const auto* launch = std::get_if<detector::LaunchInfo>(&step)) {
      engine.begin_launch(*launch);
    } else {
      engine.apply(std::get<detector::WarpOperation>(step));
    }
  }
  RC_ASSERT(engine.rejected() == 0U);
  std::map<Pair, Severity> found;
  for (const detector::RaceEvent& race : engine.findings().races) {
    const auto [low, high] = std::minmax({static_cast<std::uint32_t>(race.first.site),
                                          static_cast<std::uint32_t>(race.second.site)});
    found[{low, high}] =
        worst(found.try_emplace({low, high}, race.severity).first->second, race.severity);
  }
  return found;
}

// The engine names a pair only if the rules do, and as badly; and every byte that races by the
// rules is named by one of its worst pairs.
void compare(const Trace& trace, const detector::DetectorOptions& options) {
  const Expected expected = expect(trace, options);
  const std::map<Pair, Severity> found = detect(trace, options);
  for (const auto& [pair, severity] : found) {
    const auto known = expected.pairs.find(pair);
    if (known == expected.pairs.end() || known->second > severity) {
      RC_FAIL(fmt::format("invented: #{} and #{} severity {}\n{}", pair.first, pair.second,
                          static_cast<int>(severity), describe(trace)));
    }
  }
  for (const auto& [byte, pairs] : expected.bytes) {
    Severity here = Severity::kWarning;
    for (const auto& [pair, severity] : pairs) {
      here = worst(here, severity);
    }
    const bool is_named = std::ranges::any_of(pairs, [&](const auto& each) {
      const auto known = found.find(each.first);
      return known != found.end() && known->second <= here;
    });
    if (!is_named) {
      const auto& [pair, severity] = *pairs.begin();
      RC_FAIL(fmt::format("missed: byte {:x} ({} pairs, first #{} and #{} severity {})\n{}",
                          byte.second, pairs.size(), pair.first, pair.second,
                          static_cast<int>(here), describe(trace)));
    }
  }
  RC_CLASSIFY(!expected.pairs.empty(), "has races");
  RC_CLASSIFY(expected.pairs.empty(), "has none");
}

rc::Gen<Choice> choices() {
  return rc::gen::build<Choice>(
      rc::gen::set(&Choice::who, rc::gen::arbitrary<std::uint8_t>()),
      rc::gen::set(&Choice::what, rc::gen::resize(100, rc::gen::arbitrary<std::uint8_t>())),
      rc::gen::set(&Choice::where, rc::gen::resize(100, rc::gen::arbitrary<std::uint8_t>())),
      rc::gen::set(&Choice::how, rc::gen::resize(100, rc::gen::arbitrary<std::uint8_t>())),
      rc::gen::set(&Choice::lanes, rc::gen::resize(100, rc::gen::arbitrary<std::uint32_t>())));
}

rc::Gen<TraceShape> shapes() {
  return rc::gen::build<TraceShape>(
      rc::gen::set(&TraceShape::ctas, rc::gen::inRange<std::uint32_t>(1, 4)),
      rc::gen::set(&TraceShape::warps, rc::gen::inRange<std::uint32_t>(1, 3)),
      rc::gen::set(&TraceShape::lanes, rc::gen::inRange<std::uint32_t>(1, 5)),
      rc::gen::set(&TraceShape::launches, rc::gen::inRange<std::uint32_t>(1, 5)),
      rc::gen::set(&TraceShape::clusters, rc::gen::arbitrary<bool>()),
      rc::gen::set(&TraceShape::choices,
                   rc::gen::scale(0.7, rc::gen::container<std::vector<Choice>>(choices()))));
}

}  // namespace
}  // namespace barracuda::oracle

TEST_CASE("the engine finds the races of the rules and no others") {
  using namespace barracuda;
  CHECK(rc::check("default options",
                  [] { oracle::compare(oracle::make_trace(*oracle::shapes()), {}); }));
  CHECK(rc::check("same values reported", [] {
    oracle::compare(oracle::make_trace(*oracle::shapes()), {.report_same_value = true});
  }));
  CHECK(rc::check("relaxed spins acquire", [] {
    oracle::compare(oracle::make_trace(*oracle::shapes()), {.acquire_relaxed_spin = true});
  }));
}
