// Another preloaded library that stands before a libc function and finds the original as such libraries
// do. It comes behind libbarracuda.so in LD_PRELOAD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

int getpagesize(void) {
  int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "getpagesize");
  return next == getpagesize ? -1 : next() + 1;
}
