#include "report/missing_order.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/strong_id.h"
#include "report/bug.h"
#include "report/python_name.h"
#include "report/race_sites.h"
#include "report/remedies.h"
#include "report/unordered_threads.h"

namespace barracuda::report {
namespace {

// As CUDA C++ has it (thread_scope_block), and PTX.
const char* name_of(wire::Scope scope) {
  switch (scope) {
    case wire::Scope::kCta:
      return "block scope (.cta)";
    case wire::Scope::kCluster:
      return "cluster scope (.cluster)";
    case wire::Scope::kGpu:
      return "device scope (.gpu)";
    case wire::Scope::kSys:
      return "system scope (.sys)";
  }
  return "";
}

std::string side_name(const Access& access) {
  return access.operation == AccessOperation::kConstants ? "the launch of the kernel"
         : access.is_by_host ? fmt::format("the {}", name_of(access.operation))
                             : fmt::format("launch {}", access.launch);
}

std::string order_streams(const Access& first, const Access& second) {
  const bool is_numba = is_numba_name(first.kernel) || is_numba_name(second.kernel);
  return fmt::format(
      ": both belong on one stream, or the stream of the later one waits for an event behind the "
      "earlier one ({})",
      event_names(is_numba));
}

// A stream orders its own work, but for the nodes of a graph.
std::string nodes_of_graph(const Access& first, const Access& second) {
  return fmt::format(
      "{} and {} are nodes of a graph with no way from one to the other: a dependency between them "
      "is missing",
      side_name(first), side_name(second));
}

std::string between_host_and_kernel(const Access& first, const Access& second) {
  return fmt::format("no stream order, event or synchronisation between {} and {}{}",
                     side_name(first),
                     second.is_by_host && first.is_by_host && first.operation == second.operation
                         ? "the other"
                         : side_name(second),
                     order_streams(first, second));
}

// One race, and the words for what it lacks.
class Clause {
 public:
  Clause(const detector::RaceEvent& race, const ptx::SiteTable& sites, const Access& first,
         const Access& second, const LoopRounds& rounds, const std::optional<AwaitedFlag>& flag)
      : race_(race),
        sites_(race, sites),
        first_(first),
        second_(second),
        rounds_(rounds),
        flag_(flag),
        names_(names_for(second)) {}

  // Triton 3.6 leaves it out between cp.async and wgmma (triton-lang/triton, pull 9610), where a
  // kernel's author cannot put it; 3.9 does not.
  [[nodiscard]] std::string proxy_fence() const {
    return names_.are_of_triton
               ? "fence.proxy.async is missing, which Triton's compiler has to put "
                 "there: versions from 3.7 on do"
               : "fence.proxy.async is missing";
  }

  [[nodiscard]] std::string asynchronous_wait() const {
    const ptx::Site* const site = sites_.find(race_.first.site);
    if (site != nullptr && site->info.asynchrony == wire::Asynchrony::kUnwaited) {
      return "the asynchronous store or reduction is over at no time that its thread can know: "
             "only who sees its value by an acquire knows it, else an ordinary one is needed";
    }
    if (site != nullptr && site->info.asynchrony == wire::Asynchrony::kTensorCore) {
      return fmt::format(
          "the {} is not waited for: before the access a wait is missing for the phase of an "
          "mbarrier at which a later tcgen05.commit of the same thread arrives",
          first_.instruction.starts_with("tcgen05.cp") ? "tcgen05.cp" : "tcgen05.mma");
    }
    if (sites_.is_product(race_.first.site)) {
      return "the wgmma is not waited for: wgmma.wait_group is missing, or leaves its group "
             "pending";
    }
    if (race_.first.site == race_.second.site && site != nullptr && site->loops.empty() &&
        !is_by_one_thread()) {
      return nothing_orders();  // each has begun its copy before it could wait for the other's
    }
    const bool has_waited = second_.last_sync.starts_with("mbarrier.test_wait") ||
                            second_.last_sync.starts_with("mbarrier.try_wait");
    const bool is_of_thread =
        site != nullptr && site->info.asynchrony == wire::Asynchrony::kThreadGroup;
    if (has_waited && is_of_thread) {
      return wait_at_mbarrier();
    }
    if (is_of_thread && !is_by_one_thread()) {
      return wait_of_another_thread();
    }
    const std::string_view copy = first_.instruction;
    if (has_waited && copy.find("mbarrier") != copy.npos) {
      return wait_for_another_phase();
    }
    const std::string wait =
        copy.find("mbarrier") != copy.npos     ? "a wait for the mbarrier that it completes on"
        : copy.find("bulk_group") != copy.npos ? "cp.async.bulk.wait_group"
        : copy.starts_with("cp.async.")
            ? "__pipeline_wait_prior() (cp.async.wait_group), or a wait for its mbarrier,"
            : "";
    return "the asynchronous copy is not waited for" +
           (wait.empty() ? "" : fmt::format(": {} is missing before the access", wait));
  }

