// Holds what the engine found against the races of the rules: nothing invented, nothing missed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/oracle/host_detector/random_trace.h"
#include "tests/oracle/host_detector/reference_detector.h"

namespace barracuda::oracle {

// The races of the trace by the rules.
std::vector<Race> races_of(const Trace& trace, const detector::DetectorOptions& options);

// One of its sides is a copy by the host.
bool is_of_copy(const Race& race);

// What is wrong with the findings; nothing if they are right. A finding must be a race of the rules
// between those threads at those bytes, and no worse; and every byte that races by the rules must
// be named by one of its worst pairs of sites. (Any of the pairs at a byte may be the one reported,
// and a pair of sites is listed with one of its bytes.)
std::optional<std::string> difference(const std::vector<Race>& races,
                                      const detector::Findings& findings);

}  // namespace barracuda::oracle
