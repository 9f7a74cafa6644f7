#include "report/text_writer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/annotations.h"
#include "report/bug.h"
#include "report/bug_group.h"
#include "report/coverage.h"
#include "report/findings_page.h"
#include "report/line_fold.h"
#include "report/path_prefix.h"
#include "report/sentences.h"
#include "report/symbol_name.h"
#include "report/toolkit_path.h"

namespace barracuda::report {
namespace {

std::string name_in(const TextStyle& style, const std::string& name) {
  return style.has_simple_names ? simple_name(name) : name;
}

std::string laid_out(std::string_view text, const TextStyle& style) {
  return folded(without_prefix(text, style.prefix), style.columns);
}

constexpr const char* kRule = "==================\n";

using Buffer = std::back_insert_iterator<std::string>;

std::string source_of(const Frame& frame) {
  return frame.line == 0 ? std::string() : fmt::format(" at {}:{}", frame.file, frame.line);
}

// Two and more frames of CUDA's and CCCL's headers on end are one line: their reader wrote none of
// them. Without a frame outside of them the first is shown; the last, their kernel, is named below.
std::size_t folded_frames(std::span<const Frame> frames, std::size_t first, const Access& access,
                          const TextStyle& style) {
  if (style.has_all_frames || (first == 0 && is_toolkit_header(access.place.file))) {
    return 0;
  }
  const auto begin = frames.begin() + static_cast<std::ptrdiff_t>(first);
  const auto own = std::find_if(begin, frames.end(),
                                [](const Frame& frame) { return !is_toolkit_header(frame.file); });
  const auto count = static_cast<std::size_t>(own - begin);
  return count < 2 ? 0 : count;
}

// An instruction of a kernel that was built without line information.
bool lacks_lines(const Access& access) {
  return access.ptx_line != 0 && access.place.line == 0;
}

void print_frames(std::string& text, const Access& access, const TextStyle& style) {
  bool is_quoted = access.source.empty();
  const auto print = [&](std::size_t number, const Frame& frame, const char* note) {
    fmt::format_to(Buffer(text), "    #{} {}{}{}\n", number,
                   frame.function.empty() ? "?" : name_in(style, frame.function), source_of(frame),
                   note);
    if (!is_quoted && frame == access.place) {
      fmt::format_to(Buffer(text), "       {} | {}\n", frame.line, access.source);
      is_quoted = true;
    }
  };
  if (lacks_lines(access)) {
    const std::string where =
        fmt::format(", {} at line {} of its PTX", access.instruction, access.ptx_line);
    print(0, {.function = access.place.function, .file = "", .line = 0}, where.c_str());
  } else if (access.inlined.empty() && !access.place.function.empty()) {
    print(0, access.place, "");
  }
  std::vector<Frame> frames = lacks_lines(access) ? std::vector<Frame>() : access.inlined;
  const std::size_t inlined = frames.size();
  frames.insert(frames.end(), access.callers.begin(), access.callers.end());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (const std::size_t count = folded_frames(frames, i, access, style)) {
      fmt::format_to(Buffer(text), "    … {} frames of CUDA's headers\n", count);
      i += count - 1;
      continue;
    }
    print(i, frames[i], i >= inlined ? " (caller)" : i + 1 < inlined ? " (inlined)" : "");
  }
}

// A copy, reduction or store that the thread only begins: what the thread synchronises by before or
// after that instruction does not order it.
bool is_asynchronous(const Access& access) {
  return access.instruction.starts_with("cp.async") ||
         access.instruction.starts_with("cp.reduce.async") ||
         access.instruction.starts_with("st.async") || access.instruction.starts_with("red.async");
}

void print_last_sync(std::string& text, const Access& access) {
  if (access.last_sync == "none") {
    text += "    no synchronisation by this thread before it\n";
  } else if (access.last_sync == "unknown") {
    // Else it is too long ago: there is nothing that the reader could do with that.
    text +=
        is_asynchronous(access)
            ? "    asynchronous: takes place at any time between this line and the wait for it\n"
            : "";
  } else if (!access.last_sync.empty()) {
    fmt::format_to(Buffer(text), "    last synchronisation before it: {}{}{}{}\n", access.last_sync,
                   source_of(access.last_sync_place), access.last_sync_source.empty() ? "" : " | ",
                   access.last_sync_source);
  }
}

void print_access(std::string& text, const Finding& finding, const Access& access,
                  const TextStyle& style) {
  const std::string head = what_happened(finding, access);
  // The first frame may be a line of CUDA's own headers: then the program's own line is named
  // first.
  const bool is_in_header = !access.inlined.empty() && access.inlined.front() != access.place;
  fmt::format_to(Buffer(text), "  {}{}:\n", head, is_in_header ? source_of(access.place) : "");
  print_frames(text, access, style);
  print_last_sync(text, access);
}

void print_launch(std::string& text, const Access& access, const TextStyle& style) {
  if (access.kernel.empty() && access.launch == 0) {
    return;
  }
  if (access.launch == 0) {  // of its code, whatever launch
    fmt::format_to(Buffer(text), "  Kernel: {}\n", name_in(style, access.kernel));
    return;
  }
  fmt::format_to(Buffer(text), "  Kernel: {}, launch {} on stream {}{}{}\n",
                 access.kernel.empty() ? "?" : name_in(style, access.kernel), access.launch,
                 access.stream, access.launched_from.empty() ? "" : ", launched from ",
                 name_in(style, access.launched_from));
}

// "0-2, 5"
std::string ranges_of(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < numbers.size(); first = ++last) {
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) {
      ++last;
    }
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[first]);
    if (last != first) {
      text += fmt::format("-{}", numbers[last]);
    }
  }
  return text;
}

