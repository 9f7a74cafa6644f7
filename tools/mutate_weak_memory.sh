#!/usr/bin/env bash
# Like mutate_detector.sh, of the model of the emulated device in the explorer: seeded faults, each of
# which must be caught by the tests of tests/litmus or by random programs against PTX's axioms
# (tests/oracle/weak_memory); idioms of three threads are rare among these. Of the device itself:
# mutate_weak.sh. Usage: tools/mutate_weak_memory.sh [FOLDER [WORDS]]
set -euo pipefail
# shellcheck source=tools/mutate.sh
source "$(dirname "$0")/mutate.sh"

folder=weak_memory
built="base;device_logger;fatbin;ptx;host_detector;report;trace;emulator;session;weak_memory"
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

# name | file in weak_memory | sed expression: one line each
mutations=$(cat <<'LIST'
model: a fence does not bound what is read|memory_model/outlook.cpp|/^bool acquires/,/^}/s/instruction.order == Order::kAcqRel ||/false ||/
model: barriers do not drain|memory_model/device_steps.cpp|s/: memory_.is_drained(state, thread, Scope::kCta);/: true;/
model: a wide drain leaves what waits for the block|memory_model/device_memory.cpp|s/(scope == Scope::kCta || state.blocks\[block\].empty())/(scope == Scope::kCta || block < 99)/
model: a late load passes fences|memory_model/device_steps.cpp|s/^    return !state.threads\[thread\].late.empty();/    return false;/
model: strong loads go back in time|memory_model/device_model.cpp|s/^  if (load.order != Order::kWeak) {/  if (false) {/
LIST
)

mutate "$@"
