// A process that is ended by SIGABRT, SIGINT or SIGTERM still reports what was found: a handler, which
// chains to what the program had, wakes a thread that writes the report.
#pragma once

namespace barracuda::preload {

// Once, when there is something to report about.
void watch_signals();

}  // namespace barracuda::preload
