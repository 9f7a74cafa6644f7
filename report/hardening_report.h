// What `barracuda harden` has found, as plain data, and its text and JSON, which decide nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/race_report.h"
#include "report/text_writer.h"
#include "report/weak_finding.h"

namespace barracuda::report {

// What the program's kernels cost with some fences: on the emulated device what they execute, on a
// GPU time and energy.
struct FenceCost {
  std::string fences;  // "none", "its own", "all", "reduced"
  std::uint64_t warp_instructions = 0, executed_fences = 0;
  std::uint64_t nanoseconds = 0;             // of all kernels together; 0: not measured
  std::optional<std::uint64_t> millijoules;  // of the device from the first to the last
  std::string no_energy;                     // why that is not known, a clause
};

struct HardeningReport {
  Report program;                       // of the runs without weakness
  std::vector<MissingFence> missing;    // that the program does not have
  std::vector<MissingFence> needed;     // its own that are kept
  std::vector<MissingFence> redundant;  // and those that no run needed
  std::size_t places = 0;               // where a fence was tried, beside the program's own
  std::uint64_t references = 0, reference_failures = 0;
  std::string failure;  // "wrong output", the first that was seen
  std::uint64_t weak_runs_as_it_is = 0, failures_as_it_is = 0;
  std::uint64_t iterations = 0, stable_runs = 0;
  std::uint64_t runs = 0, lost = 0;
  // Why nothing was looked for or found, a sentence; empty: what is missing and needed is the
  // result.
  std::string no_result;
  bool is_not_cured = false;              // it fails with a fence behind every access
  std::vector<std::string> environments;  // on a GPU: those in which runs were made
  std::vector<std::string> tables;        // lines that stand before the summary
  std::vector<std::string> notes;
  std::vector<FenceCost> costs;  // empty: not measured
  std::string fences_file;       // that run --fences takes; empty: none was written
  bool is_incomplete = false;
};

// Of the style it has colour and prefix.
std::string hardening_text(const HardeningReport& report, const TextStyle& style);
// "BARRACUDA SUMMARY: 1 missing fence, 2 redundant fences (28 places tried), no failure in 500
// runs"
std::string hardening_summary(const HardeningReport& report);
// JSON Lines: missing-fence, redundant-fence, summary.
std::string hardening_json(const HardeningReport& report);

}  // namespace barracuda::report
