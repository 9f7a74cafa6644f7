// The states of words of shared memory: what is left out is what conflicts with nothing, and what
// is logged is enough to see each conflict.
#include "device_logger/shared_states.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "logged_machine.h"

namespace barracuda::wire {
namespace {

struct Access {
  std::uint32_t thread = 0, site = 0, interval = 0;
  bool writes = false;
  bool reduces = false;  // an atomic whose result nobody reads

  friend bool operator==(const Access&, const Access&) = default;
};

bool conflict(const Access& one, const Access& other) {
  return one.interval == other.interval && one.thread != other.thread &&
         (one.writes || other.writes) && !(one.reduces && other.reduces);
}

// One word, and what is logged of the accesses to it.
class Word {
 public:
  void access(const Access& access, std::uint32_t frozen = 0) {
    const StateAccess made{.by = {.thread = access.thread, .site = access.site},
                           .use = access.reduces  ? StateUse::kReduction
                                  : access.writes ? StateUse::kWrite
                                                  : StateUse::kRead};
    const StateStep taken = any_step(
        state_, frozen == 0 ? access.interval : frozen, made,
        [&](std::uint32_t thread) { return std::ranges::find(left, thread) != left.end(); });
    const bool reduces = state_.kind() == WordState::Kind::kReductions;
    if ((taken.kept & 1) != 0) {
      add(state_.first(),
          reduces || state_.kind() == WordState::Kind::kWrite ||
              state_.kind() == WordState::Kind::kReadWrite,
          reduces);
    }
    if ((taken.kept & 2) != 0) {
      add(state_.second(), reduces, reduces);
    }
    if (taken.logs) {
      logged.push_back(access);
    }
    state_ = taken.next;
  }

  std::vector<Access> logged;
  std::vector<std::uint32_t> left;

 private:
  void add(const KeptAccess& kept, bool writes, bool reduces) {
    logged.push_back({.thread = kept.thread,
                      .site = kept.site,
                      .interval = state_.interval(),
                      .writes = writes,
                      .reduces = reduces});
  }