  // For a phase that copies of threads hold up only if their threads say so.
  [[nodiscard]] std::string wait_at_mbarrier() const {
    if (sites_.has_arrival_of_copies()) {
      return wait_for_another_phase();
    }
    return fmt::format(
        "the asynchronous copy is not waited for: the wait{} is for an arrival that the copy does "
        "not hold up. __pipeline_arrive_on() (cp.async.mbarrier.arrive) is missing, or "
        "__pipeline_wait_prior() (cp.async.wait_group) before the arrival",
        place_text(second_.last_sync_place));
  }

  // Who has waited may read what was there before, or have waited for the wrong phase.
  [[nodiscard]] std::string wait_for_another_phase() const {
    return fmt::format(
        "the asynchronous copy is not waited for: the wait{} is for another phase or mbarrier. "
        "Either the {} is of what was there before, and a wait before the copy is missing, for an "
        "mbarrier at which warp {} arrives once its {} is over; or it is of the copy, and a wait "
        "for the mbarrier that the copy completes on is missing before the {}",
        place_text(second_.last_sync_place), verb_of(second_), second_.warp, verb_of(second_),
        verb_of(second_));
  }

  // Each thread waits for the copies that it has begun itself, and a barrier hands them on.
  [[nodiscard]] std::string wait_of_another_thread() const {
    const std::string barrier =
        race_.kind == detector::RaceKind::kIntraWarp ? names_.warp_barrier : names_.block_barrier;
    if (!second_.last_sync.starts_with("cp.async.wait")) {
      return fmt::format(
          "the asynchronous copy is not waited for: __pipeline_wait_prior() (cp.async.wait_group) "
          "by the thread that copies and then {}, or a wait for its mbarrier, is missing before "
          "the access",
          barrier);
    }
    return fmt::format(
        "the wait{} is for each thread's own copies: {} is missing between the wait for the "
        "asynchronous copy and the other thread's access",
        place_text(second_.last_sync_place), barrier);
  }

  // What passes data in steps through shared memory, as the reduction of a warp does that counts on
  // lockstep, wants a barrier between two steps; who waits in a loop for a flag would wait for ever
  // behind one, and so would who is in a loop that others have left. In global memory threads look
  // at each other's volatile data (colours of a graph, say) whenever they like, unless it is such a
  // sum.
  [[nodiscard]] std::string volatile_pair() const {
    const bool are_steps =
        (race_.second.space == wire::AddressSpace::kShared || sites_.are_steps_of_warp()) &&
        race_.first.site != race_.second.site && !sites_.is_flag(race_.first.site) &&
        !sites_.is_flag(race_.second.site) && !sites_.may_be_awaited();
    if (are_steps && race_.kind == detector::RaceKind::kIntraWarp) {
      return fmt::format(
          "volatile does not order lanes of one warp, which need not run in lockstep: {} is "
          "missing",
          names_.warp_barrier);
    }
    if (are_steps && race_.kind == detector::RaceKind::kIntraBlock && !rounds_.is_uneven) {
      return fmt::format("volatile does not order two warps of one block: {} is missing",
                         names_.block_barrier);
    }
    return "volatile accesses are no synchronisation in CUDA C++: atomic ones are needed "
           "(cuda::atomic_ref)";
  }

