// Threads of the tool's own bear one name. They do not count for the end of the program's process,
// which is over when its own last thread is (preload/last_thread.h); users see them in their
// debuggers.
#pragma once

#include <cstring>
#include <pthread.h>

namespace barracuda {

// A name that no program has: its threads bear the program's unless it gives them others.
inline constexpr const char kOwnThreadName[] = "[barracuda]";

// First of all in a thread of ours; threads that it starts have the name, too.
inline void name_own_thread() {
  (void)pthread_setname_np(pthread_self(), kOwnThreadName);
}

// Of the calling thread; for signal handlers, too.
inline bool is_own_thread() {
  char name[16] = {};
  (void)pthread_getname_np(pthread_self(), name, sizeof name);
  return std::strcmp(name, kOwnThreadName) == 0;
}

// Lends the name to a thread of the program's while it may start threads of ours.
class NamedAsOwn {
 public:
  NamedAsOwn() {
    (void)pthread_getname_np(pthread_self(), before_, sizeof before_);
    name_own_thread();
  }

  ~NamedAsOwn() { (void)pthread_setname_np(pthread_self(), before_); }

  NamedAsOwn(const NamedAsOwn&) = delete;
  NamedAsOwn& operator=(const NamedAsOwn&) = delete;

 private:
  char before_[16] = {};
};

}  // namespace barracuda