// "ranks 0-63 of solver", "processes 12, 14 of solver"
std::string names_of(const std::vector<Process>& processes) {
  std::map<std::pair<std::string, bool>, std::vector<std::int64_t>> numbers;
  for (const Process& process : processes) {
    const bool has_rank = process.rank != Process::kNoRank;
    numbers[{process.program, has_rank}].push_back(has_rank ? process.rank : process.pid);
  }
  std::string text;
  for (auto& [program, of_program] : numbers) {
    std::ranges::sort(of_program);
    const char* const noun = program.second ? "rank" : "process";
    const char* const plural = of_program.size() == 1 ? "" : program.second ? "s" : "es";
    text += fmt::format("{}{}{} {} of {}", text.empty() ? "" : "; ", noun, plural,
                        ranges_of(of_program), program.first);
  }
  return text;
}

// What else the bug is than what is shown.
void print_variants(std::string& text, const Bug& bug, const TextStyle& style) {
  constexpr std::size_t kMostVariants = 8;
  const std::size_t others = bug.variants.size() - 1;
  for (std::size_t i = 1; i <= std::min(others, kMostVariants); ++i) {
    const Finding& variant = *bug.variants[i];
    std::string what = variant.severity == FindingSeverity::kWarning ? "warning" : "";
    for (const std::string& part : {variant.kind, operations_of(variant)}) {
      what += what.empty() || part.empty() ? part : ", " + part;
    }
    const std::string& kernel = variant.accesses.front().kernel;
    if (kernel != bug.shown().accesses.front().kernel) {
      what += (what.empty() ? "in " : " in ") + name_in(style, kernel);
    }
    fmt::format_to(Buffer(text), "  Also: {}{}({})\n", what, what.empty() ? "" : " ",
                   counted(variant.count, "occurrence"));
  }
  if (others > kMostVariants) {
    fmt::format_to(Buffer(text), "  Also: {} more\n", counted(others - kMostVariants, "variant"));
  }
}

// "write at sum.cu:12"
std::string place_in_group(const Access& access) {
  return fmt::format(
      "{} at {}", name_of(access.operation),
      lacks_lines(access) ? fmt::format("line {} of its PTX", access.ptx_line) : place_of(access));
}

void print_others(std::string& text, const std::vector<Bug>& others) {
  if (others.empty()) {
    return;
  }
  fmt::format_to(Buffer(text), "  The same order is missing between {} of accesses:\n",
                 counted(others.size(), "more pair"));
  for (const Bug& bug : others) {
    const std::vector<Access>& accesses = bug.shown().accesses;
    fmt::format_to(Buffer(text), "    {} and {} ({})\n", place_in_group(accesses.front()),
                   place_in_group(accesses.back()), counted(bug.count(), "occurrence"));
  }
}