  WordState state_{0};
};

// Of a kernel whose words of shared memory have states, the instructions that left a record.
std::vector<std::string> logged_by(LoggedMachine& machine, const std::string& kernel,
                                   std::uint32_t ctas, std::uint32_t threads) {
  const std::uint64_t out = machine.allocate(std::size_t{ctas} * threads * 4);
  machine.keep_states(kernel, ctas);
  machine.launch(kernel, ctas, threads, {out});
  std::vector<std::string> logged;
  for (const LoggedRecord& record : machine.read()) {
    const std::string& instruction = machine.site_of(record).instruction;
    if (instruction.find(".shared") != std::string::npos) {
      logged.push_back((record.kind() == RecordKind::kEarlier ? "earlier " : "") + instruction);
    }
  }
  return logged;
}

}  // namespace

TEST_CASE("a word's state lets nothing pass that conflicts, and logs nothing else", "[logger]") {
  std::mt19937 generator(1);
  const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
  for (int round = 0; round < 20000; ++round) {
    Word word;
    std::vector<Access> made;
    const std::uint32_t threads = 2 + random() % 4, writes_in = 2 + random() % 5,
                        reduces_in = 1 + random() % 8;
    for (std::uint32_t interval = 0; interval < 3; ++interval) {
      for (std::uint32_t count = random() % 6; count > 0; --count) {
        const bool reduces = random() % reduces_in == 0;
        const bool writes = reduces || random() % writes_in == 0;
        const Access access{.thread = random() % threads,
                            .site = random() % 3 * 3 + (reduces  ? 2
                                                        : writes ? 1
                                                                 : 0),
                            .interval = interval,
                            .writes = writes,
                            .reduces = reduces};
        const std::size_t before = word.logged.size();
        word.access(access);
        // It is logged, behind one that it conflicts with, if it conflicts with any.
        const auto conflicts = [&](const Access& other) { return conflict(access, other); };
        if (std::ranges::any_of(made, conflicts)) {
          REQUIRE(word.logged.back() == access);
          REQUIRE(std::any_of(word.logged.begin(), word.logged.end() - 1, conflicts));
        }
        // What comes before it has been made, in this interval.
        for (std::size_t i = before; i < word.logged.size(); ++i) {
          const bool is_own = i + 1 == word.logged.size() && word.logged[i] == access;
          REQUIRE((is_own || std::ranges::find(made, word.logged[i]) != made.end()));
          REQUIRE(word.logged[i].interval == interval);
        }
        made.push_back(access);
      }
    }
    for (std::uint32_t interval = 0; interval < 3; ++interval) {
      const bool has_conflict = std::ranges::any_of(made, [&](const Access& one) {
        return one.interval == interval &&
               std::ranges::any_of(made, [&](const Access& other) { return conflict(one, other); });
      });
      // A thread that mixes atomics with other accesses is logged though nobody else is there.
      const auto reduces = [&](const Access& one) {
        return one.interval == interval && one.reduces;
      };
      const auto does_not = [&](const Access& one) {
        return one.interval == interval && !one.reduces;
      };
      const bool mixes = std::ranges::any_of(made, reduces) && std::ranges::any_of(made, does_not);
      const bool is_logged =
          std::ranges::find(word.logged, interval, &Access::interval) != word.logged.end();
      REQUIRE((is_logged == has_conflict || (is_logged && mixes)));
    }
  }
}

TEST_CASE("of two sites that read before a write both are logged", "[logger]") {
  Word word;
  word.access({.thread = 1, .site = 2});
  word.access({.thread = 2, .site = 2});
  word.access({.thread = 3, .site = 4});
  word.access({.thread = 4, .site = 5, .writes = true});
  CHECK(word.logged == std::vector<Access>{{.thread = 1, .site = 2},
                                           {.thread = 3, .site = 4},
                                           {.thread = 4, .site = 5, .writes = true}});
}

TEST_CASE("atomics do not race with each other, unless their sizes differ", "[logger]") {
  const auto reduce = [](WordState state, std::uint32_t thread, std::uint32_t granules_log2) {
    return step(state, 5,
                {.by = {.thread = thread, .site = thread, .granules_log2 = granules_log2},
                 .use = StateUse::kReduction});
  };
  const WordState one = reduce(WordState(0), 1, 0).next, two = reduce(one, 2, 0).next;
  CHECK_FALSE(reduce(two, 3, 0).logs);
  CHECK(reduce(two, 3, 0).next.bits() == two.bits());  // no third is kept
  CHECK(reduce(one, 2, 1).logs);
  CHECK(reduce(one, 2, 1).kept == 1);
  CHECK(reduce(two, 3, 1).kept == 3);
}

TEST_CASE("what an access does to a state is in its site's word", "[logger]") {
  const SharedStates bytes{.window = 64, .first_site = 8, .granule_log2 = 0};
  const auto word = [](std::uint32_t bits, std::uint32_t size_log2) {
    return 10U | size_log2 << kSizeShift | bits;
  };
  const StateAccess read = state_access(bytes, word(kPlainRead, 1), 3);
  CHECK(read.by.thread == 3);
  CHECK(read.by.site == 2);
  CHECK(read.by.granules_log2 == 1);
  CHECK(read.use == StateUse::kRead);
  CHECK(state_access(bytes, word(kPlainWrite, 0), 0).use == StateUse::kWrite);
  CHECK(state_access(bytes, word(kPlainRead | kPlainWrite, 2), 0).use == StateUse::kReduction);
  CHECK(state_access(bytes, word(kPlainRead | kAlwaysLogged, 2), 0).use == StateUse::kLogged);
  const StateAccess load = state_access(bytes, word(kLoadsStrongly, 2), 0),
                    store = state_access(bytes, word(kStoresStrongly, 2), 0);
  CHECK((load.use == StateUse::kRead && load.is_strong && !read.is_strong));
  CHECK((store.use == StateUse::kWrite && store.is_strong));
  CHECK(state_access(bytes, word(kAlwaysLogged, 2), 0).use == StateUse::kLogged);
  CHECK(state_access(bytes, word(kPlainRead, 4), 0).use == StateUse::kLogged);  // 16 states
  CHECK(state_access({.granule_log2 = 2}, word(kPlainRead, 1), 0).use == StateUse::kLogged);
}

TEST_CASE("a hook's own test of its use is what the site's word says", "[logger]") {
  for (std::uint32_t bits = 0; bits < 8; ++bits) {
    const std::uint32_t site = (bits & 1 ? kPlainRead : 0) | (bits & 2 ? kPlainWrite : 0) |
                               (bits & 4 ? kAlwaysLogged : 0) | 2U << kSizeShift;
    CHECK(has_use<StateUse::kRead>(site) == (state_use(site) == StateUse::kRead));
    CHECK(has_use<StateUse::kWrite>(site) == (state_use(site) == StateUse::kWrite));
    CHECK(has_use<StateUse::kReduction>(site) == (state_use(site) == StateUse::kReduction));
  }
}

TEST_CASE("what is quick to see is what the rules say", "[logger]") {
  std::mt19937 generator(2);
  const auto random = [&](std::uint32_t below) {
    return static_cast<std::uint32_t>(generator()) % below;
  };
  const auto check = [](auto use, WordState met, std::uint32_t interval,
                        const StateAccess& access) {
    constexpr StateUse kUse = decltype(use)::value;
    const WordState alone = state_alone<kUse>(interval, access);
    if (is_over(met, interval)) {
      const StateStep taken = step_by<kUse>(met, interval, access);
      CHECK((!taken.logs && taken.next.bits() == alone.bits()));
    }
    const StateStep again = step_by<kUse>(alone, interval, access);
    CHECK((!again.logs && again.next.bits() == alone.bits()));
  };
  WordState met(0);
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t number = random(30),
                        counts = random(2) * (kCountsWarps | random(2) * kCountsMany);
    const std::uint32_t interval = number | counts;
    const auto use = static_cast<StateUse>(1 + random(3));
    const StateAccess access{.by = {.thread = random(3) * 31, .site = random(3)},
                             .use = use,
                             .value_mark = random(2) * 7,
                             .is_strong = use != StateUse::kReduction && random(4) == 0};
    if (!is_last_counted(interval)) {
      check(std::integral_constant<StateUse, StateUse::kRead>{}, met, interval, access);
      check(std::integral_constant<StateUse, StateUse::kWrite>{}, met, interval, access);
      StateAccess weak = access;
      weak.is_strong = false;
      check(std::integral_constant<StateUse, StateUse::kReduction>{}, met, interval, weak);
    }
    met = random(5) == 0 ? WordState(0) : step(met, interval, access).next;
  }
}

