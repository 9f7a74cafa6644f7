#include "report/sentences.h"

#include <cstring>

#include <fmt/format.h>

#include "report/coverage.h"

namespace barracuda::report {
namespace {

constexpr std::string_view kNotToItsEnd = ": what ran then may not be checked to its end";

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
    case AccessOperation::kExit:
      return "Exit";
  }
  return "";
}

// Bytes that one thread's instruction accesses side by side, of which each element is an access of
// its own: 16 of "st.global.v4.u32". 0: they are not a vector.
std::uint64_t vector_bytes(const Access& access) {
  const std::string_view text = access.instruction;
  if (!text.starts_with("ld.") && !text.starts_with("st.")) {
    return 0;
  }
  for (const std::uint64_t elements : {2, 4, 8}) {
    if (text.find(fmt::format(".v{}.", elements)) != text.npos) {
      return elements * access.size;
    }
  }
  return 0;
}

}  // namespace

std::string ended_by_limit(const std::string& who, std::uint64_t seconds) {
  return fmt::format("{} was ended after {} {}{}", who, counted(seconds, "second"), kTimeLimitMark,
                     kNotToItsEnd);
}

std::string ended_by_signal(int signal) {
  return fmt::format("the process was ended by signal {} ({}){}", signal, strsignal(signal),
                     kNotToItsEnd);
}

std::string name_of(FindingSeverity severity) {
  return severity == FindingSeverity::kWarning ? "warning" : "error";
}

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
    case FindingType::kAsyncRegister:
      return "async register: " + finding.missing;
  }
  return "";
}

std::string what_happened(const Finding& finding, const Access& access) {
  std::string head = access.note.empty() ? verb(access.operation) : "";
  const std::uint64_t whole = access.note.empty() ? vector_bytes(access) : 0;
  if (access.size != 0 && access.note.empty()) {
    head += " of " + counted(whole != 0 ? whole : access.size, "byte");
  }
  if (whole != 0 && access.has_address) {
    head += fmt::format(", {} of them", access.size);
  }
  if (access.has_address) {
    // No report says where a bulk copy begins.
    const bool is_bulk = access.operation == AccessOperation::kCopy && !access.is_by_host;
    const char* const at = is_bulk ? "around" : "at";
    head += finding.space == "shared" ? fmt::format(" {} byte {}", at, access.address & kOffsetMask)
                                      : fmt::format(" {} {:#x}", at, access.address);
    head += whole != 0 ? "," : "";
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

std::string what_happened(const Sync& sync) {
  switch (sync.when) {
    case detector::SyncWhen::kBefore:
      return "synchronisation before the access: " + sync.instruction;
    case detector::SyncWhen::kUnclear:
      return "synchronisation before or after the access: " + sync.instruction;
    case detector::SyncWhen::kAfter:
      return "synchronisation after the access: " + sync.instruction;
  }
  return "";
}

std::string place_of(const Frame& frame, const std::string& unknown) {
  return frame.line == 0 ? unknown : fmt::format("{}:{}", frame.file, frame.line);
}

std::string place_of(const Access& access) {
  return place_of(access.place, access.place.function.empty() ? "?" : access.place.function);
}

bool lacks_order(const Finding& finding) {
  return !finding.missing.empty() &&
         (finding.type == FindingType::kRace || finding.type == FindingType::kBarrierDivergence);
}

std::string description_of(const Finding& finding) {
  std::string text;
  for (const Access& access : finding.accesses) {
    text += fmt::format("{}{} at {}", text.empty() ? "" : "\n", what_happened(finding, access),
                        place_of(access));
  }
  if (lacks_order(finding)) {
    text += fmt::format("{}Missing order: {}", text.empty() ? "" : "\n", finding.missing);
  }
  return text;
}

}  // namespace barracuda::report
