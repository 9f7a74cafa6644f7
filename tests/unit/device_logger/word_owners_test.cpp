// Memory that is watched: what is left out conflicts with nothing, and of what conflicts enough is
// logged to see it.
#include "device_logger/word_owners.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "logged_machine.h"

namespace barracuda::wire {
namespace {

struct Access {
  std::uint32_t block = 0, thread = 0, interval = 0, site = 0;
  bool writes = false;

  friend bool operator==(const Access&, const Access&) = default;
};

// As the detector sees it, if each of them was logged when it was made.
bool conflict(const Access& one, const Access& other) {
  const bool is_same_thread = one.block == other.block && one.thread == other.thread;
  return !is_same_thread && (one.writes || other.writes) &&
         (one.block != other.block || one.interval == other.interval);
}

struct Logged {
  Access access;
  bool is_settled = false;
};

// One granule, and what is logged of the accesses to it.
class Granule {
 public:
  // True if it was logged.
  bool access(const Access& access, std::uint32_t value_mark = 0) {
    const OwnerAccess made{.by = {.thread = access.thread,
                                  .block = access.block,
                                  .site = access.site,
                                  .size_log2 = 2,
                                  .interval = access.interval},
                           .use = access.writes ? StateUse::kWrite : StateUse::kRead,
                           .value_mark = value_mark};
    const auto load_word = [this] { return word_; };
    const OwnerStep step = owner_step(state_, made, load_word);
    has_same_value = wire::has_same_value(state_, made, load_word);
    if (step.logs) {
      log_kept(made.by);
      logged.push_back({.access = access});
    }
    state_ = step.next;
    word_ = step.sets_word ? step.word : word_;
    // Else a thread of another block would wait for it.
    const bool has_word = state_.count() > 1 || state_.kind() == WordOwner::Kind::kMarkedWrite;
    CHECK((!has_word || state_.is_word(word_)));
    return step.logs;
  }

  std::vector<Logged> logged;
  bool has_same_value = false;

 private:
  void log_kept(const OwnedAccess& by) {
    using Kind = WordOwner::Kind;
    const bool writes = state_.kind() != Kind::kRead && state_.kind() != Kind::kReads;
    for (std::uint32_t which = 0; which < state_.count(); ++which) {
      add(state_.kept(which, word_), writes && which == 0, by);
    }
  }

  void add(const OwnedAccess& kept, bool writes, const OwnedAccess& by) {
    logged.push_back({.access = {.block = kept.block,
                                 .thread = kept.thread,
                                 .interval = kept.interval,
                                 .site = kept.site,
                                 .writes = writes},
                      .is_settled = is_settled(kept, by, false, false)});
  }

