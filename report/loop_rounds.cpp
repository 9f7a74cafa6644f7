#include "report/loop_rounds.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/strong_id.h"
#include "ptx/loop_number.h"
#include "report/own_frame.h"

namespace barracuda::report {
namespace {

using detector::MissingOrder;
using detector::RaceEvent;
using detector::RaceKind;

// Function, file, line and column: compilers give all instructions of a statement its column.
using Statement = std::tuple<std::string_view, std::string_view, std::uint32_t, std::uint32_t>;
using Statements = std::tuple<Statement, Statement, RaceKind, MissingOrder>;

const ptx::Site* site_of(const detector::RaceAccess& access, const ptx::SiteTable& sites) {
  return !access.site.is_call() && index_of(access.site.instruction()) < sites.size()
             ? &sites[index_of(access.site.instruction())]
             : nullptr;
}

Statement statement_of(const ptx::Site& site) {
  const ptx::SourceFrame& frame = site.frames.front();
  return {site.function, frame.file, frame.line, frame.column};
}

bool are_of_one_line(const Statement& one, const Statement& other) {
  const auto line_of = [](const Statement& statement) {
    const auto& [function, file, line, column] = statement;
    return std::tuple(function, file, line);
  };
  return line_of(one) == line_of(other);
}

bool writes(const ptx::Site& site) {
  return site.info.operation != wire::Operation::kRead;
}

std::optional<std::uint32_t> innermost_loop(const ptx::Site& one, const ptx::Site& other) {
  const auto [end, unused] = std::ranges::mismatch(one.loops, other.loops);
  return end == one.loops.begin() ? std::nullopt : std::optional(*std::prev(end));
}

// The same calls lead there. Copies of an unrolled loop may have lost their outermost ones.
bool are_called_alike(const ptx::Site& one, const ptx::Site& other) {
  const auto [shorter, longer] =
      std::minmax({&one, &other}, [](const auto* left, const auto* right) {
        return left->frames.size() < right->frames.size();
      });
  return std::ranges::equal(
      shorter->frames, std::span(longer->frames).first(shorter->frames.size()), are_of_one_place);
}

// Of the block, and each round of the loop comes by.
bool has_barrier_of_rounds(const ptx::SiteTable& sites, std::string_view function,
                           std::uint32_t loop) {
  return std::ranges::any_of(sites, [&](const ptx::Site& site) {
    return site.info.operation == wire::Operation::kBarrier && site.function == function &&
           !site.is_skipped && !site.loops.empty() && site.loops.back() == loop;
  });
}

// Before neither access did its thread synchronise last in the innermost loop that both stand in;
// with a barrier in it that is so in the first round only.
bool share_loop_without_barrier(const RaceEvent& race, const ptx::Site& one, const ptx::Site& other,
                                const ptx::SiteTable& sites) {
  const std::optional<std::uint32_t> loop = innermost_loop(one, other);
  if (!loop || has_barrier_of_rounds(sites, one.function, *loop)) {
    return false;
  }
  const auto is_outside = [&](const detector::RaceAccess& access) {
    if (access.last_sync != detector::LastSync::kKnown ||
        index_of(access.last_sync_site) >= sites.size()) {
      return access.last_sync == detector::LastSync::kNone;
    }
    const ptx::Site& sync = sites[index_of(access.last_sync_site)];
    return sync.function == one.function &&
           std::ranges::find(sync.loops, *loop) == sync.loops.end();
  };
  return is_outside(race.first) && is_outside(race.second);
}

// Copies of an unrolled loop: only a kernel's own text says that no caller came to it twice.
bool share_text(const ptx::Site& one, const ptx::Site& other) {
  return one.in_entry && one.frames.size() == other.frames.size() &&
         std::equal(one.frames.begin() + 1, one.frames.end(), other.frames.begin() + 1,
                    are_of_one_place);
}

// Both come behind one barrier of their loop, which stands between their lines: the earlier line is
// that of the next round. The loop may be unrolled altogether.
bool is_around_barrier(const RaceEvent& race, const ptx::Site& one, const ptx::Site& other,
                       const ptx::SiteTable& sites) {
  const std::optional<std::uint32_t> loop = innermost_loop(one, other);
  const bool is_one_barrier = race.first.last_sync == detector::LastSync::kKnown &&
                              race.second.last_sync == detector::LastSync::kKnown &&
                              race.first.last_sync_site == race.second.last_sync_site &&
                              index_of(race.first.last_sync_site) < sites.size();
  if (!is_one_barrier) {
    return false;
  }
  const ptx::Site& sync = sites[index_of(race.first.last_sync_site)];
  if (sync.function != one.function || sync.frames.empty()) {
    return false;
  }
  const bool is_in_loop = loop ? std::ranges::find(sync.loops, *loop) != sync.loops.end()
                               : share_text(one, other) && share_text(one, sync);
  if (!is_in_loop) {
    return false;
  }
  const auto [low, high] = std::minmax({statement_of(one), statement_of(other)});
  const auto& [function, file, line, column] = statement_of(sync);
  return std::get<1>(low) == file && std::get<1>(high) == file && std::get<2>(low) < line &&
         line < std::get<2>(high);
}

class Rounds {
 public:
  Rounds(const std::vector<RaceEvent>& races, const ptx::SiteTable& sites) : sites_(sites) {
    for (const ptx::Site& site : sites) {
      if (site.update != 0 && !site.frames.empty()) {
        Update& update = updates_.try_emplace({site.function, site.update}, Update{.first = &site})
                             .first->second;
        update.statements.insert(statement_of(site));
        update.places += writes(site) ? 0 : 1;
      }
    }
    for (const RaceEvent& race : races) {
      if (const auto pair = pair_of(race)) {
        note_copy(*pair->first);
        note_copy(*pair->second);
      }
    }
    for (const RaceEvent& race : races) {
      if (const auto pair = pair_of(race)) {
        if (const auto loop = loop_of_steps(*pair->first, *pair->second)) {
          steps_.emplace(pair->first->function, *loop);
        }
      }
    }
    for (const RaceEvent& race : races) {
      if (const auto pair = pair_of(race)) {
        LoopRounds& rounds = known_
                                 .try_emplace(statements_of(race, *pair),
                                              LoopRounds{.within = false, .across = false})
                                 .first->second;
        const LoopRounds own = rounds_of(race, *pair->first, *pair->second);
        rounds.within = rounds.within || own.within;
        rounds.across = rounds.across || own.across;
      }
    }
  }

