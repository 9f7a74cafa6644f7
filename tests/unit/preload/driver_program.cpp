// A driver-API program that only asks for the device. Linked with the library's own exports, as
// there may be no libcuda to link with.
#include <cstdio>

extern "C" int cuInit(unsigned flags);

int main() {
  std::printf("cuInit %d\n", cuInit(0));
  return 0;
}
