// A finished report as plain data: every finding with its places resolved to source lines, what was
// covered, and what stood in the way. The writers print it and decide nothing. Empty strings and
// line 0 mean "unknown".
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "host_detector/race_event.h"
#include "report/host_frame.h"
#include "report/lack.h"

namespace barracuda::report {

enum class FindingType : std::uint8_t {
  kRace,
  kBarrierDivergence,
  kMemoryError,
  kTimeout,
  kDeadlock,
  kAsyncRegister,  // of wgmma, in the code of a kernel that was launched
};
enum class FindingSeverity : std::uint8_t { kError, kWarning };
enum class AccessOperation : std::uint8_t {
  kUnknown,
  kRead,
  kWrite,
  kAtomic,
  kCopy,
  kMemset,
  kConstants,   // a launch of a kernel that may read these constants
  kAllocation,  // in the order of a stream, as the next
  kFree,
  kExit,  // the last thread of a block leaves, and its shared memory goes
};

struct Frame {
  std::string function;  // demangled
  std::string file;
  std::uint32_t line = 0;

  friend bool operator==(const Frame&, const Frame&) = default;
};

using Coordinates = std::array<std::uint32_t, 3>;

// What a thread synchronised by.
struct Sync {
  detector::SyncWhen when = detector::SyncWhen::kBefore;
  std::string instruction;  // "bar.sync"
  Frame place;

  friend bool operator==(const Sync&, const Sync&) = default;
};

// Of an address in shared memory; above it stands the block's rank in its cluster.
inline constexpr std::uint64_t kOffsetMask = 0xffffffff;

// One place of a finding: who did what where.
struct Access {
  AccessOperation operation = AccessOperation::kUnknown;
  std::string note;  // what is there instead of an access: "waits at barrier 0"
  std::uint64_t size = 0;
  std::uint64_t address = 0;  // shared memory: the offset in it
  bool has_address = false;
  Frame place;                 // innermost frame outside CUDA's and CCCL's headers
  std::string source;          // its line, as its file has it on this machine, blanks made one
  std::string object;          // the variable that is accessed, where it has a name
  std::vector<Frame> inlined;  // the whole inlining chain, innermost first
  std::vector<Frame> callers;  // call stack above the function, innermost first
  std::string instruction;     // "st.global.u32", and its line in the PTX: all there is to show
  std::uint32_t ptx_line = 0;  // where the program has no line information
  // The place for its fingerprint (report/site_lines.h).
  std::string statement;
  std::uint32_t order = 0, variable = 0;
  std::string kernel;        // demangled
  std::uint32_t launch = 0;  // number of the launch, from 1; 0: unknown
  std::uint64_t stream = 0;
  bool is_by_host = false;  // a copy, memset, allocation or free in `stream`; no launch
  bool has_thread = false;  // the next four hold
  Coordinates thread{}, block{};
  Coordinates grid{};  // in blocks; zeros where it is not known
  std::uint32_t warp = 0, lane = 0;
  std::string launched_from;  // "main() at app.cu:42"
  std::string module;         // the program or library that this is in, by its file name
  // Where the process could not look up lines of its own code: the call stack of the launch, or of
  // the host's own call, for who can.
  std::vector<HostFrame> host_stack;
  // What the thread synchronised by last before it: "fence.acq_rel.gpu", "none", "unknown"; empty
  // where there is no such question.
  std::string last_sync;
  Frame last_sync_place;
  std::string last_sync_source;  // its line
  // Where that is known: the last few up to the race, oldest first, also after it.
  std::vector<Sync> syncs;
  bool has_all_syncs = false;  // before these there were none

  friend bool operator==(const Access&, const Access&) = default;
};

// A process that a report is of.
struct Process {
  static constexpr std::int64_t kNoRank = -1;

  std::string program;  // its file name
  std::int64_t pid = 0;
  std::int64_t rank = kNoRank;  // among those that a launcher (MPI, Slurm, torchrun) started

  // By rank, then by number.
  friend auto operator<=>(const Process& left, const Process& right) {
    return std::tie(left.rank, left.pid, left.program) <=>
           std::tie(right.rank, right.pid, right.program);
  }

