// The report for people: one block for each finding, in ThreadSanitizer's shape, then what was not
// covered, then one line for scripts. No logic beyond layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "report/bug.h"

namespace barracuda::report {

enum class TextFormat : std::uint8_t { kText, kGcc, kGithub };  // annotations.h has the last two

// The format of that name in the option; kText if there is none.
TextFormat text_format(std::string_view name);

struct TextStyle {
  bool colour = false;
  TextFormat format = TextFormat::kText;
  std::uint64_t print_limit = 0;  // findings printed at most; 0: all
  std::size_t columns = 0;        // of a line, but the last; 0: no limit
  bool has_all_frames = false;    // those of CUDA's headers, too
  bool has_simple_names = false;  // symbol_name.h
  std::string prefix;             // that file names are shown without
};

std::string text_report(const Report& report, const TextStyle& style);
// Its parts, for a report that grows: the block of one bug, and all that follows the last block.
// A report that is written as a whole puts bugs that are alike into one block (bug_group.h).
std::string text_block(const Bug& bug, const Report& report, const TextStyle& style);
std::string text_closing(const Report& report, const TextStyle& style);

// Behind a summary that says that nothing was checked.
inline constexpr std::string_view kAskDoctor = " (what is in the way: barracuda doctor -- ./app)";

// "BARRACUDA SUMMARY: 1 race (12 occurrences), kernels 5/5 instrumented, coverage complete"
std::string summary_line(const Report& report);

}  // namespace barracuda::report