  [[nodiscard]] LoopRounds of(const RaceEvent& race) const {
    const auto pair = pair_of(race);
    if (!pair) {
      return {};
    }
    const Statements statements = statements_of(race, *pair);
    LoopRounds rounds = known_.at(statements);
    rounds.is_uneven = is_uneven(*pair->first, *pair->second);
    rounds.are_steps = are_steps(*pair->first, *pair->second);
    rounds.is_of_block = race.kind == RaceKind::kIntraWarp && !rounds.is_uneven &&
                         lacks_block_barrier(statements, rounds);
    return rounds;
  }

 private:
  using Pair = std::pair<const ptx::Site*, const ptx::Site*>;
  static constexpr std::uint32_t kUnrolled = ~std::uint32_t{0};  // of no number

  struct Update {
    const ptx::Site* first = nullptr;
    std::set<Statement> statements;
    std::size_t places = 0;  // that it reads: of several it is an exchange
  };

  [[nodiscard]] std::optional<Pair> pair_of(const RaceEvent& race) const {
    const ptx::Site* const one = site_of(race.first, sites_);
    const ptx::Site* const other = site_of(race.second, sites_);
    const bool is_meant =
        (race.missing == MissingOrder::kNoSynchronisation ||
         race.missing == MissingOrder::kVolatileFlag) &&
        (race.kind == RaceKind::kIntraBlock || race.kind == RaceKind::kIntraWarp) &&
        one != nullptr && other != nullptr && one->function == other->function &&
        !one->frames.empty() && !other->frames.empty();
    return is_meant ? std::optional(Pair(one, other)) : std::nullopt;
  }

  [[nodiscard]] static Statements statements_of(const RaceEvent& race, const Pair& pair) {
    const auto [low, high] = std::minmax({statement_of(*pair.first), statement_of(*pair.second)});
    return {low, high, race.kind, race.missing};
  }