  [[nodiscard]] std::string nothing_orders() const {
    switch (race_.kind) {
      case detector::RaceKind::kInterBlock:
      case detector::RaceKind::kIntraBlock:
      case detector::RaceKind::kIntraWarp:
        return unordered_threads(race_, sites_, first_, second_, rounds_, flag_);
      case detector::RaceKind::kBranchOrdering:
        return "two branches of one warp: nothing orders one before the other";
      case detector::RaceKind::kInterKernel:
        return between_launches();
      case detector::RaceKind::kKernelCopy:
        return first_.stream == second_.stream ? nodes_of_graph(first_, second_)
                                               : between_host_and_kernel(first_, second_);
      case detector::RaceKind::kUseAfterFree:
      case detector::RaceKind::kUseBeforeAllocation:
        return between_host_and_kernel(first_, second_);
      case detector::RaceKind::kUseAfterExit:
        return "a block may exit while another one still uses its shared memory: cluster.sync() "
               "is missing in all blocks of the cluster, after the last use and before the exit";
    }
    return "";
  }

  [[nodiscard]] std::string between_launches() const {
    const ptx::Site* const poll = sites_.poll_before(race_.second);
    return (first_.stream == second_.stream
                ? nodes_of_graph(first_, second_)
                : fmt::format(
                      "no stream order, event or synchronisation between launch {} and launch {}{}",
                      first_.launch, second_.launch, order_streams(first_, second_))) +
           (poll == nullptr
                ? ""
                : fmt::format("; or, if launch {} waits{} for what launch {} stores then, {} is "
                              "missing before that store",
                              second_.launch, place_at(*poll), first_.launch, names_.fence));
  }

  [[nodiscard]] std::string release_fence() const {
    return fmt::format(
        "the {} is published without a fence: {} is missing before the flag or lock is written{}",
        verb_of(first_), names_.fence, at());
  }

  [[nodiscard]] std::string acquire_fence() const {
    return fmt::format(
        "the second thread saw the flag or lock, but no fence follows: {} is missing between that "
        "and its access",
        names_.fence);
  }

  [[nodiscard]] std::string both_fences() const {
    return both_fences_missing(first_, names_, at());
  }

  [[nodiscard]] std::string link_fence() const {
    return fmt::format(
        "a third thread hands on what it saw without a fence: {} is missing before its write{}",
        names_.fence, at());
  }

  // With the fence that has it, where that has a name.
  [[nodiscard]] std::string needed_scope() const {
    const char* const fence = race_.needed_scope == wire::Scope::kGpu   ? names_.fence
                              : race_.needed_scope == wire::Scope::kSys ? names_.system_fence
                                                                        : nullptr;
    return fence == nullptr ? name_of(race_.needed_scope)
                            : fmt::format("{}, as {} has,", name_of(race_.needed_scope), fence);
  }

  // A fence's, or that of the flag's write or read.
  [[nodiscard]] std::string scope_too_narrow() const {
    const auto reads = sites_.narrow_fence(race_.second.last_sync == detector::LastSync::kKnown
                                               ? &race_.second.last_sync_site
                                               : nullptr);
    const ptx::Site* const site = sites_.about();
    if (site != nullptr && site->info.operation != wire::Operation::kFence) {
      return fmt::format("the flag's or lock's {}{} has {}, which is too narrow: {} is needed",
                         site->info.operation == wire::Operation::kRead ? "read" : "write", at(),
                         name_of(site->info.scope), name_of(race_.needed_scope));
    }
    const std::string needed = needed_scope();
    const auto writes = sites_.narrow_fence(race_.about ? &*race_.about : nullptr);
    if (!writes && !reads) {
      return fmt::format("the fence's scope is too narrow: {} is needed", needed);
    }
    const ptx::Site& fence = writes ? *writes : *reads;
    const bool are_two = writes && reads && writes->id != reads->id;
    return are_two
               ? fmt::format(
                     "the scope of two fences is too narrow ({}{} and {}{}): {} is needed in both",
                     name_of(fence.info.scope), place_at(fence), name_of(reads->info.scope),
                     place_at(*reads), needed)
               : fmt::format("the fence{} has {}, which is too narrow: {} is needed",
                             place_at(fence), name_of(fence.info.scope), needed);
  }