TEST_CASE("an equal value is known by its mark", "[logger]") {
  const auto store = [](std::uint32_t thread, std::uint64_t value) {
    return StateAccess{.by = {.thread = thread, .site = 1},
                       .use = StateUse::kWrite,
                       .value_mark = value_mark(value)};
  };
  const WordState first = step(WordState(0), 7, store(1, 42)).next;
  CHECK(step(first, 7, store(2, 42)).has_same_value);
  CHECK_FALSE(step(first, 7, store(2, 43)).has_same_value);
  CHECK_FALSE(step(first, 8, store(2, 42)).logs);
  StateAccess wide = store(2, 42);
  wide.by.granules_log2 = 1;
  CHECK_FALSE(step(first, 7, wide).has_same_value);
  CHECK(value_mark(0) != 0);
}

TEST_CASE("a replicated store that stores the same again harms nothing", "[logger]") {
  const auto store = [](std::uint32_t thread, std::uint64_t value, std::uint32_t site = 1) {
    return StateAccess{.by = {.thread = thread, .site = site},
                       .use = StateUse::kWrite,
                       .value_mark = value_mark(value),
                       .is_replicated = true};
  };
  const std::uint32_t counting = kCountsWarps | 8;
  for (const std::uint32_t interval : {7U, counting, counting + 1}) {
    const WordState first = step(WordState(0), interval == 7 ? 7 : counting, store(1, 42)).next;
    const StateStep again = step(first, interval, store(64, 42));
    CHECK_FALSE(again.logs);
    CHECK(again.next.bits() == first.bits());
    CHECK(step(first, interval, store(64, 43)).logs);
    CHECK(step(first, interval, store(64, 42, 2)).logs);
    CHECK(step(step(first, interval, {.by = {.thread = 1, .site = 3}, .use = StateUse::kRead}).next,
               interval, store(64, 42))
              .logs);
    StateAccess own = store(64, 42);
    own.is_replicated = false;
    CHECK(step(first, interval, own).logs);
  }
}

