#include "report/missing_order.h"

#include <string_view>

#include <fmt/format.h>

#include "base/strong_id.h"
#include "report/bug.h"
#include "report/toolkit_path.h"

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

// What the language of the kernel calls the remedies.
struct Names {
  const char *block_barrier, *warp_barrier, *fence, *system_fence, *update;
};

constexpr Names kCuda{.block_barrier = "__syncthreads()",
                      .warp_barrier = "__syncwarp()",
                      .fence = "__threadfence()",
                      .system_fence = "__threadfence_system()",
                      .update = "atomicAdd()"};
constexpr Names kPython{.block_barrier = "cuda.syncthreads()",
                        .warp_barrier = "cuda.syncwarp()",
                        .fence = "cuda.threadfence()",
                        .system_fence = "cuda.threadfence_system()",
                        .update = "cuda.atomic.add()"};

const Names& names_for(const Access& access) {
  return access.place.file.ends_with(".py") ? kPython : kCuda;
}

const char* verb_of(const Access& access) {
  return access.operation == AccessOperation::kRead     ? "read"
         : access.operation == AccessOperation::kAtomic ? "atomic"
                                                        : "write";
}

std::string side_name(const Access& access) {
  return access.operation == AccessOperation::kConstants ? "the launch of the kernel"
         : access.is_by_host ? fmt::format("the {}", name_of(access.operation))
                             : fmt::format("launch {}", access.launch);
}

std::string between_host_and_kernel(const Access& first, const Access& second) {
  return fmt::format("no stream order, event or synchronisation between {} and {}",
                     side_name(first),
                     second.is_by_host && first.is_by_host && first.operation == second.operation
                         ? "the other"
                         : side_name(second));
}

// One race, and the words for what it lacks.
class Clause {
 public:
  Clause(const detector::RaceEvent& race, const ptx::SiteTable& sites, const Access& first,
         const Access& second)
      : race_(race), sites_(sites), first_(first), second_(second), names_(names_for(second)) {}

  [[nodiscard]] std::string asynchronous_wait() const {
    const ptx::Site* const site = find_site(race_.first.site);
    if (site != nullptr && site->info.asynchrony == wire::Asynchrony::kUnwaited) {
      return "the asynchronous store or reduction is over at no time that its thread can know: who "
             "sees its value by an acquire knows it";
    }
    if (is_product(race_.first.site)) {
      return "the wgmma is not waited for: wgmma.wait_group is missing, or leaves its group "
             "pending";
    }
    const std::string_view copy = first_.instruction;
    const std::string wait =
        copy.find("mbarrier") != copy.npos     ? "a wait for the mbarrier that it completes on"
        : copy.find("bulk_group") != copy.npos ? "cp.async.bulk.wait_group"
        : copy.starts_with("cp.async.")
            ? "__pipeline_wait_prior() (cp.async.wait_group), or a wait for its mbarrier,"
            : "";
    return "the asynchronous copy is not waited for" +
           (wait.empty() ? "" : fmt::format(": {} is missing before the access", wait));
  }

