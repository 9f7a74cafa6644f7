// ^C and SIGTERM for commands that end with what they know, and start no program.
#pragma once

#include <csignal>
#include <initializer_list>

namespace barracuda::cli {

inline volatile std::sig_atomic_t g_is_interrupted = 0;

// From now on both only say so.
inline void catch_interruptions() {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, [](int /*signal*/) { g_is_interrupted = 1; });
  }
}

inline bool was_interrupted() {
  return g_is_interrupted != 0;
}

}  // namespace barracuda::cli