namespace {

// In interval 8 of a block, behind `barriers` of the thread's warp.
StateStep step_counted(WordState met, std::uint32_t barriers, StateUse use, std::uint32_t thread,
                       std::uint64_t value = 0, bool is_strong = false) {
  return step(met, kCountsWarps | 8 | barriers,
              {.by = {.thread = thread, .site = thread},
               .use = use,
               .value_mark = value == 0 ? 0 : value_mark(value),
               .is_strong = is_strong});
}

}  // namespace

TEST_CASE("intervals that count barriers of warps go up by as many as there may be", "[logger]") {
  const std::uint32_t first = next_interval(kCountsWarps, 0);
  CHECK(first == (kCountsWarps | 8));
  CHECK(next_interval(first, 0) == (kCountsWarps | 16));
  CHECK(next_interval(first + 3, 0) == (kCountsWarps | 16));
  CHECK(next_interval(first + kFewWarpBarriers, 0) == (kCountsWarps | 16));
  CHECK(next_interval(kCountsWarps | 4080, 0) == (kFrozen | kMostIntervals));
  CHECK(next_interval(kCountsWarps | 4072, 0) == (kCountsWarps | 4080));

  constexpr std::uint32_t kMany = kCountsWarps | kCountsMany;
  CHECK(next_interval(kMany, 0) == (kMany | 32));
  CHECK(next_interval(kMany | 32 | kMostWarpBarriers, 0) == (kMany | 64));
  CHECK(next_interval(kMany | 4032, 0) == (kFrozen | kMostIntervals));
  CHECK((is_last_counted(kMany | 63) && !is_last_counted(kMany | 39)));
  CHECK((is_last_counted(kCountsWarps | 39) && !is_last_counted(39)));
}

TEST_CASE("records number intervals alike however many barriers are counted", "[logger]") {
  CHECK(told_number(8 | 3, kFewWarpBarriers) == (32 | 3));
  CHECK(told_number(32 | 3, kMostWarpBarriers) == (32 | 3));
  CHECK(told_number(kMostIntervals, kFewWarpBarriers) <= kMostToldNumber);
  CHECK(told_number(kMostIntervals, kMostWarpBarriers) <= kMostToldNumber);
}

