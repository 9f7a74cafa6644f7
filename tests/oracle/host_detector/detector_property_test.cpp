#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "host_detector/detector.h"
#include "tests/oracle/host_detector/choices.h"
#include "tests/oracle/host_detector/comparison.h"
#include "tests/oracle/host_detector/filtered_trace.h"
#include "tests/oracle/host_detector/random_trace.h"

namespace barracuda::oracle {
namespace {

// The races of `trace`, and what the engine finds in what is `logged` of it.
void compare(const Trace& trace, const Trace& logged, const detector::DetectorOptions& options) {
  const auto engine = detector::make_detector(options);
  engine->add_sites(wire::SiteId{0}, logged.sites);
  for (const Step& step : logged.steps) {
    if (const auto* launch = std::get_if<detector::LaunchInfo>(&step)) {
      engine->begin_launch(*launch);
    } else if (const auto* copy = std::get_if<detector::CopyInfo>(&step)) {
      engine->apply_copy(*copy);
    } else {
      engine->apply(std::get<detector::WarpOperation>(step));
    }
  }
  if (engine->rejected() != 0) {
    RC_FAIL(fmt::format("refused some of\n{}logged\n{}", describe(trace), describe(logged)));
  }
  const std::vector<Race> races = races_of(trace, options);
  if (const auto wrong = difference(races, engine->findings())) {
    RC_FAIL(fmt::format("{}\n{}logged\n{}", *wrong, describe(trace), describe(logged)));
  }
  RC_CLASSIFY(logged.steps.size() < trace.steps.size(), "is not all logged");
  RC_CLASSIFY(std::ranges::any_of(races, &Race::may_be_missed), "may miss some");
  RC_CLASSIFY(std::ranges::any_of(races, is_of_copy), "has races with copies");
  RC_CLASSIFY(!races.empty(), "has races");
  RC_CLASSIFY(races.empty(), "has none");
}

void compare(const Trace& trace, const detector::DetectorOptions& options) {
  compare(trace, trace, options);
}

rc::Gen<TraceShape> shapes() {
  return rc::gen::build<TraceShape>(
      rc::gen::set(&TraceShape::ctas, rc::gen::inRange<std::uint32_t>(1, 4)),
      rc::gen::set(&TraceShape::warps, rc::gen::inRange<std::uint32_t>(1, 3)),
      rc::gen::set(&TraceShape::lanes, rc::gen::inRange<std::uint32_t>(1, 5)),
      rc::gen::set(&TraceShape::launches, rc::gen::inRange<std::uint32_t>(1, 7)),
      rc::gen::set(&TraceShape::clusters, rc::gen::arbitrary<bool>()),
      rc::gen::set(&TraceShape::copies, rc::gen::arbitrary<bool>()),
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
  CHECK(rc::check("known values", [] {
    oracle::TraceShape shape = *oracle::shapes();
    shape.known_values = true;
    oracle::compare(oracle::make_trace(shape), {});
  }));
  CHECK(rc::check("relaxed spins acquire", [] {
    oracle::compare(oracle::make_trace(*oracle::shapes()), {.acquire_relaxed_spin = true});
  }));
}

// With the test before: whatever an engine that forgets misses, it misses because RACE_RULES
// section 3 lets it forget that access, and for no other reason.
TEST_CASE("an engine that forgets nothing finds every race of the rules, without exception") {
  using namespace barracuda;
  CHECK(rc::check("default options", [] {
    oracle::compare(oracle::make_trace(*oracle::shapes()), {.keeps_everything = true});
  }));
  CHECK(rc::check("known values", [] {
    oracle::TraceShape shape = *oracle::shapes();
    shape.known_values = true;
    oracle::compare(oracle::make_trace(shape), {.keeps_everything = true});
  }));
  CHECK(rc::check("relaxed spins acquire", [] {
    oracle::compare(oracle::make_trace(*oracle::shapes()),
                    {.acquire_relaxed_spin = true, .keeps_everything = true});
  }));
}

namespace barracuda::oracle {
namespace {

// Plain accesses are to words of shared memory, and no values are known.
void keep_to_states(Choice& choice) {
  choice.what %= 31;
  choice.where |= choice.what < 10 ? 3 : 0;
  choice.how = static_cast<std::uint8_t>((choice.how & 0xCF) | 0x10);
  if ((choice.how & 0xE) == 6) {
    choice.how ^= 4;
  }
}

// Threads of one block access a word of shared memory, and hand on what they know: an atomic with a
// fence before it and one behind. Few other steps, so that many see in one interval what one did.
std::vector<Choice> handing_on(const std::vector<Choice>& choices) {
  constexpr std::uint8_t kPlain = 0, kFence = 10, kStrong = 16, kBarrier = 26;
  std::vector<Choice> steps;
  for (Choice choice : choices) {
    const std::uint32_t kind = choice.what % 20;
    choice.lanes = 4;
    choice.where = 3;
    choice.what = kPlain;
    choice.how = choice.how % 2 == 0 ? 0x10 : 0x18;  // a store or a load of a word
    if (kind < 11) {
      steps.push_back(choice);
      continue;
    }
    choice.what = kind == 19 ? kBarrier : kFence;
    choice.how = 0;
    steps.push_back(choice);
    if (kind != 19) {
      steps.push_back(choice);
      steps.back().what = kStrong;
      steps.back().where = 2;
      steps.back().how = 16 + 4;
      steps.push_back(choice);
    }
  }
  return steps;
}

// Mostly accesses, and barriers to which all threads of a warp or of a block come.
void keep_to_barriers(Choice& choice) {
  constexpr std::array<std::uint8_t, 16> kWhat{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 28, 28, 28, 26, 10};
  choice.what = kWhat.at(choice.what % kWhat.size());
  if (choice.what >= 26) {
    choice.how = 0;
    choice.lanes &= ~3U;
  }
}

// Of one warp, whose lanes read two words apart, and write them now and then.
void keep_to_few_words(Choice& choice) {
  constexpr std::array<std::uint8_t, 8> kWhat{0, 1, 2, 3, 4, 5, 6, 28};
  choice.what = kWhat.at(choice.what % kWhat.size());
  choice.where &= 7;
  if (choice.what >= 26) {
    choice.how = 0;
    choice.lanes &= ~3U;
  }
}

// Mostly accesses, barriers of all, and asynchronous copies of threads with their commits and
// waits.
void keep_to_copies(Choice& choice) {
  constexpr std::array<std::uint8_t, 16> kWhat{0,  1,  2,  3,  4,  9,  9,  28,
                                               28, 28, 32, 32, 32, 32, 32, 32};
  choice.what = kWhat.at(choice.what % kWhat.size());
  if (choice.what == 32) {
    choice.how = static_cast<std::uint8_t>(10 + choice.how % 5);  // AsyncMaker::make
    choice.lanes &= choice.how >= 12 ? ~4U : ~0U;
  } else if (choice.what == 28) {
    choice.how = 0;
    choice.lanes &= ~3U;
  }
}

bool is_copy_read(const wire::SiteInfo& site) {
  return site.asynchrony != wire::Asynchrony::kNone && site.operation == wire::Operation::kRead;
}

void compare_filtered(const TraceShape& shape, bool has_copy_reads = true,
                      Watch watch = Watch::kShared) {
  Trace trace = make_trace(shape);
  std::erase_if(trace.steps, [&](const Step& step) {
    const auto* const operation = std::get_if<detector::WarpOperation>(&step);
    if (operation == nullptr) {
      return false;
    }
    const wire::SiteInfo& site = trace.sites.at(static_cast<std::size_t>(operation->site));
    // Of memory that a heap has again, what is logged late comes too late, filter or not.
    return (!has_copy_reads && is_copy_read(site)) ||
           (watch == Watch::kGlobal && site.operation == wire::Operation::kHeap);
  });
  for (wire::SiteInfo& site : trace.sites) {
    site.speculated = false;
  }
  compare(trace, filtered(trace, watch), {});
}

}  // namespace
}  // namespace barracuda::oracle

// Of values and of what is speculated states know less, which makes a race graver or less grave.
TEST_CASE("the engine finds them in what a device logs that keeps states of shared memory") {
  using namespace barracuda;
  CHECK(rc::check("default options", [] {
    oracle::TraceShape shape = *oracle::shapes();
    shape.clusters = shape.copies = false;
    std::ranges::for_each(shape.choices, oracle::keep_to_states);
    oracle::compare_filtered(shape);
  }));
  CHECK(rc::check("barriers of warps", [] {
    oracle::TraceShape shape = *oracle::shapes();
    shape.clusters = shape.copies = false;
    for (oracle::Choice& choice : shape.choices) {
      oracle::keep_to_barriers(choice);
      oracle::keep_to_states(choice);
    }
    oracle::compare_filtered(shape);
  }));
  CHECK(rc::check("handed on", [] {
    oracle::TraceShape shape = *oracle::shapes();
    shape.clusters = shape.copies = false;
    shape.ctas = shape.launches = shape.lanes = 1;
    shape.warps = 3;
    shape.choices = oracle::handing_on(shape.choices);
    oracle::compare_filtered(shape);
  }));
  CHECK(rc::check("asynchronous copies", [] {
    oracle::TraceShape shape = *oracle::shapes();
    shape.clusters = false;
    shape.copies = true;
    for (oracle::Choice& choice : shape.choices) {
      oracle::keep_to_copies(choice);
      if (choice.what != 32) {
        oracle::keep_to_states(choice);
      }
    }
    oracle::compare_filtered(shape, *rc::gen::arbitrary<bool>());
  }));
  // Accesses of which other blocks cannot learn are kept, beside fences, releases and acquires.
  CHECK(rc::check("global memory", [] {
    oracle::TraceShape shape = *oracle::shapes();
    shape.clusters = shape.copies = false;
    shape.launches = 1;
    for (oracle::Choice& choice : shape.choices) {
      const std::uint8_t where = choice.where;
      oracle::keep_to_states(choice);
      choice.where = where;
    }
    oracle::compare_filtered(shape, true, oracle::Watch::kGlobal);
  }));
  CHECK(rc::check("lanes apart", [] {
    oracle::TraceShape shape = *oracle::shapes();
    shape.clusters = shape.copies = false;
    shape.ctas = shape.warps = shape.launches = 1;
    shape.lanes = 4;
    for (oracle::Choice& choice : shape.choices) {
      oracle::keep_to_few_words(choice);
      oracle::keep_to_states(choice);
    }
    oracle::compare_filtered(shape);
  }));
}
