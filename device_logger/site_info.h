// What the detector has to know of one instrumented instruction (a site). The rewriter fills a
// table of these, indexed by SiteId; records carry only the id, so they stay small.
#pragma once

#include <cstdint>

namespace barracuda::wire {

// Dense over a whole session; 24 bits, because a record gives it no more.
enum class SiteId : std::uint32_t {};
inline constexpr std::uint32_t kMaxSites = 1U << 24;
// Of a branch whose ways do not meet before the function ends.
inline constexpr std::uint64_t kNoMeeting = ~std::uint64_t{0};

// Of a kCopy whose lanes have a mask of the bytes of each 16 that are copied, as their flags.
inline constexpr std::uint64_t kByteMask = 1;

enum class Operation : std::uint8_t {
  kRead,
  kWrite,
  kAtomic,            // atom: reads, and writes unless it is a failed CAS
  kReduction,         // red: an atomic whose read never acquires (PTX ISA 9.7.13.7)
  kFence,             // fence, membar
  kBarrier,           // bar/barrier.sync, bar/barrier.red: arrive and wait
  kBarrierArrive,     // bar/barrier.arrive: gives, does not take
  kWarpBarrier,       // bar.warp.sync
  kCall,              // just before a call of a .func that may log; the site is the call
  kReturn,            // just after that call
  kExit,              // lanes leave the kernel
  kClusterArrive,     // barrier.cluster.arrive: gives what its order says
  kClusterWait,       // barrier.cluster.wait, logged once it is over: takes
  kLaunchDependents,  // griddepcontrol.launch_dependents
  kGridWait,          // griddepcontrol.wait, logged once it is over: takes
  kProxyFence,        // fence.proxy.async, fence.proxy.tensormap (its proxy says which)
  kMbarrierInit,
  kMbarrierInvalidate,
  kMbarrierArrive,    // arrive, arrive_drop, with .expect_tx or without
  kMbarrierExpect,    // expect_tx
  kMbarrierComplete,  // complete_tx
  kMbarrierWait,      // test_wait or try_wait that returned true, logged once it did
  kAsyncArrive,       // cp.async.mbarrier.arrive, tcgen05.commit: arrives when the thread's copies
                      // or products are made
  kAsyncCommit,       // commit_group
  kAsyncWait,         // wait_group, wait_all, logged once it is over
  kCopy,  // a copy that says its bytes only when it runs: bulk copies, st.async, red.async, st.bulk
  kTensorCopy,  // a copy of a box of the tensor of a map: cp.async.bulk.tensor, and its reductions
  kBranch,  // lanes of a warp go two ways: logged before, with a mask of those that take the branch
  kSwitch,  // … many ways: logged before, a record for each way
  kMeet,    // where the ways of a branch meet, logged by lanes that went apart
  kMatrixProduct,  // wgmma.mma_async, tcgen05.mma and .cp: reads of shared memory by descriptors
  kHeap,           // malloc and free of device code (record.h, kHeapOrder)
  kSharedPlace,    // where a kernel's shared variables lie: logged by one warp of a launch, for
                   // each variable its number and address, as the count and operand of a kEvent
};
inline constexpr std::uint32_t kOperationCount = 33;
static_assert(static_cast<std::uint32_t>(Operation::kSharedPlace) + 1 == kOperationCount);

// PTX ISA 8.4-8.5. kVolatile is relaxed.sys that the verdict table treats by itself.
enum class MemoryOrder : std::uint8_t {
  kWeak,
  kVolatile,
  kRelaxed,
  kAcquire,
  kRelease,
  kAcqRel,
  kSeqCst,
};

// Which includes which, scope_order.h says.
enum class Scope : std::uint8_t { kCta, kCluster, kGpu, kSys };
inline constexpr int kScopeCount = 4;
static_assert(static_cast<int>(Scope::kSys) + 1 == kScopeCount);

// kReadOnly: ld.global.nc, and what textures read. kTensorMap: what a copy of a box reads of its
// map.
enum class Proxy : std::uint8_t { kGeneric, kReadOnly, kAsync, kTensorMap, kSurface };

// What an asynchronous access is waited for by: it is not an access of the thread that issues it
// (RACE_RULES section 1). kRead and kWrite sites with one are the two sides of a cp.async.
enum class Asynchrony : std::uint8_t {
  kNone,
  kThreadGroup,  // cp.async: groups that the thread commits
  kBulkGroup,    // cp.async.bulk: those that it commits for bulk copies
  kMbarrier,     // the phase of an mbarrier
  kMatrixGroup,  // wgmma: groups that the warp commits
  kUnwaited,     // st.async, red.async of global memory: nothing, who sees the value knows of it
  kTensorCore,   // tcgen05: the phase of an mbarrier at which its thread's later commit arrives
};

// What a fence next to an access in the code makes of it, by the rules of BARRACUDA (PLDI 2017).
enum class FenceScope : std::uint8_t { kNone, kBlock, kGlobal };

struct SiteInfo {
  Operation operation = Operation::kRead;
  MemoryOrder order = MemoryOrder::kWeak;
  Scope scope = Scope::kSys;  // of strong accesses and fences
  Proxy proxy = Proxy::kGeneric;
  std::uint8_t element_bytes = 0;  // a vector access is element_count independent scalar accesses
  std::uint8_t element_count = 0;
  bool flag_store = false;  // first shared access after a fence in its block (RACE_RULES 2)
  bool poll = false;        // its value controls a branch that leads to a fence (RACE_RULES 2)
  bool speculated = false;  // a load that some lanes drop, it is not known which (RACE_RULES 2)
  Scope idiom_scope = Scope::kCta;  // the scope of that fence
  bool stores_constant = false;     // a compile-time constant is stored, of at most 16 bytes
  bool numbered = false;            // logged as release/acquire records, with numbers and values
  bool aligned = false;             // kBarrier, kProxyFence: the lanes of a warp execute it as one
  Asynchrony asynchrony = Asynchrony::kNone;  // of a copy, a commit, a wait
  bool reads_only = false;                    // kAsyncWait: .read, the sources alone are done with
  FenceScope acquires = FenceScope::kNone;    // model=paper alone
  FenceScope releases = FenceScope::kNone;    // model=paper alone
  // A store to memory that a compiler lays out, by all threads that have the value: those of this
  // site that store the same do no harm.
  bool is_replicated = false;
  // A poll that is over when a bit of `constant` is not what it was (RACE_RULES section 1).
  bool waits_for_change = false;
  // An mbarrier operation that says no scope: `scope` is then what the ISA says it has.
  bool is_unscoped = false;
  // A store to shared memory whose thread has published nothing since the last barrier of its
  // block. If it is logged late (kEarlier), the detector knows by this when it was made. Traces do
  // not have it: nothing in them is logged late.
  bool is_before_publications = false;
  // Not 0: which kernel it is of, of those without a fence, acquire or release wider than a block.
  // What is numbered there orders no thread behind one of another block, so its loads and stores
  // may be logged no more, as weak ones (quiet_sites.h). Traces do not have it: nothing of theirs
  // falls silent.
  std::uint16_t narrow_kernel = 0;
  // That constant (stored_value). kBranch, kSwitch, kMeet: which meeting, kNoMeeting where none is.
  // kMatrixProduct: its ProductShape (matrix_descriptor.h), packed; of kTensorCore its TensorReads
  // (tensor_reads.h). kCopy: kByteMask or 0.
  std::uint64_t constant = 0;

  friend bool operator==(const SiteInfo&, const SiteInfo&) = default;
};

static_assert(sizeof(SiteInfo) == 24 + sizeof(std::uint64_t),
              "21 fields of a byte, one of 2, and one of 8");

// Two kernels of a session may have one number: what is then said of one is true of both, for it
// leaves accesses out.
constexpr std::uint16_t narrow_kernel_number(SiteId first) {
  constexpr std::uint32_t kNumbers = 65535;
  return static_cast<std::uint16_t>(1 + static_cast<std::uint32_t>(first) % kNumbers);
}

// Logged as a release or as an acquire, not as both.
constexpr bool is_numbered_load_or_store(const SiteInfo& site) {
  return site.numbered && site.asynchrony == Asynchrony::kNone &&
         (site.operation == Operation::kRead || site.operation == Operation::kWrite);
}

}  // namespace barracuda::wire
