// The text with which a thread of a kernel of ptx/passes/barrier_intervals.cpp counts the groups of
// its asynchronous copies (cp.async) that it has committed, and its hooks of them
// (device_logger/copy_states.h).
#pragma once

#include <string>
#include <string_view>

#include "ptx/analysis/program.h"
#include "ptx/hooks/hook_call.h"
#include "ptx/module.h"

namespace barracuda::ptx {

// First of all.
std::string declare_groups();

// What a copy writes, whose address is in %__barracuda_a.
std::string write_copy(const PlannedSite& site, HookNames& called);

// Behind the record of what a copy reads: from now on the thread logs its commits and waits.
// Nothing of other accesses.
std::string note_logged_read(const PlannedSite& site);

// A commit or wait.
std::string write_groups(const PlannedSite& site, const Statement& statement, HookNames& called);

}  // namespace barracuda::ptx
