// The emulated device's hooks of asynchronous copies (cp.async) in kernels that keep states of them
// (device_logger/copy_states.h). `groups` is the register that counts what a thread has committed.
#pragma once

#include "emulator/native_function.h"

namespace barracuda::session {

// site, address, interval, groups: what a copy writes
emulator::NativeResult log_copy(const emulator::NativeCall& call);

// site, groups: what they are behind the commit
emulator::NativeResult commit_copies(const emulator::NativeCall& call);

// site, how many groups may be left, groups, interval: what the groups are behind the wait
emulator::NativeResult wait_for_copies(const emulator::NativeCall& call);

}  // namespace barracuda::session
