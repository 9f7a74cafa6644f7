#include "report/unordered_threads.h"

#include <optional>
#include <string>

#include <fmt/format.h>

#include "report/missing_order.h"
#include "report/remedies.h"

namespace barracuda::report {
namespace {

class Clause {
 public:
  Clause(const detector::RaceEvent& race, const RaceSites& sites, const Access& first,
         const Access& second, const LoopRounds& rounds, const std::optional<AwaitedFlag>& flag)
      : race_(race),
        sites_(sites),
        first_(first),
        second_(second),
        rounds_(rounds),
        flag_(flag),
        names_(names_for(second)) {}

  [[nodiscard]] std::string text() const {
    if (sites_.is_update(race_.first.site) && sites_.is_update(race_.second.site) &&
        !rounds_.are_steps && !sites_.are_exchanges()) {
      return are_updates();
    }
    if (is_lonely_exchange()) {
      return fmt::format(
          "{} change two places each by what both hold, and one of them is the same: no atomic "
          "operation does that, so each place needs one thread, or a lock",
          parties());
    }
    if (sites_.is_update_around_store()) {
      return fmt::format(
          "{}: one stores a part of a word, and the other reads and writes back the whole word, as "
          "is done for bit fields: each needs a word of its own, or atomic operations on the word "
          "such as atomicOr()",
          parties());
    }
    if (race_.first.site == race_.second.site && !rounds_.are_steps) {
      return by_one_instruction();
    }
    if (is_between_blocks() && first_.operation == AccessOperation::kWrite &&
        second_.operation == AccessOperation::kWrite && sites_.are_one_statement()) {
      return fmt::format(
          "{} store to one place by one statement: one thread alone should store it, or each needs "
          "a place of its own",
          parties());
    }
    if (const ptx::Site* const store = sites_.unfenced_flag()) {
      return fmt::format(
          "a thread waits in a loop for the value that is stored{}: {} is missing directly before "
          "it, after the writes that the flag announces",
          place_at(*store), names_.fence);
    }
    if (is_plain_beside_atomic() &&
        ((is_between_blocks() && !are_of_one_cluster()) || sites_.is_read_first())) {
      return fmt::format("{} beside {} must be atomic as well{}", name_of(plain()),
                         name_of(atomic()),
                         first_.size == second_.size ? "" : ", and of the same size");
    }
    if (is_between_blocks() && !(are_of_one_cluster() && is_plain_beside_atomic()) &&
        sites_.is_strong(race_.first.site) != sites_.is_strong(race_.second.site)) {
      return plain_beside_strong();
    }
    if (race_.kind == detector::RaceKind::kIntraWarp && rounds_.is_of_block) {
      return fmt::format(
          "{} is missing {} (two lanes of one warp; one of the lines races between warps as well)",
          names_.block_barrier, where_barrier_belongs("threads of the block"));
    }
    if (race_.kind == detector::RaceKind::kIntraWarp) {
      return fmt::format("{} is missing {} (two lanes of one warp)", names_.warp_barrier,
                         where_barrier_belongs("lanes of the warp"));
    }
    if (race_.kind == detector::RaceKind::kIntraBlock && rounds_.is_uneven) {
      return in_uneven_loop();
    }
    if (race_.kind == detector::RaceKind::kIntraBlock) {
      return fmt::format("{} is missing {} (warp {} and warp {} of one block){}",
                         names_.block_barrier, where_barrier_belongs("threads of the block"),
                         first_.warp, second_.warp, or_wait_before_copy());
    }
    if (flag_) {
      return behind(*flag_);
    }
    return without_lock().value_or(between_blocks());
  }

 private:
  [[nodiscard]] std::string parties() const {
    return race_.kind == detector::RaceKind::kIntraWarp ? "two lanes of one warp"
           : race_.kind == detector::RaceKind::kIntraBlock
               ? "two warps of one block"
               : block_name(first_) + " and " + block_name(second_);
  }

  // Of one line of the kernel, in one round and one call: no barrier can stand between.
  [[nodiscard]] bool is_lonely_exchange() const {
    if (is_between_blocks() || !sites_.are_exchanges() || rounds_.across ||
        sites_.are_of_two_calls()) {
      return false;
    }
    const ptx::Site& first = *sites_.find(race_.first.site);
    const ptx::Site& second = *sites_.find(race_.second.site);
    return first.update == second.update && !first.frames.empty() && !second.frames.empty() &&
           first.frames.back().line == second.frames.back().line;
  }

