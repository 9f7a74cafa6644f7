// Loads the plug-in that it is given, as Python does its extensions, and lets it search.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
  void* const plug_in = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void (*search)(void) = plug_in == NULL ? NULL : (void (*)(void))dlsym(plug_in, "search");
  if (search == NULL) {
    puts("no plug-in");
    return 1;
  }
  search();
  return 0;
}
