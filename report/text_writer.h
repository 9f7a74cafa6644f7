// The report for people: one block for each finding, in ThreadSanitizer's shape, then what was not
// covered, then one line for scripts. No logic beyond layout.
#pragma once

#include <cstdint>
#include <string>

#include "report/bug.h"

namespace barracuda::report {

struct TextStyle {
  bool colour = false;
  std::uint64_t print_limit = 0;  // findings printed at most; 0: all
};

std::string text_report(const Report& report, const TextStyle& style);
// Its parts, for a report that grows: the block of one bug, and all that follows the last block.
std::string text_block(const Bug& bug, const Report& report, bool colour);
std::string text_closing(const Report& report);

// "BARRACUDA SUMMARY: 1 race (12 occurrences), kernels 5/5 instrumented, coverage complete"
std::string summary_line(const Report& report);

}  // namespace barracuda::report