  [[nodiscard]] std::string atomic_scope_too_narrow() const {
    std::string scopes;
    for (const detector::AccessSite id : {race_.first.site, race_.second.site}) {
      const ptx::Site* const site = sites_.find(id);
      if (site != nullptr && site->info.order != wire::MemoryOrder::kWeak &&
          !includes(site->info.scope, race_.needed_scope)) {
        scopes = fmt::format(", {},", name_of(site->info.scope));
      }
    }
    return fmt::format("the atomic's scope{} is too narrow: {} is needed", scopes,
                       name_of(race_.needed_scope));
  }

  [[nodiscard]] std::string warp_mask() const {
    return fmt::format(
        "the mask of the warp barrier{} ({}, or that of a tile or group) leaves lane {} out: a "
        "barrier for both lanes is needed",
        at(), names_.warp_barrier, first_.lane);
  }

  [[nodiscard]] std::string barrier_leaves_out() const {
    return fmt::format(
        "the barrier{} is for some warps of the block only: one that both warp {} and warp {} wait "
        "at is missing",
        at(), first_.warp, second_.warp);
  }

  [[nodiscard]] std::string named_barrier() const {
    return fmt::format(
        "warp {} and warp {} meet at barriers of their own: one more of the kind{} is missing "
        "between the accesses",
        first_.warp, second_.warp, at());
  }

  [[nodiscard]] std::string after_release() const {
    if (const ptx::Site* const arrival = sites_.library_arrival()) {
      return does_not_wait(place_at(*arrival));
    }
    const ptx::Site* const release = sites_.about();
    if (release != nullptr && is_of_library_barrier(*release)) {
      return fmt::format(
          "the barrier{} orders what comes before it, and the {} comes after: one more is missing "
          "between the two accesses",
          at(), verb_of(first_));
    }
    return fmt::format(
        "the {} comes after the release{} that the other thread saw: it must come before",
        verb_of(first_), at());
  }

  [[nodiscard]] std::string block_barrier() const {
    return fmt::format(
        "the flag or lock is written{} by another thread of {}, which nothing orders behind the "
        "{}: {} is missing between the two, where all threads of the block come by",
        at(), block_name(first_), verb_of(first_), names_.block_barrier);
  }

  // The arrival that says how many bytes a copy brings is over when these have come: behind it and
  // before the copy a wait would be one for ever.
  [[nodiscard]] std::string arrival() const {
    const ptx::Site* const site = sites_.about();
    const bool is_of_the_copy = site != nullptr && sites_.is_load_of_shared(race_.second) &&
                                site->instruction.find(".expect_tx") != std::string::npos;
    return is_of_the_copy ? nothing_orders() : does_not_wait(at());
  }

  static std::string does_not_wait(const std::string& place) {
    return fmt::format(
        "the arrival{} does not wait: a wait is missing before the access that follows", place);
  }

  [[nodiscard]] std::string after_arrival() const {
    return fmt::format(
        "the {} comes after the arrival{} that the other thread waited for: it must come before",
        verb_of(first_), at());
  }

  [[nodiscard]] std::string wrong_phase() const {
    return fmt::format(
        "the wait{} is for an earlier phase than that of the arrival after the {}: the right phase "
        "must be waited for",
        at(), verb_of(first_));
  }

  [[nodiscard]] std::string at() const {
    const ptx::Site* const site = sites_.about();
    return site != nullptr ? place_at(*site) : "";
  }

 private:
  [[nodiscard]] bool is_by_one_thread() const {
    return first_.block == second_.block && first_.thread == second_.thread;
  }