  [[nodiscard]] bool is_plain_beside_atomic() const {
    return (first_.operation == AccessOperation::kAtomic) !=
           (second_.operation == AccessOperation::kAtomic);
  }

  [[nodiscard]] const Access& plain() const {
    return first_.operation == AccessOperation::kAtomic ? second_ : first_;
  }

  [[nodiscard]] const Access& atomic() const { return &plain() == &first_ ? second_ : first_; }

  // "the read at add.cu:12"
  static std::string name_of(const Access& access) {
    return fmt::format("the {}{}", verb_of(access), place_text(access.place));
  }

  // Of an atomic and a plain access, this one reads a place that is changed and written back, or
  // writes it back.
  [[nodiscard]] std::string are_updates() const {
    return is_plain_beside_atomic()
               ? fmt::format(
                     "{} is part of an update that is not atomic, beside {}: the whole update must "
                     "be an atomic operation, such as {}",
                     name_of(plain()), name_of(atomic()), names_.update)
               : fmt::format(
                     "{} read, change and write back one place: an atomic operation is needed for "
                     "the whole update, such as {}",
                     parties(), names_.update);
  }

  // Which rounds two lanes or warps were in when they came there, no record says.
  [[nodiscard]] std::string by_one_instruction() const {
    const char* const remedy = "one thread alone should store it, or each needs a place of its own";
    const bool is_of_warp = race_.kind == detector::RaceKind::kIntraWarp;
    if (!rounds_.across || (rounds_.is_uneven && !is_of_warp)) {
      return fmt::format(
          "{} store to one place by one instruction, and no barrier can stand between: {}",
          parties(), remedy);
    }
    return fmt::format(
        "{} store to one place by one instruction: if in different rounds of their loop, {} is "
        "missing before the next round; if in one round, no barrier can stand between, and {}",
        parties(), is_of_warp ? names_.warp_barrier : names_.block_barrier, remedy);
  }

  // Where some warps of a block only load what others use, all of them come by no line together.
  [[nodiscard]] std::string or_wait_before_copy() const {
    return sites_.is_load_of_shared(race_.second)
               ? fmt::format(
                     ", or a wait before the copy for an mbarrier at which warp {} arrives once "
                     "its {} is over",
                     first_.warp, verb_of(first_))
               : "";
  }

  // Not all threads may come to a barrier there, or not as often.
  [[nodiscard]] std::string in_uneven_loop() const {
    return fmt::format(
        "warp {} and warp {} of one block are in a loop that some threads may leave before others, "
        "so no {} can stand in it: {}",
        first_.warp, second_.warp, names_.block_barrier,
        rounds_.within ? "the two accesses must be atomic, or stand in a loop each, with the "
                         "barrier between the "
                         "loops"
                       : "the two accesses must be atomic, or each warp needs a place of its own");
  }

  // One of the two may come at any time: an order that the other one needs would be none.
  [[nodiscard]] std::string plain_beside_strong() const {
    const bool is_first = sites_.is_strong(race_.first.site);
    const Access& strong = is_first ? first_ : second_;
    const Access& other = is_first ? second_ : first_;
    const ptx::Site* const site = sites_.find(is_first ? race_.first.site : race_.second.site);
    return site->info.order == wire::MemoryOrder::kVolatile
               ? fmt::format("{} beside the volatile {}{}: both must be atomic (cuda::atomic_ref)",
                             name_of(other), verb_of(strong), place_text(strong.place))
               : fmt::format("{} beside the atomic {}{} must be atomic as well", name_of(other),
                             verb_of(strong), place_text(strong.place));
  }

  [[nodiscard]] std::string behind(const AwaitedFlag& flag) const {
    const ptx::Site& store = *flag.store;
    return store.info.element_bytes == flag.poll->info.element_bytes
               ? both_fences_missing(first_, names_, place_at(store))
               : fmt::format(
                     "the flag that is stored{} and awaited{} in different sizes hands nothing on: "
                     "one size is needed",
                     place_at(store), place_at(*flag.poll));
  }

