// The text with which a thread of a kernel of ptx/passes/barrier_intervals.cpp counts the barriers
// of its block that it has passed, and what stands around hooks that ask for that number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/analysis/program.h"
#include "ptx/hooks/hook_call.h"
#include "ptx/module.h"

namespace barracuda::ptx {

// The register in which it counts.
inline constexpr std::string_view kInterval = "%__barracuda_interval";

// First of all. Where barriers of warps are counted (PlannedSite::counts_warps) it is known from
// here on whether there are states.
std::string declare_interval(std::uint32_t counts_warps, HookNames& called);

// Behind a barrier. `label` is that of no other text.
std::string write_interval_end(const PlannedSite& barrier, std::uint32_t label, HookNames& called);

// Of a barrier of a whole warp: it is counted, or logged by `event` if there were as many as can
// be.
HookText write_warp_barrier(const PlannedSite& barrier, std::string_view event, std::uint32_t label,
                            HookNames& called);

// Before what orders threads and is logged: the barriers of the warp that were counted are. Nothing
// if none are.
std::string write_tell_barriers(const PlannedSite& site, HookNames& called);

// Before the hook of an event. Of an exit: who has nothing in a state leaves nothing behind
// (PlannedSite::leaves_early).
std::string write_before_event(const PlannedSite& site, HookNames& called);

// The hook for the memory that an access is of: a module has the hooks alone that it calls.
std::string_view of_memory(const PlannedSite& site, std::string_view global,
                           std::string_view other);

// Before the hooks of a strong access, whose address is in %__barracuda_a, the same and what was
// kept of its bytes; nothing if it has no states.
std::string write_log_states(const PlannedSite& site, bool is_generic, HookNames& called);

// Before the hook of a load in a read-only interval. All threads of a block go the same way, so
// that none of a warp stay apart behind it.
std::string skip_unless_frozen(std::uint32_t label);

// A function of ptx/passes/warp_collectives.cpp, followed by the number of the barrier: whether any
// thread of the block that comes there has said so.
inline constexpr std::string_view kAnyAtBarrier = "any_at_barrier_";

// Around the hook of a barrier that all threads of a block come to together. Who is not ordered by
// a barrier needs no record of it. All meet here first, to know whether anyone has something to
// order; the barrier itself is where they wait for its record.
HookText skip_unless_logged(const Statement& barrier, std::string_view id, std::uint32_t label,
                            HookNames& called);

// Around the hook of an exit that all threads of a block come to, each once: the last of them, who
// tells it for all.
HookText skip_unless_last(std::uint32_t label, HookNames& called);

}  // namespace barracuda::ptx