  // A barrier directly before a line stands between it and each earlier one, and likewise one
  // directly behind a line.
  [[nodiscard]] bool lacks_block_barrier(const Statements& of_warp,
                                         const LoopRounds& rounds) const {
    return std::ranges::any_of(known_, [&](const auto& each) {
      const Statements& statements = each.first;
      const LoopRounds& other = each.second;
      const bool shares_line = are_of_one_line(std::get<0>(statements), std::get<0>(of_warp)) ||
                               are_of_one_line(std::get<1>(statements), std::get<1>(of_warp));
      return std::get<2>(statements) == RaceKind::kIntraBlock &&
             std::get<3>(statements) == std::get<3>(of_warp) && shares_line &&
             ((rounds.within && other.within) || (rounds.across && other.across));
    });
  }

  // Where the program has a barrier of the block already, it knows its threads.
  [[nodiscard]] bool has_no_place(std::uint32_t loop, std::string_view function) const {
    return ptx::is_uneven(loop) && std::ranges::none_of(sites_, [&](const ptx::Site& site) {
             return site.info.operation == wire::Operation::kBarrier && site.function == function &&
                    std::ranges::find(site.loops, loop) != site.loops.end();
           });
  }

  // The innermost loops that the statement stands in: of one that is unrolled, what is left of its
  // rounds too.
  [[nodiscard]] std::set<std::uint32_t> loops_of(const ptx::Site& statement) const {
    std::set<std::uint32_t> loops;
    for (const ptx::Site& site : sites_) {
      if (!site.loops.empty() && !site.frames.empty() &&
          statement_of(site) == statement_of(statement)) {
        loops.insert(site.loops.back());
      }
    }
    return loops;
  }

  [[nodiscard]] bool share_source_loop(const ptx::Site& one, const ptx::Site& other) const {
    const std::set<std::uint32_t> loops = loops_of(one);
    return std::ranges::any_of(loops_of(other),
                               [&](std::uint32_t loop) { return loops.contains(loop); });
  }

  // A loop that is unrolled is two: what is left of its rounds has one of its own.
  [[nodiscard]] bool is_uneven(const ptx::Site& one, const ptx::Site& other) const {
    if (is_unrolled(one, other) && !one.loops.empty() && !other.loops.empty()) {
      return share_source_loop(one, other) && has_no_place(one.loops.back(), one.function) &&
             has_no_place(other.loops.back(), other.function);
    }
    const std::optional<std::uint32_t> loop = innermost_loop(one, other);
    return loop && has_no_place(*loop, one.function);
  }

  // The loop that both stand in, or kUnrolled.
  [[nodiscard]] std::optional<std::uint32_t> common_loop(const ptx::Site& one,
                                                         const ptx::Site& other) const {
    const std::optional<std::uint32_t> loop = innermost_loop(one, other);
    return loop || !is_unrolled(one, other) ? loop : std::optional(kUnrolled);
  }

  // Of the block; of a loop that is unrolled altogether, those that it has several times.
  [[nodiscard]] std::vector<const ptx::Site*> barriers_in(std::uint32_t loop,
                                                          std::string_view function) const {
    std::vector<const ptx::Site*> barriers;
    std::set<Statement> met;
    for (const ptx::Site& site : sites_) {
      const bool is_meant = site.info.operation == wire::Operation::kBarrier &&
                            site.function == function && !site.frames.empty();
      if (is_meant &&
          (loop == kUnrolled ? !met.insert(statement_of(site)).second
                             : std::ranges::find(site.loops, loop) != site.loops.end())) {
        barriers.push_back(&site);
      }
    }
    return barriers;
  }

  // Null unless the site is part of an exchange.
  [[nodiscard]] const Update* exchange_of(const ptx::Site& part) const {
    const auto found = updates_.find({part.function, part.update});
    return found != updates_.end() && found->second.places > 1 ? &found->second : nullptr;
  }

  // Of one statement of the source, which is unrolled.
  static bool are_copies(const Update& one, const Update& other) {
    return one.first != other.first && one.statements == other.statements &&
           one.first->function == other.first->function &&
           are_called_alike(*one.first, *other.first);
  }

  // Who changes two places by what both hold meets another such thread at one of them in another
  // round only: in one round each place has one thread. Where each round has a barrier, two steps
  // without one between are one to the compiler.
  [[nodiscard]] bool is_exchange_of_rounds(const Update& one, const Update& other,
                                           const std::optional<std::uint32_t>& loop) const {
    if (&one != &other) {
      return are_copies(one, other);
    }
    const bool is_of_loop = loop && !has_barrier_of_rounds(sites_, one.first->function, *loop);
    return is_of_loop || std::ranges::any_of(updates_, [&](const auto& each) {
             return are_copies(one, each.second);
           });
  }

