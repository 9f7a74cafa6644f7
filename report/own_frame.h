// The frames of an instruction with readable names, and which of them its reader wrote.
#pragma once

#include <string>
#include <vector>

#include "ptx/site_table.h"
#include "report/race_report.h"

namespace barracuda::report {

Frame resolved(const ptx::SourceFrame& frame);
std::vector<Frame> resolved(const std::vector<ptx::SourceFrame>& frames);

// The innermost frame that the program's author wrote; in a chain of headers only, the innermost.
Frame own_frame(const std::vector<Frame>& chain, const std::vector<Frame>& callers,
                const std::string& function);

}  // namespace barracuda::report
