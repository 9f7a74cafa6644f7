#include "report/sentences.h"

#include <fmt/format.h>

#include "report/coverage.h"

namespace barracuda::report {
namespace {

std::string triple(const Coordinates& at) {
  return fmt::format("[{},{},{}]", at[0], at[1], at[2]);
}

const char* verb(AccessOperation operation) {
  switch (operation) {
    case AccessOperation::kUnknown:
      return "Access";
    case AccessOperation::kRead:
      return "Read";
    case AccessOperation::kWrite:
      return "Write";
    case AccessOperation::kAtomic:
      return "Atomic access";
    case AccessOperation::kCopy:
      return "Copy";
    case AccessOperation::kMemset:
      return "Memset";
    case AccessOperation::kConstants:
      return "Launch of a kernel that may read constants";
    case AccessOperation::kAllocation:
      return "Allocation";
    case AccessOperation::kFree:
      return "Free";
  }
  return "";
}

}  // namespace

std::string title_of(const Finding& finding) {
  switch (finding.type) {
    case FindingType::kRace:
      return fmt::format("{} race on {} memory", finding.kind, finding.space);
    case FindingType::kBarrierDivergence:
      return "barrier divergence";
    case FindingType::kMemoryError:
      return "memory error: " + finding.missing;
    case FindingType::kTimeout:
      return "timeout: " + finding.missing;
    case FindingType::kDeadlock:
      return finding.missing;
  }
  return "";
}

std::string what_happened(const Finding& finding, const Access& access) {
  std::string head = access.note.empty() ? verb(access.operation) : "";
  if (access.size != 0 && access.note.empty()) {
    head += " of " + counted(access.size, "byte");
  }
  if (access.has_address) {
    // A bulk copy is not told where it begins.
    const bool is_bulk = access.operation == AccessOperation::kCopy && !access.is_by_host;
    const char* const at = is_bulk ? "around" : "at";
    head += finding.space == "shared" ? fmt::format(" {} byte {}", at, access.address & 0xffffffffU)
                                      : fmt::format(" {} {:#x}", at, access.address);
  }
  if (access.has_thread) {
    head += fmt::format("{} {} of block {} (warp {}, lane {})",
                        access.note.empty() ? " by thread" : "Thread", triple(access.thread),
                        triple(access.block), access.warp, access.lane);
  }
  if (access.is_by_host) {
    head += fmt::format(" by the host, in stream {}", access.stream);
  }
  if (!access.note.empty()) {
    head += (head.empty() ? "A thread " : " ") + access.note;
  }
  return head;
}

}  // namespace barracuda::report
