// Why two accesses were not ordered: looks for a hand-over that would have ordered them had a fence
// been there or a scope been wider. Only for reports; a race is one whatever this says.
#pragma once

#include "host_detector/race_event.h"
#include "host_detector/state/engine_state.h"

namespace barracuda::detector {

// Fills `missing` and `needed_scope` of a race between `race.first`, which is `older`, and what
// `actor` does now.
void explain(EngineState& engine, const Actor& actor, const Cell& older, RaceEvent& race);

// Fills `missing` of a race of the asynchronous `older` with what `actor` does now.
void explain_asynchronous(const Actor& actor, const Cell& older, RaceEvent& race);

// Fills in what the two sides synchronised by last. Of two threads of one block, `missing` may be a
// barrier that only one came to.
void tell_last_syncs(const EngineState& engine, const Actor& actor, const Cell& older,
                     RaceEvent& race);

// The same of one side: the access of `cell`, made some time ago, or what a thread does now.
void tell_last_sync(const EngineState& engine, const Cell& cell, RaceAccess& side);
void tell_last_sync(const SyncNotes& notes_up_to_now, RaceAccess& side);

}  // namespace barracuda::detector
