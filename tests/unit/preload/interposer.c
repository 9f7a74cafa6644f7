// Another preloaded library that stands before a libc function and finds the original as such libraries
// do. It comes behind libbarracuda.so in LD_PRELOAD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

double atof(const char* text) {
  double (*next)(const char*) = (double (*)(const char*))dlsym(RTLD_NEXT, "atof");
  return next == atof ? -1 : next(text) + 1000;
}
