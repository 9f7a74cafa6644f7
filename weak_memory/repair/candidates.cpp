#include "weak_memory/repair/candidates.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "device_logger/scope_order.h"

namespace barracuda::weak_memory {
namespace {

using detector::MissingOrder;
using detector::RaceKind;
using ptx::CodePoint;
using ptx::CodeView;
using ptx::Gap;
using ptx::OpcodeClass;
using ptx::StatementName;
using wire::MemoryOrder;
using wire::Scope;

constexpr std::size_t kMostGaps = 6, kMostCandidates = 24, kMostPolls = 3, kMostFlags = 3;

bool is_plain(const CodePoint& point) {
  return point.effect.order == MemoryOrder::kWeak;
}

bool is_access(const CodePoint& point) {
  const OpcodeClass kind = point.effect.opcode_class;
  return kind == OpcodeClass::kLoad || kind == OpcodeClass::kStore ||
         kind == OpcodeClass::kAtomic || kind == OpcodeClass::kReduction;
}

bool is_fence(const CodePoint& point) {
  return point.effect.opcode_class == OpcodeClass::kFence;
}

class Table {
 public:
  Table(const report::Lack& lack, const ProgramCode& code, bool with_barriers)
      : lack_(lack), code_(code), with_barriers_(with_barriers) {}

