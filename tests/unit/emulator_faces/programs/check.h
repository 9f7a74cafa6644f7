// A program's own checks: the first that fails names its line and ends the program with status 1.
#pragma once

#include <cstdio>
#include <cstdlib>

#define EXPECT(condition)                                                  \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                        \
    }                                                                      \
  } while (0)