  // Of two updates of different places, the loop that both stand in, if a barrier does so too.
  [[nodiscard]] std::optional<std::uint32_t> loop_of_steps(const ptx::Site& one,
                                                           const ptx::Site& other) const {
    const bool are_two = one.update != 0 && other.update != 0 && one.update != other.update &&
                         (exchange_of(one) == nullptr || exchange_of(other) == nullptr) &&
                         statement_of(one) != statement_of(other);
    const std::optional<std::uint32_t> loop = are_two ? common_loop(one, other) : std::nullopt;
    return loop && !barriers_in(*loop, one.function).empty() ? loop : std::nullopt;
  }

  [[nodiscard]] bool are_steps(const ptx::Site& one, const ptx::Site& other) const {
    const Update* const first = exchange_of(one);
    const Update* const second = exchange_of(other);
    if (first != nullptr && second != nullptr) {
      return is_exchange_of_rounds(*first, *second, innermost_loop(one, other));
    }
    const std::optional<std::uint32_t> loop = common_loop(one, other);
    return loop && one.update != 0 && other.update != 0 && steps_.contains({one.function, *loop});
  }

  // In a loop with barriers, each of which is left out in some round.
  [[nodiscard]] bool have_skipped_barriers(const ptx::Site& one, const ptx::Site& other) const {
    const std::optional<std::uint32_t> loop = innermost_loop(one, other);
    const auto barriers = loop ? barriers_in(*loop, one.function) : std::vector<const ptx::Site*>();
    return !barriers.empty() && std::ranges::all_of(barriers, &ptx::Site::is_skipped);
  }

  void note_copy(const ptx::Site& site) {
    if (writes(site)) {
      stores_[{statement_of(site), site.instruction}].insert(&site);
    }
  }

  // One statement seldom stores twice in one round; it often loads twice. A function that is
  // inlined at two places is no loop.
  [[nodiscard]] bool is_unrolled(const ptx::Site& one, const ptx::Site& other) const {
    const auto has_copies = [&](const ptx::Site& site) {
      const auto found = stores_.find({statement_of(site), site.instruction});
      return found != stores_.end() && std::ranges::any_of(found->second, [&](const auto* copy) {
               return copy->ptx_line != site.ptx_line && are_called_alike(*copy, site);
             });
    };
    return has_copies(one) || has_copies(other);
  }

  [[nodiscard]] LoopRounds rounds_of(const RaceEvent& race, const ptx::Site& one,
                                     const ptx::Site& other) const {
    const bool is_one_statement = statement_of(one) == statement_of(other);
    if (share_loop_without_barrier(race, one, other, sites_)) {
      return {.within = !is_one_statement, .across = true};
    }
    if (is_around_barrier(race, one, other, sites_) || are_steps(one, other)) {
      return {.within = false, .across = true};
    }
    if (have_skipped_barriers(one, other)) {
      return {.within = !is_one_statement, .across = true};
    }
    if (!is_unrolled(one, other)) {
      return {};
    }
    const auto [first, second] =
        one.ptx_line < other.ptx_line ? Pair(&one, &other) : Pair(&other, &one);
    const bool is_back =
        is_one_statement ? writes(*first) : statement_of(*second) < statement_of(*first);
    return {.within = !is_back, .across = is_back};
  }

  const ptx::SiteTable& sites_;
  // By statement and instruction.
  std::map<std::pair<Statement, std::string_view>, std::set<const ptx::Site*>> stores_;
  std::map<Statements, LoopRounds> known_;
  std::map<std::pair<std::string_view, std::uint32_t>, Update> updates_;  // by function and number
  // Loops in which updates of different places race.
  std::set<std::pair<std::string_view, std::uint32_t>> steps_;
};

}  // namespace

std::vector<LoopRounds> loop_rounds(const std::vector<RaceEvent>& races,
                                    const ptx::SiteTable& sites) {
  const Rounds rounds(races, sites);
  std::vector<LoopRounds> all;
  all.reserve(races.size());
  for (const RaceEvent& race : races) {
    all.push_back(rounds.of(race));
  }
  return all;
}

}  // namespace barracuda::report