  std::vector<Candidate> make() {
    switch (lack_.missing) {
      case MissingOrder::kReleaseFenceMissing:
      case MissingOrder::kLinkFenceMissing:
        add_releases(false);
        break;
      case MissingOrder::kAcquireFenceMissing:
        add_acquires({}, false);
        break;
      case MissingOrder::kFencesMissing:
        add_releases(true);
        break;
      case MissingOrder::kScopeTooNarrow:
      case MissingOrder::kAtomicScopeTooNarrow:
        add_scopes();
        break;
      case MissingOrder::kPollTooWeak:
        add_order_of(lack_.about, MemoryOrder::kAcquire, "the poll acquires");
        break;
      case MissingOrder::kFlagTooWeak:
        add_order_of(lack_.about, MemoryOrder::kRelease, "the flag's store releases");
        break;
      case MissingOrder::kVolatileFlag:
        add_barriers(lack_.first, lack_.second);
        add_strong_pair();
        break;
      case MissingOrder::kNoSynchronisation:
        add_unsynchronised();
        break;
      case MissingOrder::kProxyFenceMissing:
        add_waits(ptx::SyncKind::kAsyncProxy, "shows the writes to the asynchronous proxy");
        break;
      case MissingOrder::kAsyncWaitMissing:
        add_copy_waits();
        break;
      case MissingOrder::kWarpMaskTooNarrow:
      case MissingOrder::kBarrierLeavesOut:
      case MissingOrder::kNamedBarrierMissing:
        add_barriers(lack_.first, lack_.second);
        break;
      case MissingOrder::kGridWaitMissing:
        add_waits(ptx::SyncKind::kEarlierGrid, "waits for the launch before");
        break;
      case MissingOrder::kReadOnlyPath:
        for (const std::string& side : {lack_.first, lack_.second}) {
          const auto point = find(side);
          if (point && point->effect.proxy == wire::Proxy::kReadOnly) {
            add({change(*point, MemoryOrder::kWeak)}, "the load is an ordinary one");
          }
        }
        break;
      case MissingOrder::kAfterRelease:
      case MissingOrder::kLockNotTaken:
      case MissingOrder::kEqualValues:
      case MissingOrder::kMixedSize:
      case MissingOrder::kArrivalDoesNotWait:
      case MissingOrder::kAfterArrival:
      case MissingOrder::kArrivalRelaxed:
      case MissingOrder::kWrongPhase:
      case MissingOrder::kSpeculatedRead:
        break;
    }
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::optional<CodePoint> find(const std::string& name) const {
    const auto at = ptx::parse_statement_name(name);
    const CodeView* const module = at ? code_.module_of(*at) : nullptr;
    return module == nullptr ? std::nullopt : module->find(*at);
  }

  [[nodiscard]] const CodeView& module_of(const StatementName& at) const {
    return *code_.module_of(at);
  }

  void add(std::vector<Edit> edits, std::string reason, bool is_guess = false) {
    std::erase_if(edits, [](const Edit& edit) { return edit.changes.empty(); });
    if (!edits.empty()) {
      made_.push_back(
          {.edits = std::move(edits), .reason = std::move(reason), .is_guess = is_guess});
    }
  }

  [[nodiscard]] Scope scope() const { return lack_.scope; }

  // The same at each copy of the instruction.
  [[nodiscard]] Edit at_copies(const CodePoint& point, const ptx::OrderChange& change) const {
    Edit edit{.changes = {}, .lines = point.lines, .before = "", .after = "", .loops = point.loops};
    for (StatementName& copy : module_of(point.name).copies_of(point.name)) {
      edit.changes.push_back({.at = std::move(copy), .change = change});
    }
    return edit;
  }

  [[nodiscard]] ptx::Fence fence() const {
    return {.order = MemoryOrder::kAcqRel, .scope = scope()};
  }

  [[nodiscard]] std::string fence_name() const {
    return fmt::format("fence.acq_rel.{}", ptx::word_of(scope()));
  }

  [[nodiscard]] Edit fence_before(const CodePoint& point) const {
    Edit edit = at_copies(point, ptx::InsertFence{.fence = fence(), .is_before = true});
    edit.is_line_before = true;
    edit.after = fence_name();
    return edit;
  }

  [[nodiscard]] Edit at_gap(const Gap& gap, const ptx::OrderChange& change,
                            std::string after) const {
    Edit edit{.changes = {},
              .lines = gap.at_line,
              .is_line_before = gap.is_line_before,
              .is_behind_loop = gap.is_behind_loop,
              .before = "",
              .after = std::move(after),
              .loops = gap.loops};
    // Behind a loop, and at what is no access, there are no copies of the statement: what looks
    // like one may be anything.
    const auto point = module_of(gap.at).find(gap.at);
    const bool has_copies = !gap.is_behind_loop && point && is_access(*point);
    const std::vector<StatementName> copies =
        has_copies ? module_of(gap.at).copies_of(gap.at) : std::vector<StatementName>{gap.at};
    for (const StatementName& copy : copies) {
      edit.changes.push_back({.at = copy, .change = change});
    }
    return edit;
  }

  [[nodiscard]] std::optional<Edit> fence_behind(const StatementName& read) const {
    const auto gap = module_of(read).gap_behind_read(read);
    if (!gap) {
      return std::nullopt;
    }
    return at_gap(*gap, ptx::InsertFence{.fence = fence(), .is_before = gap->is_before},
                  fence_name());
  }

  [[nodiscard]] Edit change(const CodePoint& point, MemoryOrder order) const {
    Edit edit = at_copies(point, ptx::ChangeOrder{.order = order, .scope = scope()});
    edit.before = point.instruction;
    edit.after = order == MemoryOrder::kWeak
                     ? "ld.global"
                     : fmt::format("{}.{}.{}", word_before_dot(point.instruction),
                                   ptx::word_of(order), ptx::word_of(scope()));
    return edit;
  }

  static std::string word_before_dot(const std::string& instruction) {
    return instruction.substr(0, instruction.find('.'));
  }

  // The order that makes a read acquire, or a write release, whatever it is.
  static MemoryOrder stronger(const CodePoint& point, MemoryOrder order) {
    const bool is_both = point.effect.opcode_class == OpcodeClass::kAtomic &&
                         (point.effect.order == MemoryOrder::kAcquire ||
                          point.effect.order == MemoryOrder::kRelease) &&
                         point.effect.order != order;
    return is_both ? MemoryOrder::kAcqRel : order;
  }

  // A plain flag is no synchronisation in PTX, even where fences stand around it: it becomes a
  // relaxed one with them.
  void make_strong(std::vector<Edit>& edits, const CodePoint& flag) const {
    if (is_plain(flag)) {
      edits.push_back(change(flag, MemoryOrder::kRelaxed));
    }
  }

  // Where the second thread saw the flag: a fence behind each read that may have been it.
  void add_acquires(const std::vector<Edit>& with, bool is_guess) {
    const auto second = find(lack_.second);
    if (!second) {
      return;
    }
    const CodeView& module = module_of(second->name);
    std::vector<StatementName> reads = module.reads_before(second->name);
    reads.resize(std::min(reads.size(), kMostPolls));
    const auto add_with = [&](std::vector<Edit> edits, std::string reason) {
      edits.insert(edits.begin(), with.begin(), with.end());
      add(std::move(edits), std::move(reason), is_guess);
    };
    const char* const fenced = with.empty() ? "a fence behind the read of the flag or lock"
                                            : "fences before the flag or lock is written and "
                                              "behind its read";
    for (const StatementName& read : reads) {
      const auto point = module.find(read);
      if (auto edit = fence_behind(read); edit && point) {
        std::vector<Edit> edits = {std::move(*edit)};
        make_strong(edits, *point);
        add_with(std::move(edits), fenced);
      }
    }
    if (!is_guess) {
      add_with({fence_before(*second)}, "a fence before the access");
    }
    for (const StatementName& read : reads) {
      if (const auto point = module.find(read)) {
        add_with({change(*point, stronger(*point, MemoryOrder::kAcquire))},
                 "the read of the flag or lock acquires");
      }
    }
  }

  void add_releases(bool with_acquires) {
    const auto flag = find(lack_.about);
    if (!flag) {
      add_guesses();
      return;
    }
    std::vector<Edit> fences = {fence_before(*flag)};
    make_strong(fences, *flag);
    std::vector<Edit> released = {change(*flag, stronger(*flag, MemoryOrder::kRelease))};
    if (with_acquires) {
      add_acquires(fences, false);
      add_acquires(released, false);
      return;
    }
    add(std::move(fences), "a fence before the flag or lock is written");
    add(std::move(released), "the write of the flag or lock releases");
  }

  // Every fence and strong access that takes part and is too narrow: what is too many of them is
  // found when edits are left out.
  void add_scopes() {
    std::vector<Edit> edits;
    for (const std::string& name :
         {lack_.about, lack_.second_sync, lack_.first_sync, lack_.first, lack_.second}) {
      const auto point = find(name);
      const bool is_scoped =
          point && (is_fence(*point) ||
                    (!is_plain(*point) && point->effect.order != MemoryOrder::kVolatile));
      if (!is_scoped || wire::includes(point->effect.scope, scope())) {
        continue;
      }
      Edit edit = at_copies(*point, ptx::ChangeScope{.scope = scope()});
      edit.before = point->instruction;
      edit.after = with_scope(*point);
      if (std::ranges::find(edits, edit) == edits.end()) {
        edits.push_back(std::move(edit));
      }
    }
    add(edits, "the scope includes both threads");
    std::vector<Edit> all = edits;
    for (const auto& [name, is_behind] :
         {std::pair{lack_.first, true}, std::pair{lack_.second, false}}) {
      add_narrow_around(name, is_behind, all);
    }
    if (all.size() > edits.size()) {
      add(std::move(all), "the scopes include both threads");
    }
  }

  // Strong accesses that the one side may have handed over with.
  void add_narrow_around(const std::string& name, bool is_behind, std::vector<Edit>& edits) const {
    const auto side = find(name);
    if (!side) {
      return;
    }
    const CodeView& module = module_of(side->name);
    for (const StatementName& other :
         is_behind ? module.writes_behind(side->name) : module.reads_before(side->name)) {
      const auto point = module.find(other);
      if (!point || is_plain(*point) || point->effect.order == MemoryOrder::kVolatile ||
          wire::includes(point->effect.scope, scope())) {
        continue;
      }
      Edit edit = at_copies(*point, ptx::ChangeScope{.scope = scope()});
      edit.before = point->instruction;
      edit.after = with_scope(*point);
      if (std::ranges::find(edits, edit) == edits.end()) {
        edits.push_back(std::move(edit));
      }
    }
  }

  [[nodiscard]] std::string with_scope(const CodePoint& point) const {
    std::string text = point.instruction;
    const std::string word = "." + std::string(ptx::word_of(point.effect.scope));
    const std::size_t at = text.find(word);
    return at == std::string::npos
               ? fmt::format("{} of scope {}", text, ptx::word_of(scope()))
               : text.replace(at, word.size(), "." + std::string(ptx::word_of(scope())));
  }

  void add_order_of(const std::string& name, MemoryOrder order, std::string reason) {
    if (const auto point = find(name)) {
      add({change(*point, stronger(*point, order))}, std::move(reason));
    }
  }

  // Both accesses atomic: what makes a pair legal that is no hand-over of anything else.
  void add_strong_pair() {
    std::vector<Edit> edits;
    for (const std::string& side : {lack_.first, lack_.second}) {
      const auto point = find(side);
      const bool is_weak =
          point && (is_plain(*point) || point->effect.order == MemoryOrder::kVolatile);
      if (is_weak) {
        edits.push_back(change(*point, MemoryOrder::kRelaxed));
      }
    }
    add(std::move(edits), "both accesses are atomic");
  }

  void add_unsynchronised() {
    const auto first = find(lack_.first);
    const auto second = find(lack_.second);
    if (!first || !second || lack_.are_updates || lack_.first == lack_.second) {
      return;
    }
    const auto is_atomic = [](const CodePoint& point) {
      return point.effect.opcode_class == OpcodeClass::kAtomic ||
             point.effect.opcode_class == OpcodeClass::kReduction;
    };
    if (lack_.kind != RaceKind::kInterBlock) {
      add_barriers(lack_.first, lack_.second);
    }
    if (is_atomic(*first) != is_atomic(*second) && lack_.kind == RaceKind::kInterBlock) {
      add_strong_pair();
      return;
    }
    if (first->is_in_poll || second->is_in_poll) {
      add_flag_pair(*first, *second);
    }
    add_guesses();
    if (lack_.kind == RaceKind::kInterBlock && scope() == Scope::kCluster && with_barriers_) {
      add_gaps(lack_.first, lack_.second, ptx::SyncKind::kClusterBarrier);
    }
  }

  // A flag by plain accesses that a loop polls.
  void add_flag_pair(const CodePoint& first, const CodePoint& second) {
    const CodePoint& poll = first.is_in_poll ? first : second;
    const CodePoint& flag = first.is_in_poll ? second : first;
    if (poll.effect.opcode_class != OpcodeClass::kLoad ||
        flag.effect.opcode_class != OpcodeClass::kStore) {
      return;
    }
    add({change(flag, MemoryOrder::kRelease), change(poll, MemoryOrder::kAcquire)},
        "the flag's store releases and its poll acquires");
    if (auto behind = fence_behind(poll.name)) {
      add({fence_before(flag), change(flag, MemoryOrder::kRelaxed),
           change(poll, MemoryOrder::kRelaxed), std::move(*behind)},
          "a relaxed flag with fences");
    }
  }

  // The detector saw no hand-over between the two; where the code has what could be one, fences may
  // make it one.
  void add_guesses() {
    const auto first = find(lack_.first);
    const auto second = find(lack_.second);
    if (!first || !second) {
      return;
    }
    std::size_t flags = 0;
    const CodeView& module = module_of(first->name);
    for (const StatementName& write : module.writes_behind(first->name)) {
      const auto flag = module.find(write);
      if (!flag || ++flags > kMostFlags) {
        continue;
      }
      std::vector<Edit> edits = {fence_before(*flag)};
      make_strong(edits, *flag);
      add_acquires(edits, true);
    }
  }

  void add_barriers(const std::string& from, const std::string& to) {
    const bool is_of_warp = lack_.kind == RaceKind::kIntraWarp;
    if (is_of_warp || (lack_.kind == RaceKind::kIntraBlock && with_barriers_)) {
      add_gaps(from, to, is_of_warp ? ptx::SyncKind::kWarpBarrier : ptx::SyncKind::kBlockBarrier);
    }
  }

  // One barrier; and in a loop, where each of the two follows the other, one on each way.
  void add_gaps(const std::string& from, const std::string& to, ptx::SyncKind kind) {
    const std::vector<Edit> there = barriers_between(from, to, kind);
    const std::vector<Edit> back = barriers_between(to, from, kind);
    constexpr const char* kReason = "a barrier between the two accesses";
    for (const std::vector<Edit>* const one : {&there, &back}) {
      for (const Edit& edit : *one) {
        add({edit}, kReason);
      }
    }
    for (const Edit& edit : there) {
      for (const Edit& other : back) {
        if (made_.size() < kMostCandidates && !(edit == other)) {
          add({edit, other}, kReason);
        }
      }
    }
  }

  [[nodiscard]] std::vector<Edit> barriers_between(const std::string& from, const std::string& to,
                                                   ptx::SyncKind kind) const {
    const auto first = find(from);
    const auto second = find(to);
    std::vector<Edit> edits;
    if (!first || !second) {
      return edits;
    }
    for (const Gap& gap : module_of(first->name).gaps_between(first->name, second->name)) {
      // Lanes may meet in a branch that a warp has to itself; whether they do, runs show.
      if ((kind == ptx::SyncKind::kWarpBarrier || gap.is_for_all) && edits.size() < kMostGaps) {
        edits.push_back(at_gap(gap, ptx::InsertSync{.kind = kind, .is_before = gap.is_before},
                               barrier_name(kind)));
      }
    }
    return edits;
  }

  static std::string barrier_name(ptx::SyncKind kind) {
    const std::string_view text = ptx::text_of(kind);
    return std::string(text.substr(0, text.find(';')));
  }

  void add_waits(ptx::SyncKind kind, const std::string& reason) {
    if (const auto second = find(lack_.second)) {
      Edit edit = at_copies(*second, ptx::InsertSync{.kind = kind, .is_before = true});
      edit.is_line_before = true;
      edit.after = barrier_name(kind);
      add({edit}, reason);
    }
    if (const auto first = find(lack_.first)) {
      Edit edit = at_copies(*first, ptx::InsertSync{.kind = kind, .is_before = false});
      edit.after = barrier_name(kind);
      add({edit}, reason);
    }
  }

  void add_copy_waits() {
    const auto first = find(lack_.first);
    const auto second = find(lack_.second);
    const auto is_own_group = [](const std::optional<CodePoint>& point) {
      return point && point->effect.asynchrony == wire::Asynchrony::kThreadGroup;
    };
    if (!is_own_group(first) && !is_own_group(second)) {
      return;
    }
    add_waits(ptx::SyncKind::kCopies, "waits for the thread's copies");
    // Other threads' copies: their wait, and a barrier behind it.
    if (lack_.kind == RaceKind::kIntraBlock && with_barriers_) {
      for (const std::string& sync : {lack_.second_sync, lack_.first_sync}) {
        const auto barrier = find(sync);
        if (barrier && barrier->effect.opcode_class == OpcodeClass::kBarrier) {
          Edit edit = at_copies(*barrier,
                                ptx::InsertSync{.kind = ptx::SyncKind::kCopies, .is_before = true});
          edit.is_line_before = true;
          edit.after = barrier_name(ptx::SyncKind::kCopies);
          add({edit}, "waits for the thread's copies before the barrier");
        }
      }
    }
  }

  const report::Lack& lack_;
  const ProgramCode& code_;
  bool with_barriers_;
  std::vector<Candidate> made_;
};

}  // namespace

const CodeView* ProgramCode::module_of(const StatementName& name) const {
  const auto found = std::ranges::find_if(
      modules_, [&](const CodeView& module) { return module.find(name).has_value(); });
  return found == modules_.end() ? nullptr : &*found;
}

const CodeView* ProgramCode::module_of(const std::string& name) const {
  const auto at = ptx::parse_statement_name(name);
  return at ? module_of(*at) : nullptr;
}

std::vector<Candidate> candidates_for(const report::Lack& lack, const ProgramCode& code,
                                      bool with_barriers) {
  return Table(lack, code, with_barriers).make();
}

std::string why_no_candidates(const report::Lack& lack) {
  switch (lack.kind) {
    case RaceKind::kInterKernel:
    case RaceKind::kKernelCopy:
    case RaceKind::kUseAfterFree:
    case RaceKind::kUseBeforeAllocation:
      return "the host's code has to order it: a stream, an event or a synchronisation";
    case RaceKind::kInterBlock:
    case RaceKind::kIntraBlock:
    case RaceKind::kIntraWarp:
    case RaceKind::kBranchOrdering:
      break;
  }
  if (lack.are_updates || lack.first == lack.second) {
    return "it needs atomics, not a fence: atomicAdd() or another for the whole update, if it is a "
           "counter";
  }
  if (lack.missing == MissingOrder::kMixedSize) {
    return "it needs one size of access at both places";
  }
  if (lack.missing == MissingOrder::kLockNotTaken) {
    return "it needs to wait until the lock is taken";
  }
  if (lack.missing == MissingOrder::kAfterRelease || lack.missing == MissingOrder::kAfterArrival) {
    return "it needs the access before the hand-over, not a fence";
  }
  const bool is_of_arrivals = lack.missing == MissingOrder::kArrivalDoesNotWait ||
                              lack.missing == MissingOrder::kWrongPhase ||
                              lack.missing == MissingOrder::kArrivalRelaxed ||
                              lack.missing == MissingOrder::kAsyncWaitMissing;
  return is_of_arrivals ? "it needs another arrival or wait, which is no change of a fence"
                        : "it needs an algorithm, not a fence";
}

}  // namespace barracuda::weak_memory
