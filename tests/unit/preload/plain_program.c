// A program that has nothing to do with CUDA: looks symbols up, forks, and ends as it is told.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  void* self = dlopen(NULL, RTLD_NOW);
  printf("page %d dlsym %d missing %d compilers %d\n", getpagesize() % 16,
         dlsym(self, "printf") == (void*)&printf, dlsym(RTLD_DEFAULT, "cuNoSuchFunction") == NULL,
         dlsym(RTLD_DEFAULT, "nvrtcGetCUBIN") != NULL || dlsym(self, "nvJitLinkCreate") != NULL);
  fflush(stdout);
  const int status = argc > 1 ? atoi(argv[1]) : 0;
  const pid_t child = fork();
  if (child == 0) {
    exit(status + 1);
  }
  int child_status = 0;
  waitpid(child, &child_status, 0);
  printf("child %d\n", WEXITSTATUS(child_status));
  return status;
}
