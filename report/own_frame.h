// The frames of an instruction with readable names, and which of them its reader wrote.
#pragma once

#include <string>
#include <vector>

#include "ptx/site_table.h"
#include "report/race_report.h"

namespace barracuda::report {

Frame resolved(const ptx::SourceFrame& frame);
std::vector<Frame> resolved(const std::vector<ptx::SourceFrame>& frames);

// Of one place in the source, whatever function it has been inlined into.
bool are_of_one_place(const ptx::SourceFrame& one, const ptx::SourceFrame& other);

// The innermost frame that the program's author wrote; in a chain of headers only, the innermost.
Frame own_frame(const std::vector<Frame>& chain, const std::vector<Frame>& callers,
                const std::string& function);

}  // namespace barracuda::report
