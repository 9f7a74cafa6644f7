#include "weak_memory/repair/candidates.h"

#include <algorithm>
#include <optional>
#include <utility>

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

bool is_fence(const CodePoint& point) {
  return point.effect.opcode_class == OpcodeClass::kFence;
}

// An access of a scope; a fence, too.
bool is_strong(const CodePoint& point) {
  return !is_plain(point) && point.effect.order != MemoryOrder::kVolatile;
}

class Table {
 public:
  Table(const report::Lack& lack, const ProgramCode& code, bool with_barriers)
      : lack_(lack), code_(code), edits_(code, lack.scope), with_barriers_(with_barriers) {}

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
        add_volatile();
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
          const auto point = code_.find(side);
          if (point && point->effect.proxy == wire::Proxy::kReadOnly &&
              point->effect.opcode_class == ptx::OpcodeClass::kLoad) {
            add({edits_.with_order(*point, MemoryOrder::kWeak)}, "the load is an ordinary one");
          }
        }
        break;
      case MissingOrder::kArrivalRelaxed:
        if (const auto arrival = code_.find(lack_.about)) {
          add({edits_.fence_before(*arrival)},
              "a fence before the arrival, which releases nothing itself");
        }
        break;
      case MissingOrder::kSurfaceBlocks:
      case MissingOrder::kAfterRelease:
      case MissingOrder::kBlockBarrierMissing:
      case MissingOrder::kLockNotTaken:
      case MissingOrder::kEqualValues:
      case MissingOrder::kMixedSize:
      case MissingOrder::kArrivalDoesNotWait:
      case MissingOrder::kAfterArrival:
      case MissingOrder::kWrongPhase:
      case MissingOrder::kSpeculatedRead:
      case MissingOrder::kMapFenceMissing:
        break;
    }
    return std::move(made_);
  }

 private:
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

  // A plain flag is no synchronisation in PTX, even where fences stand around it: it becomes a
  // relaxed one with them.
  void make_strong(std::vector<Edit>& edits, const CodePoint& flag) const {
    if (is_plain(flag)) {
      edits.push_back(edits_.with_order(flag, MemoryOrder::kRelaxed));
    }
  }

  // Where the second thread saw the flag: a fence behind each read that may have been it.
  void add_acquires(const std::vector<Edit>& with, bool is_guess) {
    const auto second = code_.find(lack_.second);
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
      if (auto edit = edits_.fence_behind(read); edit && point) {
        std::vector<Edit> edits = {std::move(*edit)};
        make_strong(edits, *point);
        add_with(std::move(edits), fenced);
      }
    }
    if (!is_guess) {
      add_with({edits_.fence_before(*second)}, "a fence before the access");
    }
    for (const StatementName& read : reads) {
      if (const auto point = module.find(read)) {
        add_with({edits_.with_stronger_order(*point, MemoryOrder::kAcquire)},
                 "the read of the flag or lock acquires");
      }
    }
  }

  // Who polls by an atomic writes as well; what the others wait for was written before that loop.
  [[nodiscard]] CodePoint published(const CodePoint& flag) const {
    const auto first = code_.find(lack_.first);
    if (!flag.is_in_poll || !first) {
      return flag;
    }
    const CodeView& module = module_of(first->name);
    for (const StatementName& write : module.writes_behind(first->name)) {
      const auto point = module.find(write);
      if (point && is_strong(*point) && !point->is_in_poll) {
        return *point;
      }
    }
    return flag;
  }

  void add_releases(bool with_acquires) {
    const auto about = code_.find(lack_.about);
    if (!about) {
      add_guesses();
      return;
    }
    const CodePoint flag = published(*about);
    std::vector<Edit> fences = {edits_.fence_before(flag)};
    make_strong(fences, flag);
    std::vector<Edit> released = {edits_.with_stronger_order(flag, MemoryOrder::kRelease)};
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
      const auto point = code_.find(name);
      const bool is_scoped = point && (is_fence(*point) || is_strong(*point));
      if (is_scoped) {
        widen(*point, edits);
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

  // Unless the scope is wide enough.
  void widen(const CodePoint& point, std::vector<Edit>& edits) const {
    if (wire::includes(point.effect.scope, lack_.scope)) {
      return;
    }
    Edit edit = edits_.with_scope(point);
    if (std::ranges::find(edits, edit) == edits.end()) {
      edits.push_back(std::move(edit));
    }
  }

  // Strong accesses that the one side may have handed over with.
  void add_narrow_around(const std::string& name, bool is_behind, std::vector<Edit>& edits) const {
    const auto side = code_.find(name);
    if (!side) {
      return;
    }
    const CodeView& module = module_of(side->name);
    for (const StatementName& other :
         is_behind ? module.writes_behind(side->name) : module.reads_before(side->name)) {
      const auto point = module.find(other);
      if (point && is_strong(*point)) {
        widen(*point, edits);
      }
    }
  }

  void add_order_of(const std::string& name, MemoryOrder order, std::string reason) {
    if (const auto point = code_.find(name)) {
      add({edits_.with_stronger_order(*point, order)}, std::move(reason));
    }
  }

  // Both accesses atomic: what makes a pair legal that is no hand-over of anything else.
  void add_strong_pair() {
    std::vector<Edit> edits;
    for (const std::string& side : {lack_.first, lack_.second}) {
      const auto point = code_.find(side);
      if (point && !is_strong(*point)) {
        edits.push_back(edits_.with_order(*point, MemoryOrder::kRelaxed));
      }
    }
    add(std::move(edits), "both accesses are atomic");
  }

  // Steps want a barrier between them; who polls a flag would wait behind one for ever.
  void add_volatile() {
    const auto first = code_.find(lack_.first);
    const auto second = code_.find(lack_.second);
    if (first && second && !first->is_in_poll && !second->is_in_poll) {
      add_barriers(lack_.first, lack_.second);
    }
    add_strong_pair();
  }

  void add_unsynchronised() {
    const auto first = code_.find(lack_.first);
    const auto second = code_.find(lack_.second);
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
    if (lack_.kind == RaceKind::kInterBlock && lack_.scope == Scope::kCluster && with_barriers_) {
      add_gaps(lack_.first, lack_.second, ptx::SyncKind::kClusterBarrier);
    }
  }

  // A flag by plain accesses that a loop polls. The report cannot know that it is one.
  void add_flag_pair(const CodePoint& first, const CodePoint& second) {
    const CodePoint& poll = first.is_in_poll ? first : second;
    const CodePoint& flag = first.is_in_poll ? second : first;
    if (poll.effect.opcode_class != OpcodeClass::kLoad ||
        flag.effect.opcode_class != OpcodeClass::kStore) {
      return;
    }
    add({edits_.with_order(flag, MemoryOrder::kRelease),
         edits_.with_order(poll, MemoryOrder::kAcquire)},
        "the flag's store releases and its poll acquires", true);
    if (auto behind = edits_.fence_behind(poll.name)) {
      add({edits_.fence_before(flag), edits_.with_order(flag, MemoryOrder::kRelaxed),
           edits_.with_order(poll, MemoryOrder::kRelaxed), std::move(*behind)},
          "a relaxed flag with fences", true);
    }
  }

  // The detector saw no hand-over between the two; where the code has what could be one, fences may
  // make it one.
  void add_guesses() {
    const auto first = code_.find(lack_.first);
    const auto second = code_.find(lack_.second);
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
      std::vector<Edit> edits = {edits_.fence_before(*flag)};
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
    if (there.empty() && back.empty() && kind == ptx::SyncKind::kWarpBarrier) {
      add_on_two_ways(from, to);
      add_on_two_ways(to, from);
    }
  }

  // Lanes on two ways of a branch wait for each other, each on its own.
  void add_on_two_ways(const std::string& from, const std::string& to) {
    const auto first = code_.find(from);
    const auto second = code_.find(to);
    if (first && second) {
      add({edits_.with_sync(*first, ptx::SyncKind::kWarpBarrier, false),
           edits_.with_sync(*second, ptx::SyncKind::kWarpBarrier, true)},
          "a barrier on each way of the branch");
    }
  }

  // Of a barrier that lies between already.
  [[nodiscard]] bool is_too_little(ptx::SyncKind kind) const {
    return kind == ptx::SyncKind::kClusterBarrier ||
           lack_.missing == MissingOrder::kNamedBarrierMissing ||
           lack_.missing == MissingOrder::kBarrierLeavesOut;
  }

  [[nodiscard]] std::vector<Edit> barriers_between(const std::string& from, const std::string& to,
                                                   ptx::SyncKind kind) const {
    const auto first = code_.find(from);
    const auto second = code_.find(to);
    std::vector<Edit> edits;
    if (!first || !second) {
      return edits;
    }
    for (const Gap& gap :
         module_of(first->name).gaps_between(first->name, second->name, is_too_little(kind))) {
      // Lanes may meet in a branch that a warp has to itself; whether they do, runs show.
      if (kind == ptx::SyncKind::kWarpBarrier || gap.is_for_all) {
        edits.push_back(edits_.with_sync(gap, kind));
      }
    }
    // What is executed least often first: a loop that the compiler has unrolled is copies of a
    // line.
    std::ranges::stable_sort(edits, {}, [this](const Edit& edit) {
      return std::pair(edit.loops, at_whole_line(code_, edit).changes.size());
    });
    edits.resize(std::min(edits.size(), kMostGaps));
    return edits;
  }

  void add_waits(ptx::SyncKind kind, const std::string& reason) {
    if (const auto second = code_.find(lack_.second)) {
      add({edits_.with_sync(*second, kind, true)}, reason);
    }
    if (const auto first = code_.find(lack_.first)) {
      add({edits_.with_sync(*first, kind, false)}, reason);
    }
  }

  void add_copy_waits() {
    const auto first = code_.find(lack_.first);
    const auto second = code_.find(lack_.second);
    const auto is_of = [](const std::optional<CodePoint>& point, wire::Asynchrony how) {
      return point && point->effect.asynchrony == how;
    };
    // Products of another warpgroup: it may have waited for them, but nobody waits for it.
    if (is_of(first, wire::Asynchrony::kMatrixGroup) ||
        is_of(second, wire::Asynchrony::kMatrixGroup)) {
      add_barriers(lack_.first, lack_.second);
      std::ranges::for_each(made_, [](Candidate& each) { each.is_guess = true; });
    }
    if (!is_of(first, wire::Asynchrony::kThreadGroup) &&
        !is_of(second, wire::Asynchrony::kThreadGroup)) {
      return;
    }
    add_waits(ptx::SyncKind::kCopies, "waits for the thread's copies");
    // Other threads' copies: their wait, and a barrier behind it.
    if (lack_.kind == RaceKind::kIntraBlock && with_barriers_) {
      for (const std::string& sync : {lack_.second_sync, lack_.first_sync}) {
        const auto barrier = code_.find(sync);
        if (barrier && barrier->effect.opcode_class == OpcodeClass::kBarrier) {
          add({edits_.with_sync(*barrier, ptx::SyncKind::kCopies, true)},
              "waits for the thread's copies before the barrier");
        }
      }
    }
    // They are waited for, by the thread that began them.
    add_barriers(lack_.first, lack_.second);
  }

  const report::Lack& lack_;
  const ProgramCode& code_;
  CodeEdits edits_;
  bool with_barriers_;
  std::vector<Candidate> made_;
};

}  // namespace

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
    case RaceKind::kUseAfterExit:
      return "a barrier of the cluster is needed before the block exits";
    case RaceKind::kInterBlock:
    case RaceKind::kIntraBlock:
    case RaceKind::kIntraWarp:
    case RaceKind::kBranchOrdering:
      break;
  }
  if (lack.missing == MissingOrder::kMapFenceMissing) {
    return "it needs fence.proxy.tensormap, released after the change and acquired before the copy";
  }
  if (lack.missing == MissingOrder::kEqualValues) {
    return "one thread alone should store it";
  }
  if (lack.are_updates) {
    return "it needs atomics, not a fence: atomicAdd() or another for the whole update, if it is a "
           "counter";
  }
  if (lack.first == lack.second) {
    return "it needs an atomic operation: no fence and no barrier can stand within an instruction";
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
  const bool is_of_barriers = lack.missing == MissingOrder::kBarrierLeavesOut ||
                              lack.missing == MissingOrder::kNamedBarrierMissing ||
                              lack.missing == MissingOrder::kWarpMaskTooNarrow ||
                              lack.kind != RaceKind::kInterBlock;
  const bool is_of_arrivals = lack.missing == MissingOrder::kArrivalDoesNotWait ||
                              lack.missing == MissingOrder::kWrongPhase ||
                              lack.missing == MissingOrder::kAsyncWaitMissing;
  return is_of_arrivals   ? "it needs another arrival or wait, which is no change of a fence"
         : is_of_barriers ? "no barrier can stand between the two accesses as the code is: the "
                            "threads that make "
                            "them do not come to one place in between"
                          : "it needs a hand-over, not a fence: a flag that the one sets and the "
                            "other waits for, a lock that both take, a barrier of the grid, or a "
                            "launch of its own";
}

}  // namespace barracuda::weak_memory