TEST_CASE("what a warp did is before what it does behind its barrier, for others it is not",
          "[logger]") {
  using Kind = WordState::Kind;
  const WordState written = step_counted(WordState(0), 0, StateUse::kWrite, 1).next;
  CHECK(step_counted(written, 0, StateUse::kRead, 2).logs);  // of its warp, with no barrier between
  CHECK(step_counted(written, 1, StateUse::kRead, 33).logs);
  CHECK(step_counted(written, 1, StateUse::kWrite, 33).logs);
  CHECK(step_counted(written, 1, StateUse::kWrite, 2).next.first().thread == 2);

  // Who reads it is kept beside it: the one or the other conflicts with whatever comes.
  const WordState read = step_counted(written, 1, StateUse::kRead, 2).next;
  REQUIRE(read.kind() == Kind::kReadBehind);
  CHECK((read.first().thread == 1 && read.second().thread == 2));
  CHECK(step_counted(read, 1, StateUse::kRead, 2).next.bits() == read.bits());
  // Of all lanes that read it two stay: one of them conflicts with whoever writes next.
  const auto read_alike = [](WordState met, std::uint32_t thread) {
    return step(met, kCountsWarps | 8 | 1,
                {.by = {.thread = thread, .site = 2}, .use = StateUse::kRead});
  };
  const WordState broadcast = read_alike(read_alike(read, 3).next, 5).next;
  CHECK((broadcast.kind() == Kind::kReadBehind && broadcast.first().thread == 1 &&
         broadcast.second().thread == 2 && broadcast.other_reader().thread == 3));
  CHECK(step_counted(broadcast, 1, StateUse::kWrite, 2).kept == 3);
  CHECK((broadcast.kept(1, 2).thread == 3 && broadcast.kept(1, 3).thread == 2 &&
         broadcast.kept(1, 33).thread == 2 && broadcast.kept(0, 2).thread == 1));
  CHECK(step_counted(broadcast, 1, StateUse::kRead, 33).kept == 3);
  CHECK(step_counted(broadcast, 1, StateUse::kRead, 5).next.bits() == broadcast.bits());
  CHECK(step_counted(read, 1, StateUse::kRead, 3).kept == 3);  // of another instruction
  CHECK(step_counted(broadcast, 2, StateUse::kRead, 5).next.other_reader().thread == 5);
  CHECK_FALSE(step_counted(broadcast, 2, StateUse::kWrite, 5).logs);
  CHECK(step_counted(read, 1, StateUse::kWrite, 3).kept == 3);
  CHECK(step_counted(read, 1, StateUse::kWrite, 1).kept == 3);
  CHECK_FALSE(step_counted(read, 1, StateUse::kWrite, 2).logs);
  CHECK(step_counted(read, 1, StateUse::kRead, 33).kept == 3);
  CHECK(step_counted(read, 2, StateUse::kRead, 3).next.second().thread == 3);
  CHECK(step_counted(read, 2, StateUse::kWrite, 3).next.kind() == Kind::kWrite);
  CHECK(number_of_kept(read, 0, kFewWarpBarriers) == told_number(8, kFewWarpBarriers));
  CHECK(number_of_kept(read, 1, kFewWarpBarriers) == told_number(9, kFewWarpBarriers));
  CHECK(number_of_kept(read, 1, 0) == 0);

  // What two warps read is of neither.
  const WordState reads =
      step_counted(step_counted(WordState(0), 1, StateUse::kRead, 1).next, 1, StateUse::kRead, 33)
          .next;
  CHECK(reads.kind() == Kind::kReads);
  CHECK(step_counted(reads, 2, StateUse::kWrite, 2).kept == 3);
  // Nor is it if two of one warp came first, or come last.
  const auto read_by = [](std::initializer_list<std::uint32_t> threads) {
    WordState state(0);
    for (const std::uint32_t thread : threads) {
      state = step_counted(state, 0, StateUse::kRead, thread).next;
    }
    return state;
  };
  for (const WordState state : {read_by({1, 2, 33}), read_by({1, 33, 2}), read_by({33, 1, 2})}) {
    CHECK(step_counted(state, 1, StateUse::kWrite, 1).kept == 3);
  }
  CHECK_FALSE(step_counted(read_by({1, 2, 3}), 1, StateUse::kWrite, 1).logs);

  const WordState logged = step_counted(written, 0, StateUse::kWrite, 2).next;
  CHECK(step_counted(logged, 3, StateUse::kRead, 40).logs);
  CHECK_FALSE(step(logged, kCountsWarps | 16, {.by = {.thread = 1}, .use = StateUse::kRead}).logs);
}

