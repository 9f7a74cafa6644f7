// A random but legal execution of small kernels: numbers from rapidcheck choose who does what next;
// the values that synchronising accesses read are those of a simulated memory.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "host_detector/detector.h"

namespace barracuda::oracle {

// One choice: interpreted modulo what is possible, so every vector of these is a legal trace.
struct Choice {
  std::uint8_t who = 0, what = 0, where = 0, how = 0;
  std::uint32_t lanes = 0;
};

struct TraceShape {
  std::uint32_t ctas = 2, warps = 1, lanes = 3;  // lanes of each warp, warps of each CTA
  std::uint32_t launches = 1;
  bool clusters = false;
  bool copies = true;         // threads copy asynchronously
  bool known_values = false;  // most plain stores are of values that are known
  std::vector<Choice> choices;
};

using Step = std::variant<detector::LaunchInfo, detector::WarpOperation, detector::CopyInfo>;

struct Trace {
  std::vector<wire::SiteInfo>
      sites;  // one for each operation: a finding names the pair of operations
  std::vector<Step> steps;
};

Trace make_trace(const TraceShape& shape);
std::string describe(const Trace& trace);

}  // namespace barracuda::oracle
