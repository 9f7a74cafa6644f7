// The report for people: one block for each finding, in ThreadSanitizer's shape, then what was not
// covered, then one line for scripts. No logic beyond layout.
#pragma once

#include <cstdint>
#include <string>

#include "report/race_report.h"

namespace barracuda::report {

struct TextStyle {
  bool colour = false;
  std::uint64_t print_limit = 0;  // findings printed at most; 0: all
};

std::string text_report(const Report& report, const TextStyle& style);

// "BARRACUDA SUMMARY: 1 race (12 occurrences), kernels 5/5 instrumented, coverage complete"
std::string summary_line(const Report& report);

}  // namespace barracuda::report
