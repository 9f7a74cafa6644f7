#include "report/text_writer.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "report/coverage.h"

namespace barracuda::report {
namespace {

constexpr const char* kRule = "==================\n";

using Buffer = std::back_insert_iterator<std::string>;

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
  }
  return "";
}

std::string title(const Finding& finding) {
  switch (finding.type) {
    case FindingType::kRace:
      return fmt::format("{} race on {} memory", finding.kind, finding.space);
    case FindingType::kBarrierDivergence:
      return "barrier divergence";
    case FindingType::kMemoryError:
      return "memory error: " + finding.missing;
  }
  return "";
}

std::string source_of(const Frame& frame) {
  return frame.line == 0 ? std::string() : fmt::format(" at {}:{}", frame.file, frame.line);
}

void print_frames(std::string& text, const Access& access) {
  std::size_t number = 0;
  const auto print = [&](const Frame& frame, const char* note) {
    fmt::format_to(Buffer(text), "    #{} {}{}{}\n", number++,
                   frame.function.empty() ? "?" : frame.function, source_of(frame), note);
  };
  if (access.inlined.empty() && !access.place.function.empty()) {
    const std::string where =
        access.ptx_line == 0
            ? ""
            : fmt::format(", {} at line {} of its PTX (nvcc -lineinfo gives source lines)",
                          access.instruction, access.ptx_line);
    print({.function = access.place.function, .file = "", .line = 0}, where.c_str());
  }
  for (std::size_t i = 0; i < access.inlined.size(); ++i) {
    print(access.inlined[i], i + 1 < access.inlined.size() ? " (inlined)" : "");
  }
  for (const Frame& frame : access.callers) {
    print(frame, " (caller)");
  }
}

void print_last_sync(std::string& text, const Access& access) {
  if (access.last_sync == "none") {
    text += "    before it the thread has not synchronised\n";
  } else if (access.last_sync == "unknown") {
    text += "    last synchronisation before it: not known\n";
  } else if (!access.last_sync.empty()) {
    fmt::format_to(Buffer(text), "    last synchronisation before it: {}{}\n", access.last_sync,
                   source_of(access.last_sync_place));
  }
}

void print_access(std::string& text, const Finding& finding, const Access& access) {
  std::string head = access.note.empty() ? verb(access.operation) : "";
  if (access.size != 0 && access.note.empty()) {
    head += " of " + counted(access.size, "byte");
  }
  if (access.has_address) {
    head += finding.space == "shared" ? fmt::format(" at byte {}", access.address & 0xffffffffU)
                                      : fmt::format(" at {:#x}", access.address);
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
  // The first frame may be a line of CUDA's own headers: then the program's own line is named
  // first.
  const bool is_in_header = !access.inlined.empty() && access.inlined.front() != access.place;
  fmt::format_to(Buffer(text), "  {}{}:\n", head, is_in_header ? source_of(access.place) : "");
  print_frames(text, access);
  print_last_sync(text, access);
}

void print_launch(std::string& text, const Access& access) {
  if (access.kernel.empty() && access.launch == 0) {
    return;
  }
  fmt::format_to(Buffer(text), "  Kernel: {}, launch {} on stream {}{}{}\n",
                 access.kernel.empty() ? "?" : access.kernel, access.launch, access.stream,
                 access.launched_from.empty() ? "" : ", launched from ", access.launched_from);
}

void print_finding(std::string& text, const Finding& finding, bool colour) {
  const bool is_warning = finding.severity == FindingSeverity::kWarning;
  const std::string_view begin = !colour ? "" : is_warning ? "\033[1;33m" : "\033[1;31m";
  fmt::format_to(Buffer(text), "{}{}BARRACUDA: {}: {} ({}){}\n", kRule, begin,
                 is_warning ? "WARNING" : "ERROR", title(finding),
                 counted(finding.count, "occurrence"), colour ? "\033[0m" : "");
  for (const Access& access : finding.accesses) {
    print_access(text, finding, access);
  }
  if (finding.type != FindingType::kMemoryError && !finding.missing.empty()) {
    fmt::format_to(Buffer(text), "  Missing order: {}\n", finding.missing);
  }
  if (!finding.location.empty()) {
    fmt::format_to(Buffer(text), "  Location: {}\n", finding.location);
  }
  for (auto access = finding.accesses.begin(); access != finding.accesses.end(); ++access) {
    const auto same_launch = [&](const Access& other) {
      return other.launch == access->launch && other.kernel == access->kernel;
    };
    if (std::none_of(finding.accesses.begin(), access, same_launch)) {
      print_launch(text, *access);
    }
  }
  text += kRule;
}

void print_messages(std::string& text, const Report& report) {
  const auto print = [&text](const char* kind, const std::string& message) {
    fmt::format_to(Buffer(text), "BARRACUDA: {}{}\n", kind, message);
  };
  if (report.suppressed != 0) {
    print("", counted(report.suppressed, "finding") + " suppressed");
  }
  for (const std::string& gap : report.coverage.gaps) {
    print("not covered: ", gap);
  }
  for (const std::string& process : report.lost) {
    print("not covered: ", process);
  }
  for (const std::string& reason : report.blocked) {
    print("", reason);
  }
  if (!report.option_error.empty()) {
    print("", report.option_error);
  }
  if (!report.tool_failure.empty()) {
    print("the tool failed: ", report.tool_failure);
  }
}

std::string races(const Report& report) {
  std::uint64_t races = 0;
  std::uint64_t warnings = 0;
  std::uint64_t occurrences = 0;
  for (const Finding& finding : report.findings) {
    if (finding.type == FindingType::kRace) {
      ++races;
      warnings += finding.severity == FindingSeverity::kWarning ? 1 : 0;
      occurrences += finding.count;
    }
  }
  std::string text = counted(races, "race");
  if (races != 0) {
    text += fmt::format(" ({}{})", warnings == 0 ? "" : counted(warnings, "warning") + "; ",
                        counted(occurrences, "occurrence"));
  }
  return text;
}

}  // namespace

std::string summary_line(const Report& report) {
  const auto findings_of = [&report](FindingType type) {
    return static_cast<std::uint64_t>(std::ranges::count(report.findings, type, &Finding::type));
  };
  if (report.coverage.launches == 0 && report.findings.empty() && report.lost.empty()) {
    return "BARRACUDA SUMMARY: no kernel was launched";
  }
  std::string text = "BARRACUDA SUMMARY: " + races(report);
  if (const std::uint64_t count = findings_of(FindingType::kBarrierDivergence)) {
    text += ", " + counted(count, "barrier divergence");
  }
  if (const std::uint64_t count = findings_of(FindingType::kMemoryError)) {
    text += ", " + counted(count, "memory error");
  }
  return text + fmt::format(", kernels {}/{} instrumented, coverage {}",
                            report.coverage.instrumented, report.coverage.kernels,
                            report.covers_everything() ? "complete" : "incomplete");
}

std::string text_report(const Report& report, const TextStyle& style) {
  std::string text;
  std::uint64_t printed = 0;
  for (const Finding& finding : report.findings) {
    if (style.print_limit != 0 && printed == style.print_limit) {
      break;
    }
    print_finding(text, finding, style.colour);
    ++printed;
  }
  if (printed < report.findings.size()) {
    fmt::format_to(Buffer(text), "BARRACUDA: {} more not printed (print-limit={})\n",
                   counted(report.findings.size() - printed, "finding"), style.print_limit);
  }
  print_messages(text, report);
  return text + summary_line(report) + "\n";
}

}  // namespace barracuda::report
