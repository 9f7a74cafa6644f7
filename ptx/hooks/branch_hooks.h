// The registers with which the lanes of a warp find each other again.
#pragma once

#include <string>

#include "ptx/analysis/program.h"

namespace barracuda::ptx {

// Who parted to meet where a branch's ways meet; 0 while nobody is apart.
std::string members_of_meeting(const PlannedSite& site);
// Who called together.
std::string members_of_call(const PlannedSite& site);

}  // namespace barracuda::ptx
