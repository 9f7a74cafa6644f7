// A plug-in that looks for libraries and functions in the ways whose meaning depends on who asks. Its run
// path is $ORIGIN/friends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int getpagesize(void) { return 7; }

int searcher_own(void) { return 1; }

static void tell(const char* what, void* function) {
  Dl_info info;
  const char* file = function != NULL && dladdr(function, &info) != 0 ? info.dli_fname : "nowhere";
  const char* slash = strrchr(file, '/');
  printf("%s: %s\n", what, slash == NULL ? file : slash + 1);
}

void search(void) {
  void* const friend = dlopen("libbarracuda.test.friend.so", RTLD_NOW | RTLD_LOCAL);
  int (*number)(void) =
      friend == NULL ? NULL : (int (*)(void))dlsym(friend, "barracuda_test_number");
  printf("friend %d\n", number == NULL ? 0 : number());
  tell("default, own", dlsym(RTLD_DEFAULT, "searcher_own"));
  tell("default, page size", dlsym(RTLD_DEFAULT, "getpagesize"));
  tell("default, of the friend", dlsym(RTLD_DEFAULT, "barracuda_test_number"));
  tell("next, own", dlsym(RTLD_NEXT, "searcher_own"));
  tell("next, page size", dlsym(RTLD_NEXT, "getpagesize"));
  tell("next, with version", dlvsym(RTLD_NEXT, "getpagesize", "GLIBC_2.2.5"));
}
