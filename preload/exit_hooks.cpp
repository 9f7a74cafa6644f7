// _exit and its standard name: programs leave children and workers that way, past every exit
// handler. They may be called in a signal handler or after vfork, so little is done here.
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/abrupt_end.h"

extern "C" {

[[gnu::visibility("default"), noreturn]] void _exit(int status) {
  const int final_status = barracuda::preload::report_before_exit(status);
  while (true) {
    (void)syscall(SYS_exit_group, final_status);
  }
}

[[gnu::visibility("default"), noreturn]] void _Exit(int status) {
  _exit(status);
}

}  // extern "C"
