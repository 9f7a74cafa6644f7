#!/usr/bin/env bash
# Like mutate_detector.sh, of the weak memory: seeded faults of the emulated device and of its model in
# the explorer, each of which must be caught by what holds them against PTX's axioms: random programs
# (tests/oracle/weak_memory), of the model the tests of tests/litmus too, for idioms of three threads are
# rare among random programs. Usage: tools/mutate_weak_memory.sh [FOLDER [WORDS]]
set -euo pipefail
source "$(dirname "$0")/mutate.sh"

built="base;device_logger;ptx;host_detector;emulator;report;weak_memory"
tests=(weak_memory.oracle memory_model)
export RC_PARAMS=${RC_PARAMS:-max_success=1000}

judge() {
  if ! passes memory_model; then
    echo "caught by a litmus test"
  elif ! passes weak_memory.oracle; then
    echo "caught by random programs"
  else
    echo SURVIVED
  fi
}

# name | file in emulator | sed expression: one line each
of_device=$(cat <<'LIST'
device: a fence does not bound what is read|execute/weak_order.cpp|s/^  if (site.resets) {/  if (false) {/
device: barriers do not drain|decode/weak_access.cpp|s/site.drains = !has_order || releases/site.drains = has_order \&\& releases/
LIST
)

# The same in weak_memory.
of_model=$(cat <<'LIST'
model: a fence does not bound what is read|memory_model/outlook.cpp|/^bool acquires/,/^}/s/instruction.order == Order::kAcqRel ||/false ||/
model: barriers do not drain|memory_model/device_steps.cpp|s/: is_drained(state, thread, Scope::kCta);/: true;/
model: a wide drain leaves what waits for the block|memory_model/device_steps.cpp|s/(scope == Scope::kCta || state.blocks\[block\].empty())/(scope == Scope::kCta || block < 99)/
model: a late load passes fences|memory_model/device_steps.cpp|s/^    return !state.threads\[thread\].late.empty();/    return false;/
model: strong loads go back in time|memory_model/device_model.cpp|s/^  if (load.order != Order::kWeak) {/  if (false) {/
LIST
)

scratch=${1:-$(mktemp -d)}
status=0
mutations=$of_device folder=emulator also=(ptx host_detector report weak_memory)
mutate "$scratch" "${2:-}" || status=1
mutations=$of_model folder=weak_memory also=(ptx host_detector report emulator)
mutate "$scratch" "${2:-}" || status=1
exit $status
