// A program may end its main thread alone (pthread_exit) and go on in others; when its last thread
// ends, libc ends the process with status 0. Threads of ours would keep such a process for ever.
#pragma once

namespace barracuda::preload {

// The main thread is over, no other thread of the program is left, and those of ours rest. Threads
// of a GPU's driver count as the program's: they keep the process without the tool, too.
bool only_own_threads_are_left();

}  // namespace barracuda::preload