void print_group(std::string& text, const BugGroup& group, const TextStyle& style,
                 bool names_processes) {
  const Bug& bug = group.first;
  const Finding& finding = bug.shown();
  const bool is_warning = finding.severity == FindingSeverity::kWarning;
  const std::string_view begin = !style.colour ? "" : is_warning ? "\033[1;33m" : "\033[1;31m";
  fmt::format_to(Buffer(text), "{}{}BARRACUDA: {}: {} ({}){}\n", kRule, begin,
                 is_warning ? "WARNING" : "ERROR", title_of(finding),
                 counted(bug.count(), "occurrence"), style.colour ? "\033[0m" : "");
  for (const Access& access : finding.accesses) {
    print_access(text, finding, access, style);
  }
  if (lacks_order(finding)) {
    fmt::format_to(Buffer(text), "  Missing order: {}\n", finding.missing);
  }
  if (!finding.location.empty()) {
    fmt::format_to(Buffer(text), "  Location: {}{}\n", finding.location,
                   finding.has_other_places ? ", among other places" : "");
  }
  for (auto access = finding.accesses.begin(); access != finding.accesses.end(); ++access) {
    const auto same_launch = [&](const Access& other) {
      return other.launch == access->launch && other.kernel == access->kernel;
    };
    if (std::none_of(finding.accesses.begin(), access, same_launch)) {
      print_launch(text, *access, style);
    }
  }
  print_variants(text, bug, style);
  print_others(text, group.others);
  if (names_processes) {
    fmt::format_to(Buffer(text), "  Seen in: {}\n", names_of(bug.processes()));
  }
  text += see_line(heading_of(finding)) + kRule;
}

void print_messages(std::string& text, const Report& report) {
  const auto print = [&text](const char* kind, const std::string& message) {
    fmt::format_to(Buffer(text), "BARRACUDA: {}{}\n", kind, message);
  };
  if (report.suppressed != 0) {
    print("", counted(report.suppressed, "finding") + " suppressed");
  }
  for (const SuppressionUse& use : report.suppressions) {
    if (!use.reason.empty()) {
      print("",
            fmt::format("{} in code of libraries or a compiler left out "
                        "(library-suppressions=0 shows {}): {}",
                        counted(use.count, "finding"), use.count == 1 ? "it" : "them", use.reason));
    } else if (use.count != 0) {
      print("", counted(use.count, "finding") + " suppressed by " + use.rule);
    } else if (report.coverage.launches != 0) {
      print("suppression not used: ", use.rule);
    }
  }
  if (report.known != 0) {
    print("", counted(report.known, "finding") + " known from the baseline");
  }
  if (const std::string text_of_options = left_out(report.coverage); !text_of_options.empty()) {
    print("", text_of_options);
  }
  for (const std::string& gap : report.coverage.gaps) {
    print("not covered: ", gap);
  }
  if (const std::string gap = library_gap(report.coverage); !gap.empty()) {
    print("not covered: ", gap);
  }
  for (const std::string& process : report.lost) {
    print("not covered: ", process);
  }
  for (const std::string& reason : report.blocked) {
    print("", reason);
  }
  // With a time limit, that says it.
  const bool was_limited = std::ranges::any_of(report.coverage.gaps, [](const std::string& gap) {
    return gap.find(kTimeLimitMark) != gap.npos;
  });
  if (const int signal = signal_of(report.own_status); signal != 0 && !was_limited) {
    print("", fmt::format("the program was ended by signal {} ({})", signal, strsignal(signal)));
  }
  if (!report.option_error.empty()) {
    print("", report.option_error);
  }
  if (!report.tool_failure.empty()) {
    print("the tool failed: ", report.tool_failure);
  }
}

void print_line_advice(std::string& text, const Report& report, const TextStyle& style) {
  std::vector<std::string> kernels;
  for (const Finding& finding : report.findings) {
    for (const Access& access : finding.accesses) {
      if (lacks_lines(access) &&
          std::ranges::find(kernels, name_in(style, access.kernel)) == kernels.end()) {
        kernels.push_back(name_in(style, access.kernel));
      }
    }
  }
  if (!kernels.empty()) {
    fmt::format_to(
        Buffer(text),
        "BARRACUDA: built without line information: {}. nvcc -lineinfo (numba: "
        "lineinfo=True) gives source lines in place of those of the PTX, which barracuda "
        "extract shows\n",
        fmt::join(kernels, ", "));
  }
}

// Under a bare LD_PRELOAD nobody looks them up afterwards.
void print_host_line_advice(std::string& text, const Report& report) {
  const auto is_open = [](const Access& access) { return !access.host_stack.empty(); };
  if (std::ranges::any_of(report.findings, [&](const Finding& finding) {
        return std::ranges::any_of(finding.accesses, is_open);
      })) {
    fmt::format_to(
        Buffer(text),
        "BARRACUDA: lines of host code need libdw.so.1 here ({}), or barracuda run, which "
        "needs nothing\n",
        kLibdwPackages);
  }
}

