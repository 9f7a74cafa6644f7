#!/usr/bin/env bash
# Like mutate_detector.sh, of the weak memory of the emulated device: breaks one rule at a time, in a copy of
# the tree, and runs the unit tests of the emulator that are about it and, where these see nothing, random
# programs against PTX's axioms. Usage: tools/mutate_weak.sh [FOLDER [WORDS]]
set -euo pipefail
# shellcheck source=tools/mutate.sh
source "$(dirname "$0")/mutate.sh"

folder=emulator
built="base;device_logger;fatbin;ptx;host_detector;report;trace;emulator;session;weak_memory"
tests=(emulator weak_memory.oracle)
export RC_PARAMS=${RC_PARAMS:-max_success=1000}

# Rows named "axioms" are there to show that the random programs see such a fault, whoever else does.
judge() {
  if [[ ${name-} == axioms:* ]]; then
    passes weak_memory.oracle && echo SURVIVED || echo "caught by random programs"
  elif ! passes emulator; then
    echo "caught by a unit test"
  elif ! passes weak_memory.oracle; then
    echo "caught by random programs"
  else
    echo SURVIVED
  fi
}

# name | file in emulator | sed expression: one line each
mutations=$(cat <<'LIST'
drain: a fence drains nothing|execute/weak_order.cpp|s/if (site.drains \&\& !drain/if (site.drains \&\& site.end != WeakEnd::kRelease \&\& !drain/
axioms: a barrier drains nothing|execute/weak_order.cpp|s/if (site.drains \&\& !drain/if (site.drains \&\& site.end != WeakEnd::kBarrier \&\& !drain/
drain: a releasing store drains nothing|execute/weak_memory.cpp|/^Step execute_weak_store/,/^}/s/if (site.drains \&\&/if (site.drains \&\& site.resets \&\&/
drain: a releasing atomic drains nothing|execute/weak_memory.cpp|/^Step execute_weak_atomic/,/^}/s/if (site.drains \&\&/if (site.drains \&\& !site.is_write \&\&/
drain: a wide one leaves what the block sees|execute/weak_order.cpp|s/is_wide ? \&c.cta->weak_buffer : nullptr/is_wide ? nullptr : nullptr/
drain: a narrow one reaches the device|execute/weak_order.cpp|s/is_wide = scope != wire::Scope::kCta/is_wide = mask != 0/
drain: it is over when it lets others run|execute/weak_order.cpp|s/^      return false;/      first.yields = 0;\n      return true;/
window: an acquire fence ends no staleness|execute/weak_order.cpp|/^Step execute_weak_order/,/^}/s/if (site.resets)/if (site.resets \&\& site.drains)/
window: an acquire load ends no staleness|execute/weak_memory.cpp|/^Step execute_weak_load/,/^}/s/if (in.weak->resets) {/if (in.weak->resets \&\& in.weak->drains) {/
axioms: nothing ends staleness|execute/weak_memory.cpp|s/std::uint64_t begin = thread.window;/std::uint64_t begin = thread.window * 0;/
stale: older than what was observed|execute/weak_memory.cpp|s/std::min(moment, weak.moment()));/std::min(moment, weak.moment()) * 0);/
stale: older than an own store that left|state/weak_state.cpp|s/^    owner->note_access(granule_of(store.address), moment_);/    owner->note_access(granule_of(store.address), 0);/
stale: older than an own store that its block sees|state/weak_state.cpp|s/^      store.buffer->owner->note_access(granule_of(store.address), moment_);/      store.buffer->owner->note_access(granule_of(store.address), 0);/
stale: older than an own store that did not wait|state/weak_state.cpp|s/^    thread.note_access(granule_of(address), moment_);/    thread.note_access(granule_of(address), 0);/
stale: older than an own atomic|execute/weak_memory.cpp|s/note_access(granule_of(at), c.weak->moment());/note_access(granule_of(at), c.weak->moment() * 0);/
settle: atomics pass what waits|execute/weak_memory.cpp|s/^    c.weak->settle(thread, where.at\[lane\], bytes, WeakEnd::kSettle);//
settle: a store passes older ones of its bytes|state/weak_state.cpp|/^void WeakState::write(/,/^}/s/^  settle(thread.*//
order: a store passes older ones in its buffer|state/store_buffer.cpp|s/^  collect(\*store.buffer, chain, .*/  found.push_back(id);/
order: only equal stores overlap|state/store_buffer.cpp|/^void PendingStores::collect(/,/^}/s/(store.mask \& mask) != 0/store.mask == mask/
overlay: a block does not see what its barrier showed|state/weak_state.cpp|s/^    apply(thread.buffer.next);/    apply(nullptr);/
overlay: a thread does not see its own stores|state/weak_state.cpp|s/^  apply(&thread.buffer);//
stale: its own block saw a store when all others did|state/weak_state.cpp|/^void WeakState::finish/,/^}/s/\.visible = moment_,/.visible = store.visible != 0 ? store.visible : moment_,/; /^void WeakState::finish/,/^}/s/\.visible_own = store.visible != 0 ? store.visible : moment_,/.visible_own = moment_,/
order: a store leaves what its block sees of its bytes|state/weak_state.cpp|/^void WeakState::commit(/,/^}/s/for (const StoreId older : block) {/for (const StoreId older : std::vector<StoreId>()) {/
order: an overlap is not passed on|state/store_buffer.cpp|/^void PendingStores::collect(/,/^}/s/^ *mask |= store.mask;$//
progress: strong stores do not age|state/weak_state.cpp|s/^  drain_aged(strong_, weakness_.strong_age);//
matrix: it passes what its lanes have stored|execute/weak_matrix.cpp|s/^  settle(c, site, parts);//
matrix: nobody reads what it overwrote|execute/weak_matrix.cpp|s/if (site.is_write) {/if (false) {/
late: a load passes an own store of its bytes|execute/weak_memory.cpp|s/^  take_place_before(c, in, lane, address, size \* in.count);//
LIST
)

mutate "$@"
