#include "weak_memory/store_buffer/root_cause.h"

#include <algorithm>
#include <numeric>

#include <catch2/catch.hpp>

#include "tests/unit/weak_memory/handshakes.h"

namespace barracuda::weak_memory {
namespace {

using testing::Handshake;
using testing::Handshakes;

std::vector<SourcePlace> places(std::uint32_t count) {
  std::vector<SourcePlace> all;
  for (std::uint32_t i = 0; i < count; ++i) {
    all.push_back({.accesses = {{.at = {.function = "f", .ordinal = i}}}});
  }
  return all;
}

std::vector<std::uint32_t> ordinals(const std::vector<SourcePlace>& some) {
  std::vector<std::uint32_t> numbers;
  for (const SourcePlace& place : some) {
    numbers.push_back(place.first().at.ordinal);
  }
  std::ranges::sort(numbers);
  return numbers;
}

// A bug is cured by any fence from `first` to `last`.
struct Gap {
  std::uint32_t first, last;
};

FailsWithPlaces fails_unless_cured(const std::vector<Gap>& bugs, std::size_t& tests) {
  return [&](const std::vector<SourcePlace>& fenced) {
    ++tests;
    const auto numbers = ordinals(fenced);
    return !std::ranges::all_of(bugs, [&](const Gap& bug) {
      return std::ranges::any_of(numbers, [&bug](std::uint32_t number) {
        return bug.first <= number && number <= bug.last;
      });
    });
  };
}

struct Search {
  std::vector<RootCause> causes;
  std::uint64_t runs = 0;
};

Search search(std::vector<Handshake> all, double probability = 1) {
  Handshakes program(std::move(all));
  Oracle oracle({});
  oracle.learn({program({})});
  Trials trials(one_by_one(std::ref(program)), oracle, [] { return false; });
  Settings failing;
  failing.weakness.stores = probability;
  std::vector<std::uint64_t> seeds(20);
  std::iota(seeds.begin(), seeds.end(), 1);
  const auto seed = trials.failing_seed(failing, seeds);
  REQUIRE(seed);
  failing.seed = *seed;
  return {.causes = find_root_causes(trials, failing, seeds), .runs = trials.made()};
}

std::uint32_t line_of(const NeededFence& fence) {
  return fence.place.first().lines.front().line;
}

}  // namespace

TEST_CASE("one missing fence of many places is found in a few runs") {
  for (const Gap bug : {Gap{0, 0}, Gap{17, 20}, Gap{63, 63}}) {
    std::size_t tests = 0;
    const auto found = needed_places(places(64), fails_unless_cured({bug}, tests));
    REQUIRE(found.size() == 1);
    CHECK(found.front().first().at.ordinal == bug.first);
    CHECK(tests <= 9);
  }
}

TEST_CASE("several fences that are needed together are all found, and no other") {
  std::size_t tests = 0;
  CHECK(ordinals(
            needed_places(places(50), fails_unless_cured({{3, 5}, {20, 20}, {44, 49}}, tests))) ==
        std::vector<std::uint32_t>{3, 20, 44});
  CHECK(tests <= 40);
  CHECK(ordinals(needed_places(places(10), fails_unless_cured({{2, 9}, {0, 4}}, tests))) ==
        std::vector<std::uint32_t>{2});
}

TEST_CASE("a fence is as weak and as narrow as it can be") {
  const NeededFence strong{.place = places(1).front(), .fence = {}};
  const auto keeps = [&strong](const auto& suffices) {
    return narrowed({strong}, ScopeShows::kYes,
                    [&](const std::vector<NeededFence>& fences) {
                      return !suffices(fences.front().fence);
                    })
        .front()
        .fence;
  };
  using wire::MemoryOrder, wire::Scope;
  CHECK(keeps([](const ptx::Fence&) { return true; }) ==
        ptx::Fence{.order = MemoryOrder::kAcqRel, .scope = Scope::kCta});
  CHECK(keeps([](const ptx::Fence& fence) { return fence.scope == Scope::kGpu; }) ==
        ptx::Fence{.order = MemoryOrder::kAcqRel, .scope = Scope::kGpu});
  CHECK(keeps([](const ptx::Fence& fence) { return fence.order == MemoryOrder::kSeqCst; }) ==
        ptx::Fence{.order = MemoryOrder::kSeqCst, .scope = Scope::kCta});
  CHECK(keeps([&](const ptx::Fence& fence) { return fence == strong.fence; }) == strong.fence);
  const auto never = [](const std::vector<NeededFence>&) { return false; };
  CHECK(narrowed({strong}, ScopeShows::kNo, never).front().fence ==
        ptx::Fence{.order = MemoryOrder::kAcqRel, .scope = Scope::kGpu});
}

TEST_CASE("a handshake without its fence: memory, kernel, the one store, the fence behind it") {
  const Search found = search({Handshake{}});
  REQUIRE(found.causes.size() == 1);
  const RootCause& cause = found.causes.front();
  CHECK(cause.global);
  CHECK(!cause.shared);
  CHECK(cause.kernel == "_Z4passv");
  CHECK(cause.is_reduced);
  REQUIRE(cause.reduced.weakness.decisions);
  CHECK(cause.reduced.weakness.decisions->size() == 1);
  REQUIRE(cause.events.size() == 1);
  CHECK(cause.events.front().at.line == 10);
  CHECK(cause.events.front().was_read);
  CHECK(cause.search == RootCause::Fences::kFound);
  REQUIRE(cause.fences.size() == 1);
  CHECK(line_of(cause.fences.front()) == 10);
  CHECK(cause.fences.front().fence ==
        ptx::Fence{.order = wire::MemoryOrder::kAcqRel, .scope = wire::Scope::kGpu});
  CHECK(cause.candidates == 3);
  CHECK(found.runs <= 400);
}

TEST_CASE("two handshakes without a fence need two, at any probability") {
  for (const double probability : {1.0, 0.5, 0.25}) {
    const Search found = search({Handshake{}, {.data_line = 20, .flag_line = 25}}, probability);
    REQUIRE(found.causes.size() == 1);
    const auto& fences = found.causes.front().fences;
    REQUIRE(fences.size() == 2);
    CHECK(line_of(fences[0]) + line_of(fences[1]) == 30);
    CHECK(found.runs <= 400);
  }
}

TEST_CASE("shared and global memory, and two kernels, are a bug each") {
  const Search memories =
      search({Handshake{}, {.is_shared = true, .data_line = 30, .flag_line = 32}});
  REQUIRE(memories.causes.size() == 2);
  CHECK(memories.causes[0].global);
  CHECK(line_of(memories.causes[0].fences.front()) == 10);
  CHECK(memories.causes[1].shared);
  CHECK(line_of(memories.causes[1].fences.front()) == 30);
  CHECK(memories.causes[1].fences.front().fence.scope == wire::Scope::kCta);
  const Search kernels =
      search({Handshake{}, {.kernel = "_Z5otherv", .data_line = 40, .flag_line = 42}});
  REQUIRE(kernels.causes.size() == 2);
  CHECK(kernels.causes[0].kernel == "_Z4passv");
  CHECK(kernels.causes[1].kernel == "_Z5otherv");
  CHECK(kernels.causes[1].fences.size() == 1);
}

TEST_CASE("a stale read needs its fence behind the load that acquires, not behind one before it") {
  // Lines 4 to 8: an atomic, an atomic, the flag, a plain load, the data. In these runs a fence
  // behind any of the first four happens to do.
  const RunOnce program = [](const Settings& settings) {
    Outcome outcome;
    const Weakness& weakness = settings.weakness;
    const bool is_stale = weakness.decisions ? !weakness.decisions->empty()
                                             : weakness.global && weakness.stale_reads > 0;
    const bool is_fenced = std::ranges::any_of(
        settings.fences, [](const Fence& fence) { return fence.place.at.ordinal < 8; });
    outcome.output = is_stale && !is_fenced ? "wrong" : "right";
    if (settings.wants_log && is_stale) {
      outcome.log.events.push_back({.decision = {.launch = 1,
                                                 .kernel = "k",
                                                 .kind = emulator::WeakKind::kStale,
                                                 .number = 3},
                                    .until = emulator::WeakEnd::kRead,
                                    .at = {},
                                    .reader = {}});
    }
    using enum ptx::AccessKind;
    const ptx::AccessKind kinds[] = {kAtomic, kAtomic, kStrongLoad, kLoad, kLoad};
    for (std::uint32_t i = 0; settings.wants_places && i < std::size(kinds); ++i) {
      outcome.fences.places.push_back({.at = {.function = "k", .ordinal = 4 + i},
                                       .place = i + 1,
                                       .kind = kinds[i],
                                       .space = ptx::StateSpace::kGlobal,
                                       .kernels = {"k"},
                                       .lines = {{.file = "k.cu", .line = 4 + i}}});
    }
    return outcome;
  };
  Oracle oracle({});
  oracle.learn({program({})});
  Trials trials(one_by_one(program), oracle, [] { return false; });
  Settings failing;
  failing.weakness.stale_reads = 1;
  const auto causes = find_root_causes(trials, failing, {1, 2, 3});
  REQUIRE(causes.size() == 1);
  REQUIRE(causes.front().fences.size() == 1);
  CHECK(line_of(causes.front().fences.front()) == 6);
  CHECK(causes.front().candidates == 5);
}

TEST_CASE("what fences do not cure is said to be so") {
  Handshakes program({Handshake{}});
  Oracle oracle({});
  oracle.learn({program({})});
  const RunOnce incurable = [&](const Settings& settings) {
    Settings without_fences = settings;
    without_fences.fences.clear();
    return program(without_fences);
  };
  Trials trials(one_by_one(incurable), oracle, [] { return false; });
  Settings failing;
  failing.weakness.stores = 1;
  const auto causes = find_root_causes(trials, failing, {1, 2, 3});
  REQUIRE(causes.size() == 1);
  CHECK(causes.front().search == RootCause::Fences::kNotCured);
  CHECK(causes.front().is_reduced);
  CHECK(causes.front().fences.empty());
}

TEST_CASE("what is found after the end of the time is not told as found") {
  Handshakes program({Handshake{}});
  Oracle oracle({});
  oracle.learn({program({})});
  Trials trials(one_by_one(std::ref(program)), oracle, [&] { return program.runs > 30; });
  Settings failing;
  failing.weakness.stores = 1;
  for (const RootCause& cause :
       find_root_causes(trials, failing, std::vector<std::uint64_t>(20, 1))) {
    CHECK(cause.search != RootCause::Fences::kFound);
  }
}

}  // namespace barracuda::weak_memory