  // What passes data in steps through shared memory, as the reduction of a warp does that counts on
  // lockstep, wants a barrier between two steps; who waits in a loop for a flag would wait for ever
  // behind one. In global memory warps look at each other's volatile data (colours of a graph, say)
  // whenever they like.
  [[nodiscard]] std::string volatile_pair() const {
    const bool are_steps = race_.second.space == wire::AddressSpace::kShared &&
                           race_.first.site != race_.second.site && !is_flag(race_.first.site) &&
                           !is_flag(race_.second.site);
    if (are_steps && race_.kind == detector::RaceKind::kIntraWarp) {
      return fmt::format(
          "volatile does not order lanes of one warp, which need not run in lockstep: {} is "
          "missing",
          names_.warp_barrier);
    }
    if (are_steps && race_.kind == detector::RaceKind::kIntraBlock) {
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
        return within_a_launch();
      case detector::RaceKind::kBranchOrdering:
        return "two branches of one warp: nothing orders one before the other";
      case detector::RaceKind::kInterKernel:
        return fmt::format(
            "no stream order, event or synchronisation between launch {} and launch {}",
            first_.launch, second_.launch);
      case detector::RaceKind::kKernelCopy:
      case detector::RaceKind::kUseAfterFree:
      case detector::RaceKind::kUseBeforeAllocation:
        return between_host_and_kernel(first_, second_);
      case detector::RaceKind::kUseAfterExit:
        return "nothing makes the block whose shared memory it is stay until then: a barrier of "
               "the cluster is missing before it exits";
    }
    return "";
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
    return fmt::format(
        "{} is missing in two places: after the {} and before the flag or lock is written{}, and "
        "in the second thread between seeing the flag or lock and its access",
        names_.fence, verb_of(first_), at());
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
    const auto reads = narrow_fence(race_.second.last_sync == detector::LastSync::kKnown
                                        ? &race_.second.last_sync_site
                                        : nullptr);
    const ptx::Site* const site = race_.about ? find_site(*race_.about) : nullptr;
    if (site != nullptr && site->info.operation != wire::Operation::kFence) {
      return fmt::format("the flag's or lock's {}{} has {}, which is too narrow: {} is needed",
                         site->info.operation == wire::Operation::kRead ? "read" : "write", at(),
                         name_of(site->info.scope), name_of(race_.needed_scope));
    }
    const std::string needed = needed_scope();
    const auto writes = narrow_fence(race_.about ? &*race_.about : nullptr);
    if (!writes && !reads) {
      return fmt::format("the fence's scope is too narrow: {} is needed", needed);
    }
    const ptx::Site& fence = writes ? *writes : *reads;
    const bool are_two = writes && reads && writes->id != reads->id;
    return are_two
               ? fmt::format(
                     "the scope of two fences is too narrow ({}{} and {}{}): {} is needed in both",
                     name_of(fence.info.scope), at(fence), name_of(reads->info.scope), at(*reads),
                     needed)
               : fmt::format("the fence{} has {}, which is too narrow: {} is needed", at(fence),
                             name_of(fence.info.scope), needed);
  }