  WordOwner state_{0};
  std::uint64_t word_ = 0;
};

// Of the kernel's launch: the kinds of the records of its accesses.
std::vector<RecordKind> logged_by(LoggedMachine& machine, const std::string& kernel,
                                  std::uint32_t ctas, std::uint64_t out) {
  machine.launch(kernel, ctas, 64, {out});
  std::vector<RecordKind> kinds;
  for (const LoggedRecord& record : machine.read()) {
    if (record.kind() != RecordKind::kEvent && record.kind() != RecordKind::kBlockEvent) {
      kinds.push_back(record.kind());
    }
  }
  return kinds;
}

}  // namespace

TEST_CASE("of what conflicts on a watched granule some pair is logged", "[logger]") {
  std::mt19937 generator(1);
  const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
  for (int round = 0; round < 40000; ++round) {
    Granule granule;
    std::vector<Access> made;
    std::array<std::uint32_t, 3> intervals{};
    const std::uint32_t blocks = 1 + random() % 3, threads = 1 + random() % 3,
                        writes_in = 2 + random() % 6;
    for (std::uint32_t count = 1 + random() % 10; count > 0; --count) {
      const std::uint32_t block = random() % blocks;
      intervals[block] += random() % 4 == 0 ? 1 : 0;
      const bool writes = random() % writes_in == 0;
      const Access access{.block = block,
                          .thread = random() % threads,
                          .interval = intervals[block],
                          .site = random() % 2 * 2 + (writes ? 1 : 0),
                          .writes = writes};
      const std::size_t before = granule.logged.size();
      const bool is_logged = granule.access(access);
      const auto conflicts = [&](const Access& other) { return conflict(access, other); };
      if (std::ranges::any_of(made, conflicts)) {
        REQUIRE(is_logged);
        REQUIRE(std::any_of(granule.logged.begin(), granule.logged.end() - 1,
                            [&](const Logged& other) { return conflicts(other.access); }));
      }
      for (std::size_t i = before; i + 1 < granule.logged.size(); ++i) {
        const auto& [kept, is_settled] = granule.logged[i];
        // Of a write that its block has read behind a barrier the interval is not known any more.
        REQUIRE(std::ranges::any_of(made, [&](Access other) {
          other.interval = is_settled && kept.interval == 0 ? 0 : other.interval;
          return other == kept;
        }));
        // It is told as if it was made now only if it may as well have been.
        REQUIRE(is_settled == (kept.block != block || kept.interval != access.interval));
      }
      made.push_back(access);
    }
    const bool has_several = std::ranges::any_of(made, [&](const Access& one) {
      return one.block != made[0].block || one.thread != made[0].thread;
    });
    const bool has_write = std::ranges::any_of(made, &Access::writes);
    REQUIRE((granule.logged.empty() || (has_several && has_write)));
  }
}

TEST_CASE("a thread's own granule is never logged, whatever it does there", "[logger]") {
  Granule granule;
  for (std::uint32_t interval = 0; interval < 3; ++interval) {
    CHECK_FALSE(granule.access({.interval = interval, .site = 1}));
    CHECK_FALSE(granule.access({.interval = interval, .site = 2, .writes = true}, interval));
    CHECK_FALSE(granule.access({.interval = interval, .site = 3}));
  }
  CHECK(granule.access({.block = 1, .interval = 7, .site = 4, .writes = true}));
  REQUIRE(granule.logged.size() == 3);
  CHECK((granule.logged[0].access.writes && granule.logged[0].access.site == 2));
  CHECK((!granule.logged[1].access.writes && granule.logged[1].access.site == 3));
  CHECK((granule.logged[0].is_settled && granule.logged[1].is_settled));
}

TEST_CASE("an equal value of a watched granule is known by its mark", "[logger]") {
  Granule granule;
  granule.access({.site = 1, .writes = true}, 5);
  granule.access({.interval = 1, .site = 1, .writes = true}, 5);
  CHECK(granule.has_same_value);
  granule.access({.block = 1, .site = 1, .writes = true}, 5);
  CHECK(granule.has_same_value);
  CHECK(granule.logged.size() == 2);
  Granule other;
  other.access({.site = 1, .writes = true}, 5);
  other.access({.block = 1, .site = 1, .writes = true}, 6);
  CHECK_FALSE(other.has_same_value);
}

TEST_CASE("a mask of lanes that left says what is settled for who is frozen", "[logger]") {
  const OwnedAccess by{.thread = 1, .interval = 4};
  const OwnedAccess there{.thread = 2, .interval = 4}, before{.thread = 2, .interval = 3};
  CHECK_FALSE(is_settled(there, by, true, true));
  CHECK(is_settled(there, by, true, false));
  CHECK(is_settled(before, by, true, true));
  CHECK_FALSE(is_settled(there, by, false, false));
  CHECK(is_settled(before, by, false, false));
  CHECK(is_settled({.thread = 1, .block = 3, .interval = 4}, by, false, false));
}

TEST_CASE("the number of an interval is told as records have it, whatever the kernel counts") {
  const std::uint32_t few = warp_bits(kCountsWarps), many = warp_bits(kCountsWarps | kCountsMany);
  CHECK(number_of_kept({.interval = (few + 1) * 3 + 2}, {.counted = few}, false) ==
        number_of_kept({.interval = (many + 1) * 3 + 2}, {.counted = many}, false));
  CHECK(number_of_kept({.interval = (few + 1) * 3 + 2}, {.counted = few}, true) == 0);
  CHECK(number_of_kept({.interval = 3}, {.counted = 0}, false) == 0);
}

TEST_CASE("watched memory is logged where a second thread comes", "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  constexpr std::uint32_t kThreads = 64;
  const std::uint64_t out = machine.allocate(kThreads * 4);
  machine.watch("store_own", 2, out, kThreads * 4);
  CHECK(logged_by(machine, "store_own", 1, out).empty());
  machine.watch("store_own", 2, out, kThreads * 4);
  // Both blocks write all words: the second one logs, by warp, and for each lane of the first.
  const std::vector<RecordKind> kinds = logged_by(machine, "store_own", 2, out);
  CHECK(std::ranges::count(kinds, RecordKind::kSettled) == kThreads);
  CHECK(kinds.size() == kThreads + 2);
  // Of an access that has raced often enough nothing is logged, neither when it is made nor later.
  for (const ptx::Site& site : machine.sites()) {
    if (site.instruction.starts_with("st.global")) {
      machine.make_quiet(site.id);
    }
  }
  machine.watch("store_own", 2, out, kThreads * 4);
  CHECK(logged_by(machine, "store_own", 2, out).empty());
}

TEST_CASE("in a later round of its block's intervals a thread keeps nothing that is watched",
          "[logger]") {
  const OwnerAccess early = owner_access(0, 0, 1, 0, 7, 0),
                    late = owner_access(0, 0, 2, 0, kLaterRound | 7, 0);
  CHECK(early.use != StateUse::kLogged);
  CHECK(late.use == StateUse::kLogged);
  CHECK(is_settled(early.by, late.by, false, false));  // though the numbers are the same
}

TEST_CASE("watched memory is not logged where another thread of the block comes behind a barrier",
          "[logger]") {
  LoggedMachine machine(BARRACUDA_LOGGER_KERNELS);
  constexpr std::uint32_t kThreads = 64;
  const std::uint64_t out = machine.allocate(kThreads * 4);
  machine.watch("update_after_barrier", 1, out, kThreads * 4);
  CHECK(logged_by(machine, "update_after_barrier", 1, out).empty());
  // The second block conflicts with the first one's last writes alone.
  machine.watch("update_after_barrier", 2, out, kThreads * 4);
  const std::vector<RecordKind> kinds = logged_by(machine, "update_after_barrier", 2, out);
  CHECK(std::ranges::count(kinds, RecordKind::kSettled) == kThreads);
}

TEST_CASE("a block's rounds on a watched granule are not logged", "[logger]") {
  Granule granule;
  for (std::uint32_t round = 0; round < 4; ++round) {
    const std::uint32_t interval = 3 * round + 1, mark = round % 2;
    CHECK_FALSE(
        granule.access({.thread = round, .interval = interval, .site = 1, .writes = true}, mark));
    CHECK_FALSE(granule.access({.thread = 8, .interval = interval + 1, .site = 2}));
    CHECK_FALSE(granule.access({.thread = 8, .interval = interval + 1, .site = 3}));
    CHECK_FALSE(granule.access({.thread = 9, .interval = interval + 2, .site = 4}));
  }
  // What another block meets is the last write, and the last read, of another thread.
  CHECK(granule.access({.block = 1, .thread = 5, .interval = 1, .site = 5, .writes = true}));
  REQUIRE(granule.logged.size() == 3);
  CHECK(granule.logged[0].access == Access{.thread = 3, .site = 1, .writes = true});
  CHECK(granule.logged[1].access == Access{.thread = 9, .interval = 12, .site = 4});
  CHECK((granule.logged[0].is_settled && granule.logged[1].is_settled));
}

TEST_CASE("before a store of a known value a watched granule's read stays", "[logger]") {
  Granule granule;
  granule.access({.thread = 1, .interval = 1, .site = 1, .writes = true});
  granule.access({.thread = 2, .interval = 2, .site = 2});
  CHECK_FALSE(granule.access({.thread = 3, .interval = 3, .site = 3, .writes = true}, 5));
  granule.access({.block = 1, .thread = 5, .site = 3, .writes = true}, 5);
  REQUIRE(granule.logged.size() == 3);
  CHECK(granule.logged[0].access == Access{.thread = 3, .interval = 3, .site = 3, .writes = true});
  CHECK(granule.logged[1].access == Access{.thread = 2, .interval = 2, .site = 2});
}

TEST_CASE("who reads a watched granule behind its write conflicts with a write of its interval",
          "[logger]") {
  Granule granule;
  granule.access({.thread = 1, .interval = 1, .site = 1, .writes = true});
  granule.access({.thread = 2, .interval = 2, .site = 2});
  CHECK(granule.access({.thread = 1, .interval = 2, .site = 1, .writes = true}));
  REQUIRE(granule.logged.size() == 3);
  CHECK((granule.logged[0].is_settled && granule.logged[0].access.thread == 1));
  CHECK((!granule.logged[1].is_settled && granule.logged[1].access.thread == 2));
}

TEST_CASE("many may read a watched granule behind its write, and two are kept", "[logger]") {
  Granule granule;
  const auto read = [&](std::uint32_t thread, std::uint32_t interval, std::uint32_t site) {
    return granule.access({.thread = thread, .interval = interval, .site = site});
  };
  granule.access({.thread = 1, .interval = 1, .site = 1, .writes = true});
  const std::uint32_t other_site = GENERATE(2U, 3U);
  for (std::uint32_t interval = 2; interval < 5; ++interval) {
    CHECK_FALSE(read(2, interval, 2));
    CHECK_FALSE(read(3, interval, 2));
    CHECK_FALSE(read(4, interval, other_site));  // in place of the second, if it is of another site
    CHECK_FALSE(read(5, interval, 2));
    CHECK_FALSE(read(2, interval, 2));
  }
  SECTION("a writer of their interval, be it one of them, conflicts with the other") {
    CHECK(granule.access({.thread = 2, .interval = 4, .site = 1, .writes = true}));
  }
  SECTION("another block does with the write") {
    CHECK(granule.access({.block = 1, .thread = 2, .interval = 4, .site = 1}));
  }
  REQUIRE(granule.logged.size() == 4);
  CHECK(granule.logged[0].access == Access{.thread = 1, .site = 1, .writes = true});
  CHECK(granule.logged[1].access == Access{.thread = 2, .interval = 4, .site = 2});
  CHECK(granule.logged[2].access ==
        Access{.thread = other_site == 2 ? 3U : 4U, .interval = 4, .site = other_site});
}

TEST_CASE("of two readers behind a write who writes in the next interval is behind both",
          "[logger]") {
  Granule granule;
  granule.access({.thread = 1, .interval = 1, .site = 1, .writes = true});
  granule.access({.thread = 2, .interval = 2, .site = 2});
  granule.access({.thread = 3, .interval = 2, .site = 2});
  CHECK_FALSE(granule.access({.thread = 4, .interval = 3, .site = 1, .writes = true}));
  CHECK(granule.logged.empty());
}

TEST_CASE("readers behind a write are kept together if they are of one size and number") {
  const auto read = [](std::uint32_t thread, std::uint32_t size_log2, std::uint32_t interval) {
    return OwnerAccess{.by = {.thread = thread,
                              .site = 2,
                              .size_log2 = size_log2,
                              .interval = interval,
                              .counted = warp_bits(kCountsWarps)},
                       .use = StateUse::kRead};
  };
  const std::uint32_t one = warp_bits(kCountsWarps) + 1;  // interval of the block
  std::uint64_t word = 0;
  const auto load_word = [&] { return word; };
  WordOwner state = WordOwner::of(WordOwner::Kind::kWrite, {.thread = 1, .size_log2 = 2});
  const OwnerStep step = owner_step(state, read(2, 2, one), load_word);
  word = step.word;
  state = step.next;
  REQUIRE(state.kind() == WordOwner::Kind::kReadBehind);
  CHECK_FALSE(owner_step(state, read(3, 2, one), load_word).logs);
  CHECK(owner_step(state, read(3, 3, one), load_word).logs);
  CHECK(owner_step(state, read(3, 2, one + 1), load_word).logs);  // of another number of its warp
}

TEST_CASE("a word of reads behind a write is of their interval, or something else stands for it") {
  const OwnedAccess first{.thread = 2, .block = 7, .site = 3, .size_log2 = 2, .interval = 4};
  const WordOwner state = WordOwner::of(WordOwner::Kind::kReadsBehind, first);
  const auto word_in = [](std::uint32_t interval) {
    return WordOwner::word_of_readers(
        WordOwner::of(WordOwner::Kind::kRead, {.thread = 1, .site = 5, .interval = interval})
            .bits(),
        {.thread = 9, .site = 6});
  };
  CHECK(state.is_word(word_in(4)));
  CHECK_FALSE(state.is_word(word_in(3)));
  CHECK(state.kept(2, word_in(4)).thread == 9);
  CHECK(state.kept(2, word_in(4)).site == 6);
  CHECK(state.is_word(state.word_instead()));
  CHECK((state.kept(2, state.word_instead()).thread == 2 &&
         state.kept(2, state.word_instead()).site == 3 &&
         state.kept(2, state.word_instead()).block == 7));
}

}  // namespace barracuda::wire