std::string races(const std::vector<Bug>& bugs) {
  std::uint64_t races = 0;
  std::uint64_t warnings = 0;
  std::uint64_t occurrences = 0;
  for (const Bug& bug : bugs) {
    if (bug.shown().type == FindingType::kRace) {
      ++races;
      warnings += bug.shown().severity == FindingSeverity::kWarning ? 1 : 0;
      occurrences += bug.count();
    }
  }
  std::string text = counted(races, "race");
  if (races != 0) {
    text += fmt::format(" ({}{})", warnings == 0 ? "" : counted(warnings, "warning") + "; ",
                        counted(occurrences, "occurrence"));
  }
  return text;
}

std::string group_block(const BugGroup& group, const Report& report, const TextStyle& style) {
  switch (style.format) {
    case TextFormat::kGcc:
      return gcc_lines(group.first, style.prefix);
    case TextFormat::kGithub:
      return github_line(group.first, style.prefix);
    case TextFormat::kText:
      break;
  }
  std::string text;
  print_group(text, group, style, report.processes.size() > 1);
  return laid_out(text, style);
}

// Compilers and GitHub want each bug by itself.
std::vector<BugGroup> blocks_of(const std::vector<Bug>& bugs, TextFormat format) {
  if (format == TextFormat::kText) {
    return groups_of(bugs);
  }
  std::vector<BugGroup> alone;
  alone.reserve(bugs.size());
  for (const Bug& bug : bugs) {
    alone.push_back({.first = bug, .others = {}});
  }
  return alone;
}

}  // namespace

std::string summary_line(const Report& report) {
  const std::vector<Bug> bugs = bugs_of(report.findings);
  const auto findings_of = [&bugs](FindingType type) {
    return static_cast<std::uint64_t>(
        std::ranges::count(bugs, type, [](const Bug& bug) { return bug.shown().type; }));
  };
  const std::string nothing = why_empty(report.coverage);
  if (!nothing.empty() && report.findings.empty() && report.lost.empty()) {
    return fmt::format("BARRACUDA SUMMARY: {}{}", nothing, kAskDoctor);
  }
  std::string text = "BARRACUDA SUMMARY: " + races(bugs);
  if (const std::uint64_t count = findings_of(FindingType::kBarrierDivergence)) {
    text += ", " + counted(count, "barrier divergence");
  }
  if (const std::uint64_t count = findings_of(FindingType::kMemoryError)) {
    text += ", " + counted(count, "memory error");
  }
  if (const std::uint64_t count = findings_of(FindingType::kTimeout)) {
    text += ", " + counted(count, "timeout");
  }
  if (const std::uint64_t count = findings_of(FindingType::kDeadlock)) {
    text += ", " + counted(count, "deadlock");
  }
  if (const std::uint64_t count = findings_of(FindingType::kAsyncRegister)) {
    text += ", " + counted(count, "async register");
  }
  return text + fmt::format(", {}, coverage {}", kernel_counts(report.coverage),
                            report.covers_everything() ? "complete"
                            : report.covers_program()  ? "complete but for libraries"
                                                       : "incomplete");
}

TextFormat text_format(std::string_view name) {
  return name == "gcc"      ? TextFormat::kGcc
         : name == "github" ? TextFormat::kGithub
                            : TextFormat::kText;
}

std::string text_block(const Bug& bug, const Report& report, const TextStyle& style) {
  return group_block({.first = bug, .others = {}}, report, style);
}

std::string text_closing(const Report& report, const TextStyle& style) {
  std::string text;
  print_line_advice(text, report, style);
  print_host_line_advice(text, report);
  print_messages(text, report);
  return laid_out(text, style) + summary_line(report) + "\n";
}

std::string text_report(const Report& report, const TextStyle& style) {
  std::string text;
  std::uint64_t blocks = 0;
  std::size_t left = 0;  // of the bugs
  const std::vector<Bug> bugs = bugs_of(report.findings);
  for (const BugGroup& group : blocks_of(bugs, style.format)) {
    if (style.print_limit != 0 && blocks == style.print_limit) {
      left += 1 + group.others.size();
      continue;
    }
    text += group_block(group, report, style);
    ++blocks;
  }
  if (left != 0) {
    fmt::format_to(Buffer(text), "BARRACUDA: {} not printed (print-limit={})\n",
                   counted(left, "more finding"), style.print_limit);
  }
  return text + text_closing(report, style);
}

}  // namespace barracuda::report