TEST_CASE("atomics of a warp are behind what it did before its barrier", "[logger]") {
  using Kind = WordState::Kind;
  for (const StateUse before : {StateUse::kWrite, StateUse::kRead}) {
    const WordState plain = step_counted(WordState(0), 0, before, 1).next;
    CHECK(step_counted(plain, 1, StateUse::kReduction, 33).logs);
    const StateStep behind = step_counted(plain, 1, StateUse::kReduction, 2);
    REQUIRE_FALSE(behind.logs);
    REQUIRE(behind.next.is_reduction_behind());
    // More of them join, beside it and behind another barrier.
    const StateStep beside = step_counted(behind.next, 1, StateUse::kReduction, 3);
    CHECK((!beside.logs && beside.next.first().thread == 1 && beside.next.second().thread == 3));
    const StateStep later = step_counted(beside.next, 2, StateUse::kReduction, 4);
    CHECK((later.next.is_reduction_behind() && later.next.first().thread == 1));
    CHECK(number_of_kept(later.next, 0, kFewWarpBarriers) == told_number(8, kFewWarpBarriers));
    CHECK(number_of_kept(later.next, 1, kFewWarpBarriers) == told_number(10, kFewWarpBarriers));
    // Of another warp an atomic conflicts with what was before, all else with the atomics as well.
    for (const StateUse use : {StateUse::kReduction, StateUse::kRead, StateUse::kWrite}) {
      CHECK(step_counted(later.next, 2, use, 40).kept == 3);
      CHECK(step_counted(later.next, 0, use, 40).kept == 3);
    }
    CHECK(step_counted(later.next, 2, StateUse::kRead, 5).kept == 3);
    CHECK(step_counted(later.next, 2, StateUse::kWrite, 4).kept == 3);
    CHECK(step_counted(later.next, 3, StateUse::kRead, 5, 0, true).kept == 3);
    // Behind one more barrier a write stands for all, and a read is kept beside an atomic.
    CHECK(step_counted(later.next, 3, StateUse::kWrite, 5).next.kind() == Kind::kWrite);
    const WordState read = step_counted(later.next, 3, StateUse::kRead, 5).next;
    CHECK((read.kind() == Kind::kReadBehind && read.first().thread == 4 && !read.is_strong()));
    CHECK(step_counted(read, 4, StateUse::kReduction, 6).next.is_reduction_behind());
  }
}

TEST_CASE("atomics that order nothing stand for those of their warp alone", "[logger]") {
  using Kind = WordState::Kind;
  const auto atomics = [](std::initializer_list<std::uint32_t> threads) {
    WordState state(0);
    for (const std::uint32_t thread : threads) {
      state = step_counted(state, 1, StateUse::kReduction, thread).next;
    }
    return state;
  };
  const WordState of_warp = atomics({1, 2, 3});
  CHECK(step_counted(of_warp, 2, StateUse::kReduction, 1).next.kind() == Kind::kReductions);
  CHECK(step_counted(of_warp, 2, StateUse::kWrite, 1).next.kind() == Kind::kWrite);
  CHECK(step_counted(of_warp, 2, StateUse::kRead, 1).next.kind() == Kind::kReadBehind);
  // With atomics of two warps, whichever came first, one of each is kept.
  for (const WordState state : {atomics({1, 2, 33}), atomics({1, 33, 2}), atomics({33, 1, 2})}) {
    CHECK(step_counted(state, 2, StateUse::kWrite, 1).kept == 3);
    CHECK(step_counted(state, 2, StateUse::kRead, 1).kept == 3);
    CHECK(step_counted(state, 2, StateUse::kReduction, 1).kept == 3);
    CHECK_FALSE(step_counted(state, 1, StateUse::kReduction, 1).logs);
  }
}

TEST_CASE("with as many barriers of a warp as are counted all is logged", "[logger]") {
  const WordState written = step_counted(WordState(0), 6, StateUse::kWrite, 1).next;
  CHECK(written.kind() == WordState::Kind::kWrite);
  const StateStep last = step_counted(written, kFewWarpBarriers, StateUse::kRead, 2);
  CHECK((last.logs && last.kept == 1));
  CHECK(step_counted(WordState(0), kFewWarpBarriers, StateUse::kRead, 2).logs);
}