  // One of the two is made under a lock.
  [[nodiscard]] std::optional<std::string> without_lock() const {
    const ptx::Site* const of_first = sites_.lock_around(race_.first);
    const ptx::Site* const of_second = sites_.lock_around(race_.second);
    if ((of_first == nullptr) == (of_second == nullptr)) {
      return std::nullopt;
    }
    const ptx::Site& lock = of_first != nullptr ? *of_first : *of_second;
    const Access& inside = of_first != nullptr ? first_ : second_;
    const Access& outside = of_first != nullptr ? second_ : first_;
    return fmt::format(
        "{} is made without the lock that is taken{} for {}: it must take it as well",
        name_of(outside), place_at(lock), name_of(inside));
  }

  // Where blocks of a cluster wait for each other already.
  [[nodiscard]] std::optional<std::string> narrow_mbarrier() const {
    const auto remote = sites_.remote_arrival();
    const auto is_narrow = [](const ptx::Site& site) {
      return site.info.scope == wire::Scope::kCta && !site.info.is_unscoped;
    };
    if (!remote || (!is_narrow(*remote->arrival) && !is_narrow(*remote->wait))) {
      return std::nullopt;
    }
    const bool is_of_arrival = is_narrow(*remote->arrival);
    return fmt::format(
        "the {}{} has block scope (.cta), and the {}{} is another block's: cluster scope "
        "(.cluster) is needed for both",
        is_of_arrival ? "arrival" : "wait",
        place_at(is_of_arrival ? *remote->arrival : *remote->wait),
        is_of_arrival ? "wait" : "arrival",
        place_at(is_of_arrival ? *remote->wait : *remote->arrival));
  }

  [[nodiscard]] bool is_between_blocks() const {
    return race_.kind == detector::RaceKind::kInterBlock;
  }

  [[nodiscard]] bool are_of_one_cluster() const {
    return race_.needed_scope == wire::Scope::kCluster;
  }

  [[nodiscard]] std::string where_barrier_belongs(const char* all) const {
    const std::string where =
        sites_.use_a_copy()
            ? "between the wait for the asynchronous copy and the other thread's access"
        : sites_.are_of_two_calls() ? "between the two calls of their function"
        : !rounds_.across && sites_.is_within_statement()
            ? "between the two accesses of one statement, which must become two"
        : !rounds_.across ? "between the two accesses"
        : !rounds_.within ? "before the next round of their loop"
                          : "between the two accesses, and before the next round of their loop";
    const auto is_divergent = [&](detector::AccessSite id) {
      const ptx::Site* const site = sites_.find(id);
      return site != nullptr && site->is_divergent;
    };
    return is_divergent(race_.first.site) || is_divergent(race_.second.site)
               ? fmt::format("{}, where all {} come by", where, all)
               : where;
  }

  [[nodiscard]] std::string between_blocks() const {
    const std::string what = fmt::format("no synchronisation between {} and {}", block_name(first_),
                                         block_name(second_));
    if (are_of_one_cluster()) {
      return narrow_mbarrier().value_or(what +
                                        ", which are of one cluster: cluster.sync() is missing");
    }
    return fmt::format("{}, and no {} orders blocks: {}", what, names_.block_barrier,
                       sites_.has_grid_barrier() ? "one more grid.sync() is missing between the "
                                                   "two accesses"
                       : sites_.is_read_first() && !sites_.are_exchanges()
                           ? "what is read in one array must be written to a second array"
                           : "the second access needs a launch of its own, or a barrier of the "
                             "whole grid before it (cooperative launch)");
  }

  const detector::RaceEvent& race_;
  const RaceSites& sites_;
  const Access& first_;
  const Access& second_;
  const LoopRounds& rounds_;
  const std::optional<AwaitedFlag>& flag_;
  const RemedyNames& names_;
};

}  // namespace

std::string unordered_threads(const detector::RaceEvent& race, const RaceSites& sites,
                              const Access& first, const Access& second, const LoopRounds& rounds,
                              const std::optional<AwaitedFlag>& flag) {
  return Clause(race, sites, first, second, rounds, flag).text();
}

}  // namespace barracuda::report
