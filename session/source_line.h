// From a line of a loaded (instrumented) PTX text back to the program's source, for errors that
// name a line of the text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/site_table.h"

namespace barracuda::session {

// The inlining chain of that line, innermost first; empty where the text has no line information.
// `sites` are those of the text's module: they know function names of the chain.
std::vector<ptx::SourceFrame> source_frames(const std::string& text, std::uint32_t ptx_line,
                                            const ptx::SiteTable& sites);

}  // namespace barracuda::session
