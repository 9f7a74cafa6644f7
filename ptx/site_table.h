// Where every instrumented instruction stands in the source, and what it does. The table is data:
// the detector gets the SiteInfo column, the report the rest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device_logger/site_info.h"

namespace barracuda::ptx {

struct SourceFrame {
  std::string function;  // mangled, as in .debug_str or the .func/.entry name; report demangles
  std::string file;      // empty without -lineinfo
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct Site {
  wire::SiteId id{};
  wire::SiteInfo info;
  std::string function;  // the .entry or .func it stands in
  bool in_entry = false;
  std::string instruction;  // "st.global.u32", for reports without line information
  std::uint32_t ptx_line = 0;
  std::uint32_t ordinal = 0;  // of its function's instructions, as in statement_name.h; 0: none
  // What it accesses, by its names in PTX (analysis/variables.h); "tile@8:128" where it is known
  // that this lies at byte 8 of shared memory and has 128 bytes, of dynamic memory "tile@32:0".
  // Of a kSharedPlace, all shared variables of its kernel with their bytes, 0 of dynamic ones, in
  // the order of their numbers: "tile:128 left:0".
  std::string variable;
  // Not 0: a load or store of a place that is read first and then written by one address, as x[0]++
  // is. Which update of its module, the same for both, and for those of another place where each of
  // the two places gets what the other one held, as in the steps of a sorting network.
  std::uint32_t update = 0;
  // Maybe not all threads of a block come by: no place for a barrier.
  bool is_divergent = false;
  // Some rounds of its innermost loop go past it, as in `if (i % 4 != 3) __syncthreads();`.
  bool is_skipped = false;
  // That it stands in, the outermost first, each by a number of its own in the function.
  std::vector<std::uint32_t> loops;
  std::vector<SourceFrame> frames;  // innermost first, the chain of inlined_at after it
};

using SiteTable = std::vector<Site>;  // ids are consecutive from the first

}  // namespace barracuda::ptx