TEST_CASE("of weak accesses and others to one word all are logged", "[logger]") {
  const WordState strong = step_counted(WordState(0), 0, StateUse::kRead, 1, 0, true).next;
  CHECK(strong.is_strong());
  CHECK(step_counted(strong, 0, StateUse::kRead, 2, 0, true).next.is_strong());
  CHECK(step_counted(strong, 0, StateUse::kRead, 2).kept == 1);
  CHECK(step_counted(strong, 1, StateUse::kRead, 1).logs);
  CHECK_FALSE(step_counted(strong, 0, StateUse::kRead, 2).next.is_strong());
  const WordState marked = step_counted(WordState(0), 0, StateUse::kWrite, 1, ~0ULL).next;
  CHECK_FALSE(marked.is_strong());
  CHECK(marked.mark() == value_mark(~0ULL));
}

TEST_CASE("who passes a barrier that a thread has left out logs all, and what that thread did",
          "[logger]") {
  CHECK(next_interval(4, 0) == 5);
  CHECK(next_interval(4, kMostIntervals - 5) == 5);  // it left later
  const std::uint32_t frozen = next_interval(4, kMostIntervals - 4);
  CHECK(frozen == (kFrozen | 4));
  CHECK(next_interval(frozen, kMostIntervals - 4) == frozen);
  CHECK(next_interval(kMostIntervals - 1, 0) == (kFrozen | kMostIntervals));

  Word left, stayed, before;
  left.left = stayed.left = before.left = {1};
  before.access({.thread = 1, .site = 1, .interval = 3, .writes = true});
  before.access({.thread = 2, .site = 2, .interval = 4}, frozen);
  CHECK(before.logged.size() == 1);
  left.access({.thread = 1, .site = 1, .interval = 4, .writes = true});
  left.access({.thread = 2, .site = 2, .interval = 4}, frozen);
  REQUIRE(left.logged.size() == 2);
  CHECK(left.logged[0].thread == 1);
  stayed.access({.thread = 3, .site = 1, .interval = 4, .writes = true});
  stayed.access({.thread = 2, .site = 2, .interval = 4}, frozen);
  CHECK(stayed.logged.size() == 1);
}

TEST_CASE("shared memory whose threads barriers order is not logged", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  CHECK(logged_by(machine, "use_shared", 3, 64).empty());
  CHECK(logged_by(machine, "reduce_shared", 2, 128).empty());
}

TEST_CASE("atomics whose results nobody reads are not logged, nor neighbouring bytes", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  CHECK(logged_by(machine, "count_shared", 2, 64).empty());
  CHECK(logged_by(machine, "use_shared_bytes", 2, 64).empty());
  const std::vector<std::string> logged = logged_by(machine, "use_shared_bytes", 1, 96);
  // Whichever came first, and of the byte's own thread what it read since.
  CHECK(std::ranges::count(logged, "earlier st.shared.u8") <= 1);
  CHECK(std::ranges::count(logged, "earlier ld.shared.u8") <= 1);
  CHECK(std::ranges::count(logged, "earlier st.shared.u8") +
            std::ranges::count(logged, "earlier ld.shared.u8") >
        0);
  CHECK(std::ranges::count(logged, "st.shared.u8") + std::ranges::count(logged, "ld.shared.u8") >
        0);
}

TEST_CASE("conflicts in shared memory are logged with what came before", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const std::vector<std::string> logged = logged_by(machine, "use_shared_unordered", 1, 64);
  CHECK(std::ranges::count(logged, "earlier st.shared.u32") +
            std::ranges::count(logged, "earlier ld.shared.u32") >
        0);
  CHECK(std::ranges::count(logged, "st.shared.u32") + std::ranges::count(logged, "ld.shared.u32") >
        0);
}

