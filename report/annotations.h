// A bug as lines that other programs show at the source: compilers' messages, which editors jump
// to, and the commands by which a step of GitHub's Actions annotates a pull request.
#pragma once

#include <string>

#include "report/bug.h"

namespace barracuda::report {

// "sum.cu:15: error: intra-block race on shared memory (252 occurrences): Read … [race]", and a
// note for each other access and for the missing order.
std::string gcc_lines(const Bug& bug);

// "::error file=FILE,line=LINE,title=…::…", one a bug.
std::string github_line(const Bug& bug);

}  // namespace barracuda::report