  friend bool operator==(const Process&, const Process&) = default;
};

struct Finding {
  FindingType type = FindingType::kRace;
  FindingSeverity severity = FindingSeverity::kError;
  std::string kind;   // "inter-block" …; empty unless a race
  std::string space;  // "global", "shared"
  std::uint64_t count = 1;
  std::string missing;            // the missing order, or what is wrong, as a clause
  std::string location;           // "4 bytes into an allocation of 1024 bytes at 0x… (cudaMalloc)"
  bool has_other_places = false;  // the two lines race elsewhere as well; `location` is one place
  std::vector<Access> accesses;   // a race has two, a memory error one, others some places
  // The same for all findings of one bug (report/fingerprint.h, report/bug.h).
  std::string fingerprint;
  std::vector<Process> processes;  // that met it, sorted; the places are the first one's
  // Of the races that this is: one for each pair of instructions and reason, not more than
  // kMostLacks.
  std::vector<Lack> lacks;

  static constexpr std::size_t kMostLacks = 64;

  friend bool operator==(const Finding&, const Finding&) = default;
};

// "race", "barrier-divergence", "memory-error", "timeout", "deadlock", "async-register": the names
// of the JSON report and of suppressions.
std::string name_of(FindingType type);

// "before", "unclear", "after"
std::string name_of(detector::SyncWhen when);

// Different kernels of one library that were launched.
struct LibraryKernels {
  std::set<std::string> instrumented, not_instrumented;

  friend bool operator==(const LibraryKernels&, const LibraryKernels&) = default;
};

struct Coverage {
  std::uint64_t launches = 0;
  // Different kernels that were launched: the program's own.
  std::set<std::string> instrumented, not_instrumented;
  std::map<std::string, LibraryKernels> libraries;  // by file name
  std::vector<std::string> gaps;                    // what was not covered, a sentence each
  // By the options that choose kernels and launches. Kernels of which nothing was checked are not
  // among those above.
  std::uint64_t left_out_launches = 0;
  std::vector<std::string> left_out_kernels;                        // the program's own
  std::map<std::string, std::set<std::string>> left_out_libraries;  // by file name

  // No launch was to be checked.
  [[nodiscard]] bool is_empty() const { return launches == left_out_launches; }

  // Of the program's own kernels "no race" may be said only where this holds.
  [[nodiscard]] bool program_complete() const {
    return gaps.empty() && not_instrumented.empty() && !is_empty();
  }

  // Of all kernels.
  [[nodiscard]] bool complete() const;

  // Of the program and of libraries.
  [[nodiscard]] std::size_t kernels() const;
  [[nodiscard]] std::size_t instrumented_kernels() const;

  friend bool operator==(const Coverage&, const Coverage&) = default;
};

// A line of the suppressions file, and how many findings it has left out.
struct SuppressionUse {
  std::string rule;
  std::uint64_t count = 0;
  std::string reason;  // of a rule for CUDA's libraries, which the tool brings; else empty

  friend bool operator==(const SuppressionUse&, const SuppressionUse&) = default;
};

inline constexpr int kUnknownStatus = -1;

// A process that a signal ended has a status as well, the shell's way.
inline constexpr int kSignalled = 128;

constexpr int status_of_signal(int signal) {
  return kSignalled + signal;
}

// The signal that a status stands for; 0 if it is none.
constexpr int signal_of(int status) {
  constexpr int kMostSignals = 64;
  return status > kSignalled && status <= kSignalled + kMostSignals ? status - kSignalled : 0;
}

struct Report {
  std::vector<Finding> findings;  // bugs_of() tells which are one bug
  std::vector<Process> processes;
  Coverage coverage;
  std::uint64_t suppressed = 0;  // findings that the suppressions file left out
  std::vector<SuppressionUse> suppressions;
  std::uint64_t known = 0;  // bugs that the baseline has
  std::string model;
  std::string device;
  std::vector<std::string> blocked;  // why the program could not be checked, with the fix
  std::vector<std::string> lost;     // processes that ended before their last word
  // How the program itself ended, as a shell says it: its exit status, or 128 + the signal that
  // ended it.
  int own_status = kUnknownStatus;
  std::string option_error;
  std::string tool_failure;
  std::uint64_t waiting_bytes = 0;  // of records that were not checked yet, while the program runs

  // All that was launched was checked, and nothing went wrong on the way: what "coverage complete"
  // means in every format.
  [[nodiscard]] bool covers_everything() const { return coverage.complete() && went_well(); }

  // The same, of the program's own kernels.
  [[nodiscard]] bool covers_program() const { return coverage.program_complete() && went_well(); }

  [[nodiscard]] bool went_well() const {
    return blocked.empty() && lost.empty() && option_error.empty() && tool_failure.empty();
  }

  friend bool operator==(const Report&, const Report&) = default;
};

}  // namespace barracuda::report