  const detector::RaceEvent& race_;
  RaceSites sites_;
  const Access& first_;
  const Access& second_;
  const LoopRounds& rounds_;
  const std::optional<AwaitedFlag>& flag_;
  const RemedyNames& names_;
};

}  // namespace

std::string block_name(const Access& access) {
  if (access.block[1] == 0 && access.block[2] == 0) {
    return fmt::format("block {}", access.block[0]);
  }
  return fmt::format("block [{},{},{}]", access.block[0], access.block[1], access.block[2]);
}

std::string missing_order(const detector::RaceEvent& race, const ptx::SiteTable& sites,
                          const Access& first, const Access& second, const LoopRounds& rounds,
                          const std::optional<AwaitedFlag>& flag) {
  using detector::MissingOrder;
  const Clause clause(race, sites, first, second, rounds, flag);
  switch (race.missing) {
    case MissingOrder::kNoSynchronisation:
      return clause.nothing_orders();
    case MissingOrder::kScopeTooNarrow:
      return clause.scope_too_narrow();
    case MissingOrder::kReleaseFenceMissing:
      return clause.release_fence();
    case MissingOrder::kAcquireFenceMissing:
      return clause.acquire_fence();
    case MissingOrder::kFencesMissing:
      return clause.both_fences();
    case MissingOrder::kLinkFenceMissing:
      return clause.link_fence();
    case MissingOrder::kAfterRelease:
      return clause.after_release();
    case MissingOrder::kBlockBarrierMissing:
      return clause.block_barrier();
    case MissingOrder::kPollTooWeak:
      return "the flag is read by a plain load" + clause.at() +
             ": an atomic or volatile one is needed";
    case MissingOrder::kFlagTooWeak:
      return "the flag is written by a plain store" + clause.at() +
             ": an atomic or volatile one is needed";
    case MissingOrder::kLockNotTaken:
      return "the compare-and-swap" + clause.at() +
             " failed, another thread holds the lock: the access must wait until it succeeds";
    case MissingOrder::kVolatileFlag:
      return clause.volatile_pair();
    case MissingOrder::kEqualValues:
      return "both stored the same value, equal in this run: it is a race wherever the values "
             "differ, so one thread alone should store it";
    case MissingOrder::kAtomicScopeTooNarrow:
      return clause.atomic_scope_too_narrow();
    case MissingOrder::kMixedSize:
      return "atomic or volatile accesses of different sizes overlap in part: one size is needed";
    case MissingOrder::kProxyFenceMissing:
      return clause.proxy_fence();
    case MissingOrder::kMapFenceMissing:
      return "the change of the tensor map is not handed to the copies by it: "
             "fence.proxy.tensormap::generic.release after the change, and .acquire before the "
             "copy, are needed";
    case MissingOrder::kAsyncWaitMissing:
      return clause.asynchronous_wait();
    case MissingOrder::kWarpMaskTooNarrow:
      return clause.warp_mask();
    case MissingOrder::kBarrierLeavesOut:
      return clause.barrier_leaves_out();
    case MissingOrder::kNamedBarrierMissing:
      return clause.named_barrier();
    case MissingOrder::kArrivalDoesNotWait:
      return clause.arrival();
    case MissingOrder::kAfterArrival:
      return clause.after_arrival();
    case MissingOrder::kArrivalRelaxed:
      return "the arrival" + clause.at() +
             " is relaxed and releases nothing: one that releases is "
             "needed";
    case MissingOrder::kWrongPhase:
      return clause.wrong_phase();
    case MissingOrder::kGridWaitMissing:
      return fmt::format(
          "launch {} may begin before launch {} is over: cudaGridDependencySynchronize() "
          "(griddepcontrol.wait), by each thread for itself, is missing before the access",
          second.launch, first.launch);
    case MissingOrder::kSpeculatedRead:
      return "all lanes read what only some use: the compiler speculated the load. It is harmless "
             "if no lane that uses the value is meant; otherwise nothing orders the two accesses";
    case MissingOrder::kReadOnlyPath:
      return "a read through the read-only path (ld.global.nc, __ldg, a texture) need not see what "
             "its own kernel writes: an ordinary load is needed, whatever synchronisation lies "
             "between";
    case MissingOrder::kSurfaceBlocks:
      return "nothing within a kernel orders the surface accesses of two blocks, whatever "
             "synchronisation lies between: they belong in two launches, one after the other";
  }
  return "";
}

}  // namespace barracuda::report