  [[nodiscard]] std::string atomic_scope_too_narrow() const {
    std::string scopes;
    for (const detector::AccessSite id : {race_.first.site, race_.second.site}) {
      const ptx::Site* const site = find_site(id);
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
    return fmt::format(
        "the {} comes after the release{} that the other thread saw: it must come before",
        verb_of(first_), at());
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
    const ptx::Site* const site = race_.about ? find_site(*race_.about) : nullptr;
    return site != nullptr ? at(*site) : "";
  }

 private:
  // Null of a call of the host's, too.
  [[nodiscard]] const ptx::Site* find_site(detector::AccessSite at) const {
    return !at.is_call() && index_of(at.instruction()) < sites_.size()
               ? &sites_[index_of(at.instruction())]
               : nullptr;
  }

  [[nodiscard]] const ptx::Site* narrow_fence(const wire::SiteId* id) const {
    const ptx::Site* const site = id != nullptr ? find_site(*id) : nullptr;
    return site != nullptr && site->info.operation == wire::Operation::kFence &&
                   !includes(site->info.scope, race_.needed_scope)
               ? site
               : nullptr;
  }

  // The innermost line that the program's author wrote.
  static std::string at(const ptx::Site& site) {
    for (const ptx::SourceFrame& frame : site.frames) {
      if (!frame.file.empty() && !is_toolkit_header(frame.file)) {
        return fmt::format(" at {}:{}", frame.file, frame.line);
      }
    }
    return "";
  }

  [[nodiscard]] std::string parties() const {
    return race_.kind == detector::RaceKind::kIntraWarp ? "two lanes of one warp"
           : race_.kind == detector::RaceKind::kIntraBlock
               ? "two warps of one block"
               : block_name(first_) + " and " + block_name(second_);
  }

  [[nodiscard]] bool is_plain_beside_atomic() const {
    return (first_.operation == AccessOperation::kAtomic) !=
           (second_.operation == AccessOperation::kAtomic);
  }

  [[nodiscard]] bool is_between_blocks() const {
    return race_.kind == detector::RaceKind::kInterBlock;
  }

  static std::uint32_t line_of(const ptx::Site& site) {
    return site.frames.empty() ? 0 : site.frames.back().line;
  }

  // In the text of one function the read comes before the write, or before the atomic.
  [[nodiscard]] bool is_read_first() const {
    const ptx::Site* const one = find_site(race_.first.site);
    const ptx::Site* const other = find_site(race_.second.site);
    if (one == nullptr || other == nullptr || one->function != other->function) {
      return false;
    }
    const bool is_read_one = one->info.operation == wire::Operation::kRead;
    const ptx::Site& read = is_read_one ? *one : *other;
    const ptx::Site& written = is_read_one ? *other : *one;
    if (read.info.operation != wire::Operation::kRead ||
        written.info.operation == wire::Operation::kRead) {
      return false;
    }
    return line_of(read) != line_of(written) ? line_of(read) < line_of(written)
                                             : read.ptx_line < written.ptx_line;
  }

  [[nodiscard]] bool is_update(detector::AccessSite id) const {
    const ptx::Site* const site = find_site(id);
    return site != nullptr &&
           (site->in_update || site->info.operation == wire::Operation::kAtomic ||
            site->info.operation == wire::Operation::kReduction);
  }

  [[nodiscard]] bool is_product(detector::AccessSite id) const {
    const ptx::Site* const site = find_site(id);
    return site != nullptr && site->info.operation == wire::Operation::kMatrixProduct;
  }

  [[nodiscard]] bool is_flag(detector::AccessSite id) const {
    const ptx::Site* const site = find_site(id);
    return site != nullptr && (site->info.poll || site->info.flag_store);
  }

  [[nodiscard]] std::string within_a_launch() const {
    if (is_update(race_.first.site) && is_update(race_.second.site)) {
      return fmt::format(
          "{} read, change and write back one place: an atomic operation is needed for the whole "
          "update, such as {}",
          parties(), names_.update);
    }
    if (race_.first.site == race_.second.site) {
      return fmt::format(
          "{} execute one instruction, and no barrier can stand between: an atomic operation is "
          "needed, or a place for each",
          parties());
    }
    if (is_plain_beside_atomic() && (is_between_blocks() || is_read_first())) {
      const Access& plain = first_.operation == AccessOperation::kAtomic ? second_ : first_;
      return fmt::format("the {} beside an atomic of another thread must be atomic as well",
                         verb_of(plain));
    }
    if (race_.kind == detector::RaceKind::kIntraWarp) {
      return fmt::format("{} is missing between the two accesses (two lanes of one warp)",
                         names_.warp_barrier);
    }
    if (race_.kind == detector::RaceKind::kIntraBlock) {
      return fmt::format(
          "{} is missing between the two accesses (warp {} and warp {} of one block)",
          names_.block_barrier, first_.warp, second_.warp);
    }
    return between_blocks();
  }

  [[nodiscard]] std::string between_blocks() const {
    const std::string what = fmt::format("no synchronisation between {} and {}", block_name(first_),
                                         block_name(second_));
    if (race_.needed_scope == wire::Scope::kCluster) {
      return what + ", which are of one cluster: cluster.sync() is missing";
    }
    return fmt::format("{}, and no {} orders blocks: {}", what, names_.block_barrier,
                       is_read_first()
                           ? "what is read in one array must be written to a second array"
                           : "the second access needs a launch of its own, or a barrier of the "
                             "whole grid before it (cooperative launch)");
  }

  const detector::RaceEvent& race_;
  const ptx::SiteTable& sites_;
  const Access& first_;
  const Access& second_;
  const Names& names_;
};

}  // namespace

std::string block_name(const Access& access) {
  if (access.block[1] == 0 && access.block[2] == 0) {
    return fmt::format("block {}", access.block[0]);
  }
  return fmt::format("block [{},{},{}]", access.block[0], access.block[1], access.block[2]);
}

std::string missing_order(const detector::RaceEvent& race, const ptx::SiteTable& sites,
                          const Access& first, const Access& second) {
  using detector::MissingOrder;
  const Clause clause(race, sites, first, second);
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
      return "fence.proxy.async is missing";
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
      return "the arrival" + clause.at() +
             " does not wait: a wait is missing before the access "
             "that follows";
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
          "(griddepcontrol.wait) is missing before the access",
          second.launch, first.launch);
    case MissingOrder::kSpeculatedRead:
      return "all lanes read what only some use: the compiler speculated the load. It is harmless "
             "if no lane that uses the value is meant; otherwise nothing orders the two accesses";
    case MissingOrder::kReadOnlyPath:
      return "a read through the read-only path (ld.global.nc, __ldg) need not see what its own "
             "kernel writes: an ordinary load is needed, whatever synchronisation lies between";
  }
  return "";
}

}  // namespace barracuda::report
