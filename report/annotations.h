// A bug as lines that other programs show at the source: compilers' messages, which editors jump
// to, and the commands by which a step of GitHub's Actions annotates a pull request. File names are
// shown without the prefix (path_prefix.h).
#pragma once

#include <string>
#include <string_view>

#include "report/bug.h"

namespace barracuda::report {

// "sum.cu:15: error: intra-block race on shared memory (252 occurrences): Read … [race]", and a
// note for each other access and for the missing order.
std::string gcc_lines(const Bug& bug, std::string_view prefix);

// "::error file=FILE,line=LINE,title=…::…", one a bug.
std::string github_line(const Bug& bug, std::string_view prefix);

}  // namespace barracuda::report
