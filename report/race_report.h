// A finished report as plain data: every finding with its places resolved to source lines, what was
// covered, and what stood in the way. The writers print it and decide nothing. Empty strings and
// line 0 mean "unknown".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace barracuda::report {

enum class FindingType : std::uint8_t { kRace, kBarrierDivergence, kMemoryError };
enum class FindingSeverity : std::uint8_t { kError, kWarning };
enum class AccessOperation : std::uint8_t { kUnknown, kRead, kWrite, kAtomic, kCopy, kMemset };

struct Frame {
  std::string function;  // demangled
  std::string file;
  std::uint32_t line = 0;

  friend bool operator==(const Frame&, const Frame&) = default;
};

using Coordinates = std::array<std::uint32_t, 3>;

// One place of a finding: who did what where.
struct Access {
  AccessOperation operation = AccessOperation::kUnknown;
  std::string note;  // what is there instead of an access: "waits at barrier 0"
  std::uint64_t size = 0;
  std::uint64_t address = 0;  // shared memory: the offset in it
  bool has_address = false;
  Frame place;                 // innermost frame outside CUDA's and CCCL's headers
  std::vector<Frame> inlined;  // the whole inlining chain, innermost first
  std::vector<Frame> callers;  // call stack above the function, innermost first
  std::string instruction;     // "st.global.u32", and its line in the PTX: all there is to show
  std::uint32_t ptx_line = 0;  // where the program has no line information
  std::string kernel;          // demangled
  std::uint32_t launch = 0;    // number of the launch, from 1; 0: unknown
  std::uint64_t stream = 0;
  bool is_by_host = false;  // a copy or memset in `stream`; no launch
  bool has_thread = false;  // the next four hold
  Coordinates thread{}, block{};
  std::uint32_t warp = 0, lane = 0;
  std::string launched_from;  // "main() at app.cu:42"
  // What the thread synchronised by last before it: "fence.acq_rel.gpu", "none", "unknown"; empty
  // where there is no such question.
  std::string last_sync;
  Frame last_sync_place;

  friend bool operator==(const Access&, const Access&) = default;
};

struct Finding {
  FindingType type = FindingType::kRace;
  FindingSeverity severity = FindingSeverity::kError;
  std::string kind;   // "inter-block" …; empty unless a race
  std::string space;  // "global", "shared"
  std::uint64_t count = 1;
  std::string missing;           // the missing order, or what is wrong, as a clause
  std::string location;          // "4 bytes into an allocation of 1024 bytes at 0x… (cudaMalloc)"
  std::vector<Access> accesses;  // a race has two, a memory error one

  friend bool operator==(const Finding&, const Finding&) = default;
};

// "race", "barrier-divergence", "memory-error": the names of the JSON report and of suppressions.
std::string name_of(FindingType type);

struct Coverage {
  std::uint64_t launches = 0;
  std::uint64_t kernels = 0, instrumented = 0;  // different kernels that were launched
  std::vector<std::string> gaps;                // what was not covered, a sentence each

  // "No race" may be said only where this holds.
  [[nodiscard]] bool complete() const { return gaps.empty() && kernels == instrumented; }

  friend bool operator==(const Coverage&, const Coverage&) = default;
};

struct Report {
  std::vector<Finding> findings;
  Coverage coverage;
  std::uint64_t suppressed = 0;  // findings that the suppressions file left out
  std::string model;
  std::string device;
  std::vector<std::string> blocked;  // why the program could not be checked, with the fix
  std::vector<std::string> lost;     // processes that used CUDA and ended without a report
  std::string option_error;
  std::string tool_failure;

  // All that was launched was checked, and nothing went wrong on the way: what "coverage complete"
  // means in every format.
  [[nodiscard]] bool covers_everything() const {
    return coverage.complete() && blocked.empty() && lost.empty() && option_error.empty() &&
           tool_failure.empty();
  }

  friend bool operator==(const Report&, const Report&) = default;
};

}  // namespace barracuda::report