TEST_CASE("what Triton's compiler lets several warps store is logged where it differs",
          "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS, {.is_tritons = true});
  CHECK(logged_by(machine, "store_replicas", 1, 96).empty());
  const std::vector<std::string> logged = logged_by(machine, "store_half_replicas", 1, 64);
  CHECK(std::ranges::count(logged, "st.shared.u32") == 1);
  CHECK(std::ranges::count(logged, "earlier st.shared.u32") == 16);
  LoggedMachine other(BARRACUDA_LOGGER_KERNELS);
  CHECK_FALSE(logged_by(other, "store_replicas", 1, 96).empty());
}

TEST_CASE("when the numbers of intervals are used up, they and the states begin again",
          "[logger]") {
  CHECK(ends_round(kMostIntervals - 1));
  CHECK(ends_round(kLaterRound | (kMostIntervals - 1)));
  CHECK_FALSE(ends_round(kMostIntervals - 2));
  CHECK_FALSE(ends_round(kCountsWarps | (kMostIntervals - 1)));
  CHECK_FALSE(ends_round(kFrozen | kMostIntervals));
  CHECK(next_interval(kFirstOfRound, 0) == (kLaterRound | 2));

  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const std::uint64_t out = machine.allocate(std::size_t{64} * 4);
  const auto logged = [&](std::uint64_t apart, std::uint64_t both) {
    machine.keep_states("use_shared_for_long", 1);
    machine.launch("use_shared_for_long", 1, 64, {out, apart, both});
    const auto records = machine.read();
    return std::ranges::count_if(records, [&](const LoggedRecord& record) {
      return machine.site_of(record).instruction.starts_with("st.shared");
    });
  };
  constexpr std::uint64_t kRound = kMostIntervals - 1, kNever = 1U << 30;
  const std::uint64_t apart = GENERATE(4093U, 4094U, 4095U);  // about as many as a round has
  CHECK(logged(apart, kNever) == 0);
  CHECK(logged(apart, kRound + 1000) == 2);  // the earlier one, and the one that met it
}

TEST_CASE("what was kept of a site that has raced often enough is not logged later", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const auto logged_lanes = [&] {
    machine.keep_states("use_shared_unordered", 1);
    machine.launch("use_shared_unordered", 1, 64, {machine.allocate(std::size_t{64} * 4)});
    std::map<std::string, std::uint32_t> found;
    std::map<std::string, SiteId> sites;
    for (const LoggedRecord& record : machine.read()) {
      const ptx::Site& site = machine.site_of(record);
      if (site.instruction.find(".shared") != std::string::npos) {
        ++found[site.instruction];
        sites[site.instruction] = site.id;
      }
    }
    return std::pair{found, sites};
  };
  const auto [before, sites] = logged_lanes();
  REQUIRE((before.contains("st.shared.u32") && before.contains("ld.shared.u32")));
  machine.make_quiet(sites.at("st.shared.u32"));
  const auto [without_stores, _] = logged_lanes();
  CHECK_FALSE(without_stores.contains("st.shared.u32"));
  CHECK(without_stores.contains("ld.shared.u32"));
  machine.make_quiet(sites.at("ld.shared.u32"));
  CHECK(logged_lanes().first.empty());
}

TEST_CASE("what a thread did before it left is logged by who never waited for it", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const std::vector<std::string> logged = logged_by(machine, "leave_early", 1, 64);
  CHECK(std::ranges::count(logged, "earlier st.shared.u32") == 32);
  CHECK(std::ranges::count(logged, "ld.shared.u32") == 1);
}

TEST_CASE("so is what it did before the guard behind which it left", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  const std::vector<std::string> logged = logged_by(machine, "leave_behind_a_store", 1, 64);
  CHECK(std::ranges::count(logged, "earlier st.shared.u32") == 32);
  CHECK(std::ranges::count(logged, "ld.shared.u32") == 1);
}

TEST_CASE("a thread that leaves at once has left nothing to log", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  CHECK(logged_by(machine, "leave_at_once", 1, 64).empty());
  const std::vector<std::string> logged = logged_by(machine, "leave_at_once", 2, 64);
  CHECK(std::ranges::count(logged, "earlier st.shared.u32") == 2 * 16);
}

}  // namespace barracuda::wire
